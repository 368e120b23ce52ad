"""The files that ``mmcpp preprocess`` writes: one, or parts of so many pictures each, which an interrupted run goes
on after.

A part appears whole or not at all and says of which pictures and settings it was made, so a run that was ended at any
moment, and is started again with the same arguments, makes what is missing and nothing twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmcpp.cli import tensors

__all__ = ["Part", "of_one", "split"]


@dataclass(frozen=True)
class Part:
    """A file to write."""

    out: Path
    paths: list[Path]
    numbers: Sequence[int | None]
    """What the pictures' drawings are numbered with."""
    key: str | None
    """Of the pictures and settings; None where a run never goes on after this file."""

    def finished(self) -> dict[str, Any] | None:
        """Give the ``pictures`` and ``failed`` of an earlier run that wrote this part; None if none did.

        Raises:
            ValueError: there is such a file, made of other pictures or with other settings.
        """
        if self.key is None or not self.out.exists():
            return None
        try:
            metadata = tensors.read_metadata(self.out)
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.out} is there already and cannot be read: {error}") from None
        if metadata.get("key") != self.key:
            raise ValueError(
                f"{self.out} is there already, made of other pictures or with other settings: "
                "remove it or choose another folder"
            )
        return {name: json.loads(metadata[name]) for name in ("pictures", "failed")}


def of_one(out: Path, paths: list[Path], numbers: Sequence[int | None]) -> list[Part]:
    """Give the single file that has all pictures."""
    return [Part(out, paths, numbers, None)]


def split(
    paths: list[Path], numbers: Sequence[int | None], *, folder: Path, suffix: str, size: int, settings: str
) -> list[Part]:
    """Give parts of ``size`` pictures each, in order; ``settings`` is all else that decides on their contents."""
    result = []
    for begin in range(0, len(paths), size):
        chosen = paths[begin : begin + size]
        out = folder / f"part-{begin // size:05}{suffix}"
        result.append(Part(out, chosen, numbers[begin : begin + size], _key(chosen, settings)))
    return result


def _key(paths: list[Path], settings: str) -> str:
    listed = []
    for path in paths:
        try:
            status = path.stat()
            listed.append([str(path), status.st_size, status.st_mtime_ns])
        except OSError:  # it fails when it is read, too
            listed.append([str(path), None, None])
    return hashlib.sha256(json.dumps([settings, listed]).encode(errors="surrogatepass")).hexdigest()
