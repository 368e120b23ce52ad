"""Figures as tables for people: aligned, and Markdown as they stand."""

from __future__ import annotations

from typing import Any

from peers import PEERS


def table(head: list[str], rows: list[list[str]]) -> str:
    """Align columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: list[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "| " + " | ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]) + " |"

    rule = "|" + "|".join([":" + "-" * (widths[0] + 1), *("-" * (w + 1) + ":" for w in widths[1:])]) + "|"
    return "\n".join([line(head), rule, *(line(row) for row in rows)])


def case_table(records: list[dict[str, Any]], clock: str) -> str:
    """One group's cases: milliseconds, and in parentheses how many times mmcpp's; ~ marks other bytes."""
    libraries = [name for name in PEERS if any(name in record["sides"] for record in records)]
    rows = []
    for record in records:
        row, ours = [record["name"]], record["sides"]["mmcpp"]
        for name in libraries:
            side = record["sides"].get(name)
            if side is None or "missing" in side:
                row.append("-" if side is None else "missing")
                continue
            cell = f"{side[clock]['median']:.2f}"
            if name != "mmcpp":
                cell += f" ({side[clock]['median'] / ours[clock]['median']:.2f}x)"
                cell += "" if side["exact"] else "~"
            row.append(cell)
        spread = (ours[clock]["q3"] - ours[clock]["q1"]) / ours[clock]["median"]
        rows.append([*row, f"{100 * spread:.0f} %"])
    return table([records[0]["group"], *(PEERS[name].title for name in libraries), "spread"], rows)


def differences(records: list[dict[str, Any]]) -> list[str]:
    """How far the results of the sides marked ~ are from mmcpp's, at worst, a line a library."""
    lines = []
    for name in PEERS:
        sides = [r["sides"][name] for r in records if "difference" in r["sides"].get(name, {})]
        if sides:
            worst = max(sides, key=lambda side: side["difference"]["max"])["difference"]
            share = max(side["difference"]["share"] for side in sides)
            how = f"other values in up to {100 * share:.1f} % of places, by up to {worst['max']:.4g}"
            lines.append(f"~ {PEERS[name].title}: {how}")
        for note in sorted({r["sides"][name].get("note", "") for r in records if name in r["sides"]} - {""}):
            lines.append(f"  {PEERS[name].title} there: {note}")
    return lines
