"""The picture files that arguments name, and reading them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mmcpp.limits import DecodeLimits

__all__ = ["SUFFIXES", "find", "read"]

SUFFIXES = {".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".apng", ".webp", ".gif", ".bmp", ".dib"}
"""What a folder is searched for; a file that is named may have any."""


def find(paths: Sequence[Path], failed: list[dict[str, str]]) -> Iterator[Path]:
    """List the files, a folder's in the order of their names; notes in ``failed`` folders without any."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
        if not found:
            failed.append({"picture": str(path), "error": "no pictures in this folder"})
        yield from found


def read(path: Path) -> bytes:
    """Read a file, but no further than the limit on encoded bytes lets any picture be."""
    most = DecodeLimits().max_encoded_bytes
    with path.open("rb") as file:
        return file.read(most + 1)
