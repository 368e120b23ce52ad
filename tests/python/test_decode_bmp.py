"""Generated BMPs and DIBs, sound and not: the library's verdict, bytes and header are those of Pillow 13."""

from __future__ import annotations

import io
import itertools
import random
import struct
from collections.abc import Iterator
from dataclasses import replace

import PIL
import pytest
from PIL import Image

import bmp_writer
import mmcpp
from bmp_writer import BITFIELDS, MASKS, RLE4, RLE8, Bmp, gray_palette, write
from pictures import SIZES, assert_equal_to_pillow, encode, mutations, picture, pillow

pytestmark = [
    pytest.mark.skipif(not PIL.__version__.startswith("13."), reason="the reference is Pillow 13"),
    pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning"),
]

PROFILES = ("pillow", "hf", "vllm")
HEADERS = (12, 40, 52, 56, 64, 108, 124)
Cases = Iterator[tuple[str, bytes]]


def _palette(source: random.Random, bits: int, header: int) -> bytes | None:
    padding = 3 if header == 12 else 4
    kinds = [None, None, gray_palette(1 << bits, 1, padding)]
    if header != 12:
        few = source.randint(1, 1 << bits)
        kinds += [gray_palette(2, 255), gray_palette(few), source.randbytes(4 * few)]
    return source.choice(kinds)


def _ordinary() -> Cases:
    source = random.Random(2)
    for seed, ((height, width), bits, header) in enumerate(itertools.product(SIZES, (1, 4, 8, 16, 24, 32), HEADERS)):
        bmp = Bmp(
            height,
            width,
            bits,
            header,
            palette=_palette(source, bits, header) if bits <= 8 else None,
            gap=source.choice([0, 0, 5]),
            file_header=source.random() < 0.8,
            top_down=header != 12 and source.random() < 0.4,
            seed=seed,
        )
        yield f"{bmp}", write(bmp)
        if header == 12:
            continue
        for number, masks in enumerate(MASKS.get(bits, ())):
            if (seed + number) % 3 == 0:
                masked = replace(bmp, compression=BITFIELDS, masks=masks)
                yield f"{masked}", write(masked)
        if bits <= 8:
            for compression in (RLE8, RLE4):
                packed = replace(bmp, compression=compression)
                yield f"{packed}", write(packed)
                yield f"{packed} not sound", write(packed, bmp_writer.rle(packed, sound=False))


@pytest.mark.parametrize("profile", PROFILES)
def test_ordinary(profile: str) -> None:
    assert assert_equal_to_pillow(_ordinary(), profile) > 1500


def test_pillows_own() -> None:
    def cases() -> Cases:
        for mode, name, (height, width) in itertools.product(
            ("1", "L", "P", "RGB", "RGBA"), ("BMP", "DIB"), [*SIZES, (211, 300)]
        ):
            image = picture(mode if mode not in ("1", "P") else "L", height, width).convert(mode)
            yield f"{mode} {name} {height}x{width}", encode(image, name)

    assert assert_equal_to_pillow(cases()) >= 140


def _odd() -> Cases:
    source = random.Random(6)
    for seed in range(400):
        bits = source.choice([0, 1, 2, 4, 8, 8, 15, 16, 24, 32, 48, 64])
        header = source.choice([12, 40, 40, 40, 52, 56, 64, 108, 124])
        palettes = [None, b"", *(source.randbytes(size) for size in (40, 1024, 1028, 3000))]
        bmp = Bmp(
            height=9,
            width=source.choice([1, 2, 3, 4, 11]),
            bits=bits,
            header=header,
            compression=source.choice([0, 0, 0, 1, 2, 3, 4, 5, 11]),
            top_down=header != 12 and source.random() < 0.3,
            masks=source.choice([*MASKS.get(bits, []), (1, 2, 3, 4)]),
            palette=source.choice(palettes if bits <= 8 else [None, source.randbytes(16)]),
            colors=source.choice([None, None, 1, 2, 3, 255, 256, 257, 300, 65536, 65537, 2**32 - 1]),
            file_header=source.random() < 0.8,
            offset=source.choice([None, None, None, 0, 14, 54, 54 + 1024, 10**6, 14 + header]),
            seed=seed,
        )
        data = write(bmp)
        yield f"{bmp}", data
        yield f"{bmp} cut", data[: -source.randrange(1, 30)]
    start = write(Bmp(5, 5))
    for height, width in ((0, 5), (5, 0), (2**31, 1), (2**32 - 2**24, 1), (2**24, 1), (1, 2**31), (70000, 70000)):
        for signed in (height, -height % 2**32):
            yield f"size {signed}x{width}", start[:18] + struct.pack("<II", width, signed % 2**32) + start[26:]


def test_odd_headers() -> None:
    cases = list(_odd())
    assert assert_equal_to_pillow(cases) > 800
    assert sum(pillow(data) is not None for _, data in cases) > 50


def _programs() -> Cases:
    """RLE: deltas, runs over the end of a row, absolute runs of every length, ends that are missing."""
    source = random.Random(7)
    numbers = (0, 0, 0, 1, 2, 3, 5)
    for seed in range(500):
        bmp = Bmp(
            height=source.randrange(1, 30),
            width=source.randrange(1, 30),
            bits=source.choice([1, 4, 8]),
            compression=source.choice([RLE8, RLE4]),
            top_down=source.random() < 0.2,
            gap=source.choice([0, 1]),
            seed=seed,
        )
        program = bytearray(bmp_writer.rle(bmp, sound=source.random() < 0.5))
        for _ in range(source.randrange(4)):
            program[source.randrange(len(program))] = source.choice([*numbers, source.randrange(256)])
        yield f"{bmp}", write(bmp, bytes(program))
        free = bytes(source.choice([*numbers, source.randrange(256)]) for _ in range(source.randrange(1, 1500)))
        yield f"{bmp} free", write(bmp, free)


def test_rle_programs() -> None:
    cases = list(_programs())
    assert assert_equal_to_pillow(cases) == 1000
    assert sum(pillow(data) is not None for _, data in cases) > 200


@pytest.mark.parametrize(
    "bmp",
    [
        Bmp(9, 11, 4),
        Bmp(9, 11, 8, compression=RLE8),
        Bmp(9, 11, 32, compression=BITFIELDS, masks=MASKS[32][3]),
        Bmp(9, 11, 24, 12),
        Bmp(9, 11, 16, 56, BITFIELDS, masks=MASKS[16][0], file_header=False),
    ],
)
def test_truncated_and_damaged_files(bmp: Bmp) -> None:
    whole = write(bmp)
    start = 2 if bmp.file_header else 4
    cuts = [(f"cut at {size}", whole[:size]) for size in range(start, len(whole))]
    damaged = [(f"damaged {i}", d) for i, d in enumerate(mutations(whole, 500, bmp.bits)) if d[:start] == whole[:start]]
    assert assert_equal_to_pillow(cuts + damaged) > 500


def test_headers() -> None:
    different = []
    for name, data in itertools.chain(_ordinary(), _odd()):
        try:
            image = Image.open(io.BytesIO(data))
        except Exception:
            continue
        info = mmcpp.image_info(data)
        if (image.height, image.width, image.mode, image.mode == "RGBA") != (
            info.height,
            info.width,
            info.mode,
            info.has_alpha,
        ):
            different.append((name, image, info))
    assert different == []
