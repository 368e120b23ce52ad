"""Generated GIFs, sound and not: the library's verdict, bytes and header are those of Pillow 13."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import PIL
import pytest
from PIL import Image

import gif_writer
import mmcpp
from gif_writer import GRAY_RAMP, Frame, blocks, control, extension, image, random_palette, write
from pictures import SIZES, assert_equal_to_pillow, encode, mutations, picture, pillow

pytestmark = [
    pytest.mark.skipif(not PIL.__version__.startswith("13."), reason="the reference is Pillow 13"),
    pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning"),
]

PROFILES = ("pillow", "hf", "vllm")
Cases = Iterator[tuple[str, bytes]]


def _ordinary() -> Cases:
    source = random.Random(1)
    kinds = itertools.product([*SIZES, (150, 130)], range(1, 9), (False, True))
    for seed, ((height, width), bits, interlaced) in enumerate(kinds):
        shared = source.choice(
            [None, GRAY_RAMP, GRAY_RAMP[: 3 << bits], random_palette(1 << source.randint(1, 8), seed)]
        )
        own = source.choice([None, None, GRAY_RAMP, GRAY_RAMP[:6], random_palette(1 << source.randint(1, 8), seed + 1)])
        frame = Frame(
            height=height,
            width=width,
            y=source.choice([0, 0, 3]),
            x=source.choice([0, 0, 5]),
            bits=bits,
            interlaced=interlaced,
            palette=own,
            transparent=source.choice([None, None, 0, 1, source.randrange(256)]),
            disposal=source.choice([0, 0, 1, 2, 3]),
            has_control=source.random() < 0.8,
            colors=1 << bits,
            clear_every=source.choice([0, 0, 50, 1000]),
            end=source.random() < 0.9,
            terminator=source.random() < 0.9,
            block=source.choice([255, 255, 1, 7]),
            table_size=source.choice([4096, 4096, (1 << bits) + 2, 600]),
            seed=seed,
        )
        parts = [image(frame)]
        if source.random() < 0.3:
            parts.append(image(replace(frame, seed=seed + 100, height=max(1, height // 2), transparent=1)))
        if source.random() < 0.2:
            parts.insert(0, extension(255, b"NETSCAPE2.0", b"\1\0\0"))
        if source.random() < 0.1:
            parts.insert(0, extension(254, b"a", b"comment"))
        screen = source.choice(
            [(height, width), (height + 9, width + 4), (max(0, height - 2), max(0, width - 3)), (0, 0), (200, 300)]
        )
        background, trailer = source.randrange(256), source.choice([b";", b";", b""])
        version = source.choice([b"GIF87a", b"GIF89a"])
        data = write(*screen, *parts, palette=shared, background=background, version=version, trailer=trailer)
        yield f"{frame} on {screen}", data


@pytest.mark.parametrize("profile", PROFILES)
def test_ordinary(profile: str) -> None:
    assert assert_equal_to_pillow(_ordinary(), profile) == (len(SIZES) + 1) * 16


def test_pillows_own() -> None:
    def cases() -> Cases:
        for mode, (height, width) in itertools.product(("L", "RGB", "RGBA"), [*SIZES, (300, 411)]):
            frames = [picture(mode, height, width, seed) for seed in range(3)]
            for options in ({}, {"save_all": True, "append_images": frames[1:], "disposal": 2, "loop": 0}):
                yield f"{mode} {height}x{width} {len(options)}", encode(frames[0], "GIF", **options)

    assert assert_equal_to_pillow(cases()) >= 80


def _odd() -> Cases:
    frame = Frame(9, 11, seed=3)
    shown, palette = image(frame), random_palette(256, 1)

    def file(*parts: bytes, height: int = 9, width: int = 11) -> bytes:
        return write(height, width, *parts, palette=palette)

    start = file()[:-1]
    codes = gif_writer.lzw(gif_writer.pixels_of(frame), 8)
    yield from {
        "control empty": file(b"!\xf9\0", shown),
        **{f"control of {size}": file(extension(249, b"\1\0\0\2\3\4"[:size]), shown) for size in range(1, 7)},
        **{f"control of {size}, opaque": file(extension(249, bytes(size)), shown) for size in range(1, 5)},
        "control twice": file(control(transparent=3), control(), shown),
        "control of two blocks": file(extension(249, b"\1\0\0\2", b"more"), shown),
        "extension empty": file(b"!\x01\0", shown),
        "application empty": file(b"!\xff\0", shown),
        "comment empty": file(b"!\xfe\0", shown),
        "extension unknown": file(extension(7, b"xx"), shown),
        "loop without block": file(b"!\xff\x0bNETSCAPE2.0\0", shown),
        "loop of two blocks": file(extension(255, b"NETSCAPE2.0", b"\1\0\0", b"\2xx"), shown),
        "loop of a longer name": file(extension(255, b"NETSCAPE2.0extra", b"\1\0\0"), shown),
        "junk": file(b"junk\0\0", shown),
        "nothing": file(),
        "trailer first": file(b";", shown),
        "descriptor cut": start + b"," + bytes(8),
        "comment cut": start + b"!\xfe\x20abc",
        "palette cut": start[:200],
        "no width": file(image(replace(frame, width=0), b"\0")),
        "no height": file(image(replace(frame, height=0), b"\0")),
        "no screen": file(shown, height=0, width=0),
        "no data": file(image(frame, b"\0")),
        "no data at all": start + image(frame, b""),
        "far away": file(image(replace(frame, y=65535, x=65535))),
        "wide": file(image(replace(frame, x=65000))),
        "bomb": file(image(replace(frame, height=25000, width=25000, y=40000, x=40000), b"\0"), height=1, width=1),
        **{
            f"initial bits {bits}": file(image(replace(frame, bits=bits), blocks(codes)))
            for bits in (0, 9, 11, 12, 13, 255)
        },
    }.items()


def test_odd_structure() -> None:
    cases = list(_odd())
    for profile in PROFILES:
        assert assert_equal_to_pillow(cases, profile) == len(cases) >= 40
    assert sum(pillow(data) is not None for _, data in cases) >= 15


def _streams() -> Cases:
    source = random.Random(4)
    for seed in range(600):
        bits = source.randint(1, 12)
        frame = Frame(
            height=source.randrange(1, 40),
            width=source.randrange(1, 40),
            bits=bits,
            interlaced=source.random() < 0.4,
            clear_every=source.choice([0, 0, 20]),
            seed=seed,
        )
        codes = bytearray(gif_writer.lzw(gif_writer.pixels_of(frame), bits))
        for _ in range(source.randrange(3)):
            codes[source.randrange(len(codes))] = source.randrange(256)
        if source.random() < 0.2:
            del codes[source.randrange(len(codes)) :]
        if source.random() < 0.2:
            codes += source.randbytes(300)
        if source.random() < 0.3:  # an end code in the middle
            half = replace(frame, height=max(1, frame.height // 2))
            codes = bytearray(gif_writer.lzw(gif_writer.pixels_of(half), bits)) + source.randbytes(50)
        if source.random() < 0.2:
            codes = bytearray(source.randbytes(source.randrange(1, 500)))
        data = blocks(bytes(codes), source.choice([255, 1, 3, 100]), terminator=source.random() < 0.8)
        tail = source.choice([b"", b"", b"", source.randbytes(200), bytes(70000), source.randbytes(140000)])
        palette = source.choice([random_palette(256, 1), None])
        yield f"{seed} {frame}", write(9, 11, image(frame, data), tail, palette=palette)


def test_damaged_streams() -> None:
    cases = list(_streams())
    assert assert_equal_to_pillow(cases) == 600
    assert sum(pillow(data) is not None for _, data in cases) >= 150


def test_truncated_and_damaged_files() -> None:
    frame = Frame(9, 11, 1, 2, seed=3, palette=random_palette(4, 1), bits=2, transparent=2, disposal=2)
    before = (extension(255, b"NETSCAPE2.0", b"\1\0\0"), extension(254, b"comment"))
    whole = write(12, 15, *before, image(frame), image(frame), palette=random_palette(8, 2))
    cuts = [(f"cut at {size}", whole[:size]) for size in range(6, len(whole))]
    damaged = [(f"damaged {i}", data) for i, data in enumerate(mutations(whole, 1500, 1)) if data[:5] == whole[:5]]
    assert assert_equal_to_pillow(cuts + damaged) > 1000


def test_headers() -> None:
    different = []
    for name, data in itertools.chain(_ordinary(), _odd()):
        try:
            opened = Image.open(io.BytesIO(data))
            want = (opened.height, opened.width, opened.mode, "transparency" in opened.info, opened.n_frames)
        except Exception:
            continue
        info = mmcpp.image_info(data)
        if want != (info.height, info.width, info.mode, info.has_alpha, info.frames):
            different.append((name, want, info))
    assert different == []
