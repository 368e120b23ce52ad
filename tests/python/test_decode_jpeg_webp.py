"""Generated JPEG and WebP files: the library's verdict and bytes are those of Pillow 13."""

from __future__ import annotations

import functools
import itertools
import random
import struct
from collections.abc import Callable, Iterator

import numpy as np
import PIL
import pytest
from PIL import features

import jpeg_writer
import mmcpp
from pictures import SIZES, assert_equal_to_pillow, encode, mutations, picture, pillow

pytestmark = pytest.mark.skipif(not PIL.__version__.startswith("13."), reason="the reference is Pillow 13")

LARGE = [(131, 257), (520, 700), (700, 33)]


def test_names_the_versions_that_are_compared(record_property: Callable[[str, object], None]) -> None:
    """Exactness is a claim about named versions: Pillow's wheel brings its own libraries."""
    for name in ("libjpeg_turbo", "webp"):
        record_property(f"Pillow's {name}", features.version(name))
        assert features.version(name)
    record_property("mmcpp's codecs", mmcpp.build_info().codecs)


def _ordinary_jpegs() -> Iterator[tuple[str, bytes]]:
    for quality, sampling, progressive in itertools.product((5, 40, 75, 95, 100), (0, 1, 2), (False, True)):
        for number, (height, width) in enumerate(SIZES + LARGE):
            options = {"quality": quality, "subsampling": sampling, "progressive": progressive}
            if number % 3 == 1:
                options["restart_marker_blocks"] = 1 + number % 5
            elif number % 3 == 2:
                options["restart_marker_rows"] = 1
            if number % 4 == 3:
                options["optimize"] = True
            for mode in ("RGB", "L", "CMYK"):
                name = f"{mode} {height}x{width} {options}"
                yield name, encode(picture(mode, height, width, number), "JPEG", **options)
    for number, (height, width) in enumerate(SIZES + LARGE):
        for quality in (30, 90):
            data = encode(picture("RGB", height, width, number), "JPEG", quality=quality, keep_rgb=True)
            yield f"RGB kept {height}x{width} {quality}", data


def test_ordinary_jpegs() -> None:
    assert assert_equal_to_pillow(_ordinary_jpegs()) >= 1400


def _odd_jpegs() -> Iterator[tuple[str, bytes]]:
    """Samplings, markers, component names and scans that no ordinary encoder writes."""
    source = random.Random(20)
    for seed in range(1200):
        count = source.choice((1, 3, 3, 3, 4))
        while True:
            sampling = tuple(
                (source.choice((1, 1, 2, 2, 3, 4)), source.choice((1, 1, 2, 2, 3, 4))) for _ in range(count)
            )
            if sum(h * v for h, v in sampling) <= 10 or source.random() < 0.02:
                break
        frame = jpeg_writer.Frame(
            height=source.randrange(1, 70),
            width=source.randrange(1, 70),
            sampling=sampling,
            restart=source.choice((0, 0, 1, 3)),
            progressive=source.random() < 0.3,
            interleaved=source.random() < 0.8,
            adobe=source.choice((None, None, 0, 1, 2)),
            jfif=source.random() < 0.3,
            ids=source.choice((None, None, (82, 71, 66, 75)[:count], (0, 1, 2, 3)[:count])),
            eoi=source.random() < 0.95,
            seed=seed,
        )
        yield f"{frame}", jpeg_writer.write(frame)


def test_odd_jpegs() -> None:
    cases = list(_odd_jpegs())
    assert assert_equal_to_pillow(cases) == 1200
    assert sum(pillow(data) is not None for _, data in cases) > 800  # most of them are pictures


@functools.cache
def _webps() -> list[tuple[str, bytes]]:
    return list(_make_webps())


def _make_webps() -> Iterator[tuple[str, bytes]]:
    for number, (height, width) in enumerate(SIZES + LARGE[:2]):
        large = (height, width) in LARGE
        kinds = itertools.product(("RGB", "RGBA"), (False, True), (75,) if large else (0, 30, 75, 100))
        for mode, lossless, quality in kinds:
            method = 0 if large else (0, 2, 4, 6)[number % 4]
            options = {"lossless": lossless, "quality": quality, "method": method, "exact": number % 2 == 0}
            if mode == "RGBA" and number % 3 == 0:
                options["alpha_quality"] = 20
            name = f"{mode} {height}x{width} {options}"
            yield name, encode(picture(mode, height, width, number), "WEBP", **options)
        for mode, lossless in itertools.product(("RGB", "RGBA"), (False, True) if not large else (False,)):
            frames = [picture(mode, height, width, seed) for seed in range(3)]
            data = encode(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=lossless, quality=60)
            yield f"animated {mode} {height}x{width} lossless={lossless}", data
            yield f"moved frame of {mode} {height}x{width}", _move_first_frame(data)


def _move_first_frame(data: bytes) -> bytes:
    """The animation on a canvas larger than its first frame, which no longer starts in the corner."""
    at = data.find(b"ANMF")
    if data[12:16] != b"VP8X" or at < 0:
        return data
    moved = bytearray(data)
    width, height = (int.from_bytes(data[i : i + 3], "little") + 1 for i in (24, 27))
    moved[24:27] = (width + 13 - 1).to_bytes(3, "little")
    moved[27:30] = (height + 7 - 1).to_bytes(3, "little")
    moved[at + 8 : at + 11] = (5).to_bytes(3, "little")  # times 2
    moved[at + 11 : at + 14] = (2).to_bytes(3, "little")
    return bytes(moved)


@pytest.mark.parametrize("profile", ["pillow", "hf", "vllm"])
def test_webps(profile: mmcpp.image.Profile) -> None:
    assert assert_equal_to_pillow(_webps(), profile) >= 300


@pytest.mark.parametrize("format_name", ["JPEG", "WEBP"])
def test_sglang_drops_alpha_and_turns_nothing(format_name: str) -> None:
    mode = "RGBA" if format_name == "WEBP" else "RGB"
    data = encode(picture(mode, 20, 30), format_name, exif=_exif(6))
    assert np.array_equal(mmcpp.decode_image(data, profile="sglang"), mmcpp.decode_image(data, profile="pillow"))


def _exif(orientation: int, kind: int = 3, order: str = "<") -> bytes:
    value = struct.pack(order + "H2x" if kind == 3 else order + "L", orientation)
    head = b"II*\0" if order == "<" else b"MM\0*"
    return b"Exif\0\0" + head + struct.pack(order + "LHHHL", 8, 1, 0x112, kind, 1) + value + b"\0\0\0\0"


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_damaged_jpegs(damage: str) -> None:
    """Baseline files, whose damage every version of libjpeg-turbo takes alike; what becomes of a progressive file
    that lacks scans is in decode_exceptions.py."""
    count = 0
    for seed, (mode, sampling, restart) in enumerate(itertools.product(("RGB", "L", "CMYK"), (0, 2), (0, 3))):
        data = encode(picture(mode, 40, 50, seed), "JPEG", subsampling=sampling, restart_marker_blocks=restart)
        if damage == "cut":
            sizes = [*range(2, len(data) - 20, 3), *range(len(data) - 20, len(data))]
            cases = [data[:size] for size in sizes]
            cases += [data[:size] + b"\xff\xd9" for size in range(700, len(data), 7)]
        else:
            cases = list(mutations(data, 150, seed))
        count += assert_equal_to_pillow((f"{mode} {sampling} {restart} {n}", case) for n, case in enumerate(cases))
    assert count >= 1500


def test_progressive_jpegs_cut_short_are_refused() -> None:
    data = encode(picture("RGB", 40, 50), "JPEG", progressive=True)
    assert_equal_to_pillow((f"{size} bytes", data[:size]) for size in range(2, len(data), 3))


def test_damaged_webps() -> None:
    count = 0
    for seed, (mode, lossless, frames) in enumerate(itertools.product(("RGB", "RGBA"), (False, True), (1, 2))):
        more = [picture(mode, 20, 30, 9)] * (frames - 1)
        data = encode(picture(mode, 20, 30, seed), "WEBP", lossless=lossless, save_all=frames > 1, append_images=more)
        cases = [data[:size] for size in range(0, len(data), 5)] + list(mutations(data, 200, seed))
        count += assert_equal_to_pillow((f"{mode} {lossless} {n}", case) for n, case in enumerate(cases) if case)
    assert count >= 1600


def test_the_end_may_lie_anywhere_in_what_pillow_reads_at_once() -> None:
    """Pillow shows libjpeg 64 KiB at a time, so files around that size are cut around it."""
    data = encode(picture("RGB", 300, 400, 3), "JPEG", quality=97, subsampling=0)
    assert len(data) > 140_000
    sizes = [n * 65_536 + d for n in (1, 2) for d in (-2, -1, 0, 1, 2)] + [len(data) - d for d in (0, 1, 2, 3)]
    assert_equal_to_pillow((f"{size} of {len(data)} bytes", data[:size]) for size in sizes)
    segment = b"\xff\xe5\xff\xff" + bytes(65_533)  # a segment that is skipped across several reads
    padded = data[:2] + segment * 5 + data[2:]
    assert_equal_to_pillow([("padded", padded), ("cut in a segment", padded[:200_000])])
