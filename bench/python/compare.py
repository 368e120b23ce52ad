"""Two JSON files of run.py, before and after a change: how much faster or slower each case has become.

The other libraries did not change, so what they gained or lost between the runs is the machine's doing. Their median
in the same case is taken out of mmcpp's ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from table import table


def medians(path: Path, clock: str) -> dict[tuple[str, str], dict[str, float]]:
    """By case, each library's milliseconds."""
    result: dict[tuple[str, str], dict[str, float]] = {}
    for record in json.loads(path.read_text())["cases"]:
        sides: dict[str, Any] = record["sides"]
        result[record["group"], record["name"]] = {
            name: side[clock]["median"] for name, side in sides.items() if clock in side
        }
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    options = parser.parse_args()
    before, after = medians(options.before, options.clock), medians(options.after, options.clock)
    rows = []
    for key in before:
        if key not in after:
            continue
        ours = before[key]["mmcpp"], after[key]["mmcpp"]
        others = [
            after[key][name] / value for name, value in before[key].items() if name in after[key] and name != "mmcpp"
        ]
        drift = statistics.median(others) if others else 1.0
        gain = ours[0] / ours[1] * drift
        rows.append([f"{key[0]}: {key[1]}", f"{ours[0]:.2f}", f"{ours[1]:.2f}", f"{drift:.2f}", f"{gain:.2f}x"])
    print(table(["case", "before, ms", "after, ms", "others after/before", "faster"], rows))
    missing = [": ".join(key) for key in before.keys() ^ after.keys()]
    if missing:
        print("only in one of them: " + ", ".join(sorted(missing)))


if __name__ == "__main__":
    main()
