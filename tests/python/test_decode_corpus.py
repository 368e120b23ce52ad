"""The corpus of real and hostile files: Pillow 13's verdict on each, and its bytes. The corpus is not part of the
repository; it is looked for in $MMCPP_SHARED and in `shared` beside the checkout."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

import mmcpp
from decode_exceptions import EXCEPTIONS

SHARED = Path(os.environ.get("MMCPP_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CORPUS = SHARED / "corpus"
DECODED = {"PNG", "JPEG", "MPO", "WEBP", "GIF", "BMP", "DIB"}  # what Pillow calls the formats that are decoded

pytestmark = pytest.mark.skipif(not (CORPUS / "index.jsonl").is_file(), reason=f"no corpus in {CORPUS}")


def _entries() -> list[dict[str, Any]]:
    with (CORPUS / "index.jsonl").open() as lines:
        return [entry for entry in map(json.loads, lines) if not entry["pil"].startswith("skipped")]


def _verdict(entry: dict[str, Any]) -> str:
    """What the library makes of a file, in the words of the index."""
    data = (CORPUS / entry["path"]).read_bytes()
    try:
        pixels = mmcpp.decode_image(data, profile="pillow")
    except mmcpp.MmError:
        return "error"
    info = mmcpp.image_info(data)
    assert (info.height, info.width) == pixels.shape[:2]
    return hashlib.sha256(pixels.tobytes()).hexdigest()


def _wanted(entry: dict[str, Any]) -> str:
    opened = entry["pil"] == "ok" and entry["pil_format"] in DECODED
    return entry["rgb_sha256"] if opened else "error"


@pytest.mark.parametrize("formats", ["jpeg", "webp", "png", "gif", "bmp", "others"])
def test_every_file_is_what_pillow_sees(formats: str) -> None:
    known = {"jpeg", "webp", "png", "gif", "bmp"}
    entries = [e for e in _entries() if (e["sniff"] if e["sniff"] in known else "others") == formats]
    assert len(entries) >= 10
    different = [e["path"] for e in entries if e["path"] not in EXCEPTIONS and _verdict(e) != _wanted(e)]
    assert different == []


def test_exceptions_are_files_of_the_corpus() -> None:
    assert set(EXCEPTIONS) <= {entry["path"] for entry in _entries()}


def test_exceptions_are_answered_without_harm() -> None:
    """Which answer depends on the version of a system library."""
    for entry in _entries():
        if entry["path"] in EXCEPTIONS:
            assert _verdict(entry) in {"error", _wanted(entry)} or entry["pil_format"] == "JPEG"


def test_headers_say_what_pillow_says() -> None:
    """Size and mode of every file that Pillow opens, from the header alone."""
    different = []
    for entry in _entries():
        if entry.get("pil_format") not in DECODED:
            continue
        try:
            info = mmcpp.image_info((CORPUS / entry["path"]).read_bytes())
        except mmcpp.MmError as error:
            different.append((entry["path"], str(error)))
            continue
        if [info.width, info.height] != entry["size_wh"] or info.mode != entry["mode"]:
            different.append((entry["path"], f"{info} for {entry['size_wh']} {entry['mode']}"))
    assert different == []
