"""What the command prints: a table, a progress bar, warnings.

Through rich, which draws for a terminal and writes plain text for anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

__all__ = ["printable", "progress", "show_grid", "show_table", "warn"]

_T = TypeVar("_T")


def warn(message: str) -> None:
    """Print to stderr, after what has been printed to stdout."""
    sys.stdout.flush()
    print(f"mmcpp: {printable(message)}", file=sys.stderr)


def printable(text: str) -> str:
    """Escape what a terminal would act upon or stdout cannot encode: file names may have it."""
    escaped = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    encoding = sys.stdout.encoding or "utf-8"
    return escaped.encode(encoding, "backslashreplace").decode(encoding)


def progress(steps: Iterable[_T], total: int, what: str = "pictures") -> Iterator[_T]:
    """Pass ``steps`` on; draw a bar on stderr for more than one, if that is a terminal."""
    console = Console(stderr=True)
    if total <= 1 or not console.is_terminal:
        yield from steps
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield from bar.track(steps, total=total)


def show_table(records: Sequence[Mapping[str, Any]]) -> None:
    """Print the pictures of ``mmcpp preprocess``; sizes are height x width in pixels.

    One line a picture, however long, but for a terminal that is too narrow: there each has a paragraph.
    """
    rows = [_cells(record) for record in records]
    console = _console()
    table = _table(rows, [name for name in rows[0] if name == "tokens" or name.endswith(" ms")])
    if console.measure(table, options=console.options.update(width=100_000)).maximum <= console.width:
        console.print(table)
        return
    for row in rows:
        console.print(Text(row.pop("picture"), style="bold"))
        console.print(Padding(Text(", ".join(f"{name} {value}" for name, value in row.items())), (0, 0, 0, 2)))


def show_grid(rows: Sequence[Mapping[str, str]], numbers: Sequence[str]) -> None:
    """Print rows with the same columns, those named in ``numbers`` to the right."""
    console = _console()
    console.print(_table(rows, numbers))


def _console() -> Console:
    """Give one whose lines are never cut where there is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=100_000)


def _table(rows: Sequence[Mapping[str, str]], numbers: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        table.add_column(Text(name), justify="right" if name in numbers else "left")
    for row in rows:
        table.add_row(*map(Text, row.values()))
    return table


def _cells(record: Mapping[str, Any]) -> dict[str, str]:
    return {
        "picture": printable(record["picture"]),
        "format": record["format"],
        "size": f"{record['height']}x{record['width']}",
        "seen": f"{record['seen_height']}x{record['seen_width']}",
        "grid": "x".join(map(str, record["grid"])),
        "tokens": str(record["tokens"]),
        "hash": record["hash"],
        **{f"{stage} ms": f"{ms:.2f}" for stage, ms in record["ms"].items()},
    }
