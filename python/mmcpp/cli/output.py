"""What the command prints: a table, a progress bar, warnings.

Through rich, which draws for a terminal and writes plain text for anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

__all__ = ["progress", "show_table", "warn"]

_T = TypeVar("_T")


def warn(message: str) -> None:
    """Print to stderr, after what has been printed to stdout."""
    sys.stdout.flush()
    print(f"mmcpp: {message}", file=sys.stderr)


def progress(steps: Iterable[_T], total: int) -> Iterator[_T]:
    """Pass ``steps`` on; draw a bar on stderr for more than one, if that is a terminal."""
    console = Console(stderr=True)
    if total <= 1 or not console.is_terminal:
        yield from steps
        return
    columns = (TextColumn("pictures"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield from bar.track(steps, total=total)


def show_table(records: Sequence[Mapping[str, Any]]) -> None:
    """Print the pictures of ``mmcpp preprocess``; sizes are height x width in pixels."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=100_000)  # one line a picture, however long
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("picture", overflow="fold")
    for name in ("format", "size", "seen", "grid"):
        table.add_column(name, overflow="fold")
    table.add_column("tokens", justify="right")
    table.add_column("hash", overflow="fold")
    for stage in ("read", "hash", "decode", "process"):
        table.add_column(f"{stage} ms", justify="right")
    for record in records:
        table.add_row(
            Text(record["picture"]),
            record["format"],
            f"{record['height']}x{record['width']}",
            f"{record['seen_height']}x{record['seen_width']}",
            "x".join(map(str, record["grid"])),
            str(record["tokens"]),
            record["hash"],
            *(f"{ms:.2f}" for ms in record["ms"].values()),
        )
    console.print(table)
