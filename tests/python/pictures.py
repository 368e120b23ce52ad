"""What the decode tests share: pictures to encode, and what Pillow makes of encoded bytes."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFile, ImageOps

import mmcpp

Pixels = npt.NDArray[np.uint8]

SIZES = [
    (1, 1),
    (1, 2),
    (2, 1),
    (3, 5),
    (7, 8),
    (8, 8),
    (9, 7),
    (16, 16),
    (17, 23),
    (1, 70),
    (70, 1),
    (33, 31),
    (64, 48),
]


def picture(mode: str, height: int, width: int, seed: int = 0) -> Image.Image:
    """Gradients, edges and noise in any 8-bit mode; alpha takes every value there is room for."""
    noise = np.random.default_rng(seed)
    channels = len(Image.new(mode, (1, 1)).getbands())
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for channel in range(channels):
        plane = (x * (3 + channel) + y * (5 - channel)) % 256 + noise.integers(-25, 26, (height, width))
        plane[(x // 6 + y // 5 + channel) % 4 == 0] = 255 * (channel % 2)
        planes.append(np.clip(plane, 0, 255))
    pixels = np.stack(planes, -1).astype(np.uint8)
    return Image.frombytes(mode, (width, height), pixels.tobytes())


def encode(image: Image.Image, format_name: str, **options: object) -> bytes:
    """The bytes Pillow writes."""
    file = io.BytesIO()
    block = ImageFile.MAXBLOCK
    try:
        ImageFile.MAXBLOCK = 1 << 24  # else some progressive and optimised JPEGs cannot be written
        image.save(file, format_name, **options)
    finally:
        ImageFile.MAXBLOCK = block
    return file.getvalue()


def pillow(data: bytes, profile: str = "pillow") -> Pixels | None:
    """What the stack that a profile is named after sees through Pillow; None where it refuses."""
    try:
        image = Image.open(io.BytesIO(data))
        image.load()
        if profile == "vllm":
            with contextlib.suppress(Exception):  # vLLM overlooks metadata that cannot be read
                image = ImageOps.exif_transpose(image)
        transparent = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
        if profile in {"hf", "vllm"} and transparent:
            rgba = image.convert("RGBA")
            if profile == "hf":
                white = Image.new("RGBA", rgba.size, (255, 255, 255, 255))
                return np.array(Image.alpha_composite(white, rgba).convert("RGB"))
            white = Image.new("RGB", rgba.size, (255, 255, 255))
            white.paste(rgba, mask=rgba.split()[3])
            return np.array(white)
        return np.array(image.convert("RGB"))
    except Exception:  # some refusals are TypeErrors and AssertionErrors
        return None


def ours(data: bytes, profile: mmcpp.image.Profile = "pillow") -> Pixels | None:
    """What the library sees; None where it refuses in one of the ways a picture can be refused."""
    try:
        return mmcpp.decode_image(data, profile=profile)
    except ValueError as error:  # an MmError, or of no bytes at all a plain one
        assert str(error)
        return None


def difference(data: bytes, profile: mmcpp.image.Profile = "pillow") -> str | None:
    """How the library and Pillow differ over some bytes, or None if they do not."""
    want, got = pillow(data, profile), ours(data, profile)
    if want is None or got is None:
        return None if want is got else f"Pillow {'refuses' if want is None else 'opens'} it"
    if want.shape != got.shape:
        return f"{got.shape} for {want.shape}"
    if np.array_equal(want, got):
        return None
    off = np.abs(want.astype(int) - got)
    return f"{np.count_nonzero(off)} of {off.size} samples differ, by up to {off.max()}"


def assert_equal_to_pillow(cases: Iterable[tuple[str, bytes]], profile: mmcpp.image.Profile = "pillow") -> int:
    """Compares every case and names those that differ. The number of cases, so that a test can see that there were
    as many as it meant."""
    count = 0
    different = []
    for name, data in cases:
        count += 1
        if how := difference(data, profile):
            different.append(f"{name}: {how}")
    assert different == []
    return count


def mutations(data: bytes, count: int, seed: int) -> Iterable[bytes]:
    """Damaged copies: bytes changed, cut out, doubled and put in, and ends cut off."""
    source = random.Random(seed)
    changes: list[Callable[[bytearray, int], None]] = [
        lambda d, at: d.__setitem__(at, source.randrange(256)),
        lambda d, at: d.__setitem__(at, d[at] ^ 1 << source.randrange(8)),
        lambda d, at: d.__delitem__(slice(at, None)),
        lambda d, at: d.__delitem__(slice(at, at + source.choice((1, 2, 10, 100)))),
        lambda d, at: d.__setitem__(slice(at, at), source.randbytes(source.choice((1, 2, 10)))),
        lambda d, at: d.__setitem__(slice(at, at), d[source.randrange(len(d)) :][:50]),
    ]
    for _ in range(count):
        damaged = bytearray(data)
        for _ in range(source.choice((1, 1, 1, 2, 4))):
            if damaged:
                source.choice(changes)(damaged, source.randrange(len(damaged)))
        yield bytes(damaged)
