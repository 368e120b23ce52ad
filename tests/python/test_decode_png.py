"""Generated PNGs, sound and not: the library's verdict, bytes and header are those of Pillow 13."""

from __future__ import annotations

import functools
import io
import itertools
import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import PIL
import pytest
from PIL import Image

import mmcpp
import png_writer
from pictures import SIZES, assert_equal_to_pillow, encode, mutations, picture, pillow
from png_writer import LAYOUTS, Png, chunk, write

pytestmark = [
    pytest.mark.skipif(not PIL.__version__.startswith("13."), reason="the reference is Pillow 13"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # Pillow's, about odd files
]

PROFILES = ("pillow", "hf", "vllm")
Cases = Iterator[tuple[str, bytes]]


def _ordinary() -> Cases:
    for number, ((color, depth), (height, width), interlaced) in enumerate(
        itertools.product(LAYOUTS, SIZES, (False, True))
    ):
        png = Png(height, width, color, depth, interlaced, seed=number, level=(0, 1, 6, 9)[number % 4])
        yield f"{png}", write(png)
        png = replace(png, filters=(number % 5,), split=(number % 50, 3, 0)[: number % 4])
        yield f"{png}", write(png)
    for number, (color, depth) in enumerate(LAYOUTS):
        for interlaced in (False, True):
            png = Png(131 + number, 257, color, depth, interlaced, seed=number)
            yield f"{png}", write(png)


def test_ordinary() -> None:
    assert assert_equal_to_pillow(_ordinary()) == 2 * len(LAYOUTS) * (2 * len(SIZES) + 1)


def test_pillows_own() -> None:
    def cases() -> Cases:
        for mode, (height, width) in itertools.product(
            ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"), [*SIZES, (520, 700)]
        ):
            image = picture("RGBA" if mode == "I;16" else mode if mode not in ("1", "P") else "L", height, width)
            if mode == "I;16":
                image = Image.fromarray(np.asarray(image).copy().view(np.uint16)[..., 0])
            for options in ({}, {"optimize": True}, {"compress_level": 0}):
                yield f"{mode} {height}x{width} {options}", encode(image.convert(mode), "PNG", **options)

    assert assert_equal_to_pillow(cases()) >= 290


def _transparent() -> Cases:
    source = random.Random(5)
    for number, ((color, depth), interlaced, kind) in enumerate(itertools.product(LAYOUTS, (False, True), range(14))):
        png = Png(13, 17, color, depth, interlaced, seed=number)
        top = (1 << depth) - 1
        if color == 3:
            alphas = [
                source.randbytes(source.randrange(top + 2)),
                b"\xff" * source.randrange(top + 1) + b"\0",
                b"\xff" * source.randrange(top + 1) + b"\0" + b"\xff" * 3 + b"\n",
                b"\xff" * top + b"\n",
                b"",
                b"\xff" * 270 + b"\0\xff",
                source.randbytes(270),
            ][kind % 7]
            colors = (None, None, 3, 0, None, 1, 2)[kind % 7] if kind >= 7 else None
            png = replace(png, palette=colors, transparency=alphas)
        else:
            pixel = [int(v) for v in png_writer.samples_of(png)[source.randrange(13), source.randrange(17)]]
            values = [
                pixel,
                [v * 255 // top for v in pixel],
                [source.randrange(65536) for _ in pixel],
                [v >> 8 for v in pixel],
                [v * 257 % 65536 for v in pixel],
                [v | 0x100 for v in pixel],
                pixel,
            ][kind % 7]
            values = values[: 3 if color == 2 else 1]
            data = struct.pack(f">{len(values)}H", *values)
            png = replace(png, transparency=data[:-1] if kind == 13 else data)
        yield f"{png}", write(png)


@pytest.mark.parametrize("profile", PROFILES)
def test_transparency(profile: str) -> None:
    """Palette alpha, transparent colours, gray levels and alpha channels, dropped and blended."""
    assert assert_equal_to_pillow(_transparent(), profile) == 420


def _text(key: bytes, value: bytes) -> bytes:
    return chunk(b"tEXt", key + b"\0" + value)


def _compressed(name: bytes, data: bytes, method: int = 0) -> bytes:
    return chunk(name, b"k\0" + bytes([method]) + data)


def _international(key: bytes, value: bytes, compressed: int = 1, method: int = 0) -> bytes:
    return chunk(b"iTXt", key + bytes([0, compressed, method, 0, 0]) + (zlib.compress(value) if compressed else value))


def _frame(sequence: int, width: int, height: int, x: int = 0, y: int = 0) -> bytes:
    return chunk(b"fcTL", struct.pack(">5I2H2B", sequence, width, height, x, y, 1, 10, 0, 0))


def _animation(frames: int) -> bytes:
    return chunk(b"acTL", struct.pack(">II", frames, 0))


def _header(*numbers: int) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", *numbers))


@functools.cache
def _odd_chunks() -> dict[str, tuple[bytes, ...]]:
    fits, bomb = zlib.compress(b"a" * (1 << 20)), zlib.compress(b"a" * ((1 << 20) + 1))
    pixels = zlib.compress(png_writer.stream_of(Png(13, 17, 2, 8)))
    one = {
        **{f"{name.decode()} of {size}": chunk(name, bytes(size)) for name, sizes in SHORT.items() for size in sizes},
        "zTXt fits": _compressed(b"zTXt", fits),
        "zTXt bomb": _compressed(b"zTXt", bomb),
        "zTXt bomb cut": _compressed(b"zTXt", bomb[:-5]),
        "zTXt cut": _compressed(b"zTXt", fits[:-4]),
        "zTXt cut more": _compressed(b"zTXt", fits[:-5]),
        "zTXt and more": _compressed(b"zTXt", fits + b"more"),
        "zTXt damaged": _compressed(b"zTXt", b"junk"),
        "zTXt method": _compressed(b"zTXt", fits, 1),
        "zTXt no zero": chunk(b"zTXt", b"key"),
        "zTXt no method": chunk(b"zTXt", b"key\0"),
        "iCCP fits": _compressed(b"iCCP", fits),
        "iCCP bomb": _compressed(b"iCCP", bomb),
        "iCCP damaged": _compressed(b"iCCP", b"junk"),
        "iCCP method": _compressed(b"iCCP", fits, 1),
        "iCCP no zero": chunk(b"iCCP", b"name"),
        "iCCP only zero": chunk(b"iCCP", b"\0"),
        "iCCP empty": chunk(b"iCCP"),
        "iTXt fits": _international(b"k", b"a" * (1 << 20)),
        "iTXt bomb": _international(b"k", b"a" * ((1 << 20) + 1)),
        "iTXt bomb of unknown method": _international(b"k", b"a" * ((1 << 20) + 1), 1, 1),
        "iTXt plain and large": _international(b"k", b"a" * ((1 << 20) + 1), 0),
        "iTXt short": chunk(b"iTXt", b"k\0\1"),
        "iTXt no zero": chunk(b"iTXt", b"k"),
        "iTXt language": chunk(b"iTXt", b"k\0\1\0abc"),
        "tEXt no key": _text(b"", b"x"),
        "tEXt no zero": chunk(b"tEXt", b"abc"),
        "text interlace": _text(b"interlace", b"x"),
        "text interlace empty": _text(b"interlace", b""),
        "text interlace damaged": chunk(b"zTXt", b"interlace\0\0junk"),
        "international interlace": _international(b"interlace", b"x"),
        "text transparency": _text(b"transparency", b"x"),
        "text bbox": _text(b"bbox", b"x"),
        "text others": _text(b"gamma", b"x") + _text(b"loop", b"y") + _text(b"dpi", b"") + _text(b"icc_profile", b"x"),
        "wrong checksum": chunk(b"tIME", bytes(7), 5),
        "wrong checksum, unknown": chunk(b"abCD", b"x", 5),
        "critical, unknown": chunk(b"ABCD", b"x"),
        "name of digits": chunk(b"12_4", b"x"),
        "name of others": chunk(b"ab-d", b"x"),
        "name not ASCII": chunk(b"\xe9bcd", b"x"),
        "animation": _animation(3),
        "animation of 0": _animation(0),
        "animation of too many": _animation(0x80000001),
        "animation twice": _animation(3) + _animation(4),
        "animation three times": _animation(3) + _animation(4) + _animation(5),
        "first frame": _animation(2) + _frame(0, 17, 13),
        "first frame in part": _animation(2) + _frame(0, 10, 5, 3, 2),
        "first frame empty": _animation(2) + _frame(0, 0, 5),
        "first frame outside": _animation(2) + _frame(0, 17, 13, 1, 0),
        "frame out of sequence": _animation(2) + _frame(1, 17, 13),
        "frame alone": _frame(0, 9, 9, 1, 1),
        "two frames": _frame(0, 9, 9, 1, 1) + _frame(1, 4, 4, 1, 1),
        "frame and text bbox": _frame(0, 9, 9, 1, 1) + _text(b"bbox", b""),
        "text bbox and frame": _text(b"bbox", b"") + _frame(0, 9, 9, 1, 1),
        "fdAT": chunk(b"fdAT", b"\0\0\0\0data"),
        "fdAT in sequence": _frame(0, 17, 13) + chunk(b"fdAT", b"\0\0\0\1" + pixels),
        "fdAT out of sequence": _frame(0, 17, 13) + chunk(b"fdAT", b"\0\0\0\2" + pixels),
        "PLTE": chunk(b"PLTE", b"abc" * 9),
        "PLTE of 257": chunk(b"PLTE", b"abc" * 257),
        "PLTE of 256 and two bytes": chunk(b"PLTE", b"a" * 770),
        "PLTE empty": chunk(b"PLTE"),
        "PLTE of two bytes": chunk(b"PLTE", b"ab"),
        "header again": _header(17, 13, 8, 2, 0, 0, 0),
        "header of unknown type": _header(17, 13, 3, 2, 0, 0, 0),
        "header of unknown filter": _header(17, 13, 8, 2, 0, 1, 0),
        "header of unknown compression": _header(17, 13, 8, 2, 9, 0, 0),
        "header of interlace 7": _header(17, 13, 8, 2, 0, 0, 7),
        "header of a size too large": _header(0xFFFFFFFF, 1, 8, 2, 0, 0, 0),
        "header of size 0": _header(0, 1, 8, 2, 0, 0, 0),
        "eXIf": chunk(b"eXIf", b"MM\0*junk"),
        "tRNS": chunk(b"tRNS", b"\0\1\0\2\0\3"),
        "IEND": chunk(b"IEND"),
        "DDAT": chunk(b"DDAT", b"x"),
        "IDATs empty": chunk(b"IDAT") * 3,
    }
    return {name: (data,) for name, data in one.items()}


SHORT = {
    b"gAMA": (3, 4), b"cHRM": (31, 32), b"sRGB": (0, 1), b"pHYs": (8, 9), b"acTL": (7,), b"fcTL": (25,),
    b"tRNS": (1, 2, 5, 6), b"IHDR": (12,),
}  # fmt: skip


def _with_odd_chunks() -> Cases:
    for color, depth in ((2, 8), (3, 8), (0, 8), (0, 16), (0, 1), (6, 8)):
        for name, chunks in _odd_chunks().items():
            png = Png(13, 17, color, depth, seed=7)
            yield f"{name} before {color} {depth}", write(replace(png, before=chunks))
            yield f"{name} after {color} {depth}", write(replace(png, after=chunks))
            if depth == 8 and color in (2, 3):
                yield f"{name} interlaced {color}", write(replace(png, before=chunks, interlaced=True))
                yield f"{name} split {color}", write(replace(png, before=chunks, split=(0, 5, 0, 0, 7)))
                yield f"{name} after, animated {color}", write(replace(png, before=(_animation(2),), after=chunks))


@pytest.mark.parametrize("profile", PROFILES)
def test_odd_chunks(profile: str) -> None:
    assert assert_equal_to_pillow(_with_odd_chunks(), profile) > 1000


def _streams() -> Cases:
    """Pixel streams that are damaged, short or long, and cut anywhere into chunks."""
    source = random.Random(11)
    for seed in range(300):
        color, depth = LAYOUTS[seed % len(LAYOUTS)]
        height, width = source.choice([(13, 17), (40, 1), (300, 1), (1, 300), (5, 2), (600, 1), (2, 900)])
        png = Png(height, width, color, depth, source.random() < 0.3, seed=seed)
        if source.random() < 0.5:  # matches that go over many rows
            flat = np.zeros((height, width, png_writer.CHANNELS[color]), np.uint16)
            png = replace(png, filters=(0,), samples=flat)
        rows = png_writer.stream_of(png)
        row = len(rows) // height
        window = source.choice([9, 12, 15])
        compressor = zlib.compressobj(
            source.choice([0, 1, 6, 9]), zlib.DEFLATED, window, 8, source.choice([0, 1, 2, 3, 4])
        )
        whole = compressor.compress(rows) + compressor.flush()
        at = source.randrange(len(whole))
        last = bytearray(rows)
        last[-row] = 9
        method = source.choice([0x08, 0x18, 0x88, 0x79])
        kinds = {
            "cut": whole[: -source.randrange(1, 9)],
            "checksum": whole[:-4] + bytes([whole[-4] ^ 1]) + whole[-3:],
            "more": whole + b"more",
            "short": zlib.compress(rows[: -source.choice([1, 2, row, row + 1, 3 * row])]),
            "long": zlib.compress(rows + bytes(source.choice([1, row, 5 * row]))),
            "filter": zlib.compress(b"\5" + rows[1:]),
            "last filter": zlib.compress(bytes(last)),
            "flip": whole[:at] + bytes([whole[at] ^ 1 << source.randrange(8)]) + whole[at + 1 :],
            "method": bytes([method, 31 - method * 256 % 31]) + whole[2:],
        }
        for name in source.sample(sorted(kinds), 3):
            data = kinds[name]
            split = source.choice(
                [
                    (),
                    tuple(source.randrange(len(data) // 2 + 1) for _ in range(3)),
                    (max(0, len(data) - source.randrange(8)),),
                ]
            )
            after = source.choice([(), (chunk(b"tIME", bytes(7)),), (chunk(b"IDAT", b"x"),)])
            file = write(replace(png, split=split, after=after), data)
            yield f"{seed} {name} {split}", file
            yield f"{seed} {name} {split} cut", file[: -source.randrange(1, 40)]


def test_damaged_streams() -> None:
    cases = list(_streams())
    assert assert_equal_to_pillow(cases) == 1800
    assert sum(pillow(data) is not None for _, data in cases) > 500  # many of them are pictures


@pytest.mark.parametrize("color", [0, 2, 3, 6])
def test_truncated_and_damaged_files(color: int) -> None:
    png = Png(9, 11, color, 8, color == 3, before=(_text(b"a", b"bc"),), split=(20,), seed=1)
    whole = write(png)
    cuts = [(f"cut at {size}", whole[:size]) for size in range(8, len(whole))]
    damaged = [(f"damaged {i}", data) for i, data in enumerate(mutations(whole, 700, color)) if data[:8] == whole[:8]]
    assert assert_equal_to_pillow(cuts + damaged) > 700


def test_headers() -> None:
    different = []
    for name, data in itertools.chain(_ordinary(), _transparent(), _with_odd_chunks()):
        try:
            image = Image.open(io.BytesIO(data))
        except Exception:
            continue
        info = mmcpp.image_info(data)
        want = (image.height, image.width, image.mode, image.n_frames)
        has_alpha = "A" in image.mode or "transparency" in image.info
        if want != (info.height, info.width, info.mode, info.frames) or has_alpha != info.has_alpha:
            different.append((name, want, info))
    assert different == []


def test_text_in_files_of_many_bombs() -> None:
    """Pillow counts what it keeps; what it does not keep is bounded here all the same."""
    bomb = chunk(b"zTXt", b"\0\0" + zlib.compress(bytes(1 << 20)))  # no key
    data = write(Png(2, 3, before=(bomb * 65,)))
    assert pillow(data) is not None
    with pytest.raises(mmcpp.DecodeError, match="over 64 MiB"):
        mmcpp.decode_image(data)
