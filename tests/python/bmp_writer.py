"""Writes BMPs and DIBs of every kind, sound and not."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

import numpy as np

RAW, RLE8, RLE4, BITFIELDS = range(4)

MASKS = {
    16: [(0xF800, 0x7E0, 0x1F, 0), (0x7C00, 0x3E0, 0x1F, 0)],
    24: [(0xFF0000, 0xFF00, 0xFF, 0)],
    32: [
        (0xFF0000, 0xFF00, 0xFF, 0),
        (0xFF000000, 0xFF0000, 0xFF00, 0),
        (0xFF000000, 0xFF00, 0xFF, 0),
        (0xFF000000, 0xFF0000, 0xFF00, 0xFF),
        (0xFF, 0xFF00, 0xFF0000, 0xFF000000),
        (0xFF0000, 0xFF00, 0xFF, 0xFF000000),
        (0xFF000000, 0xFF00, 0xFF, 0xFF0000),
        (0, 0, 0, 0),
    ],
}


@dataclass(frozen=True)
class Bmp:
    height: int
    width: int
    bits: int = 24
    header: int = 40
    """Bytes of the info header."""
    compression: int = RAW
    top_down: bool = False
    masks: tuple[int, int, int, int] = (0, 0, 0, 0)
    palette: bytes | None = None
    """Random if None and there should be one."""
    colors: int | None = None
    """As the header says; the number of colours of the palette if None."""
    file_header: bool = True
    """Whether it is a BMP and not a bare DIB."""
    offset: int | None = None
    """Of the pixels, as the file header says; the right one if None."""
    gap: int = 0
    """Bytes between palette and pixels."""
    seed: int = 0


def stride(bmp: Bmp) -> int:
    return (bmp.width * bmp.bits + 31) // 32 * 4


def palette_of(bmp: Bmp) -> bytes:
    if bmp.palette is not None:
        return bmp.palette
    if bmp.bits > 8:
        return b""
    size = (3 if bmp.header == 12 else 4) << bmp.bits
    return np.random.default_rng(bmp.seed).integers(0, 256, size).astype(np.uint8).tobytes()


def gray_palette(colors: int, step: int = 1, padding: int = 4) -> bytes:
    return b"".join(bytes([i * step % 256] * 3) + b"\0" * (padding - 3) for i in range(colors))


def rle(bmp: Bmp, *, sound: bool = True) -> bytes:
    """A random program for the RLE decoder. A sound one fills the picture row by row; another may also run over rows
    and leave things out."""
    source = random.Random(bmp.seed)
    four = bmp.compression == RLE4
    out = bytearray()
    for _row in range(bmp.height):
        x = 0
        while x < bmp.width:
            left = bmp.width - x
            kind = source.random()
            if kind < 0.5 or left < 3:
                count = source.randint(1, min(left, 255))
                out += bytes([count, source.randrange(256)])
            elif kind < 0.85:
                count = source.randint(3, min(left, 255))
                size = (count + 1) // 2 if four else count
                out += bytes([0, count]) + source.randbytes(size)
                if len(out) % 2:
                    out += b"\0"
            else:
                count = source.randint(0, min(left - 1, 255))
                up = 0 if sound else source.choice((0, 0, 1, 2))
                out += bytes([0, 2, count, up])
                if not sound and source.random() < 0.2:
                    out += bytes([source.randint(1, 255), source.randrange(256)])
            x += count
            if not sound and source.random() < 0.05:
                out += bytes([0, 0])
        if sound or source.random() < 0.9:
            out += bytes([0, 0])
    if sound or source.random() < 0.5:
        out += bytes([0, 1])
    return bytes(out)


def pixels_of(bmp: Bmp) -> bytes:
    return np.random.default_rng(bmp.seed + 1).integers(0, 256, stride(bmp) * bmp.height).astype(np.uint8).tobytes()


def write(bmp: Bmp, data: bytes | None = None) -> bytes:
    """The file; with `data` as its pixels, if given."""
    palette = palette_of(bmp)
    if bmp.header == 12:
        info = struct.pack("<IHHHH", 12, bmp.width, bmp.height, 1, bmp.bits)
    else:
        colors = len(palette) // 4 if bmp.colors is None else bmp.colors
        height = -bmp.height & 0xFFFFFFFF if bmp.top_down else bmp.height
        numbers = (bmp.header, bmp.width, height, 1, bmp.bits, bmp.compression, 0, 2835, 2835, colors, 0)
        info = struct.pack("<IIIHHIIIIII", *numbers)
        if bmp.compression == BITFIELDS or bmp.header > 40:
            masks = struct.pack("<IIII", *bmp.masks)
            info += masks[:12] if bmp.header == 40 else masks
        info = info[: max(bmp.header, 52 if bmp.compression == BITFIELDS else 0)].ljust(bmp.header, b"\0")
    if data is None:
        data = rle(bmp) if bmp.compression in (RLE8, RLE4) else pixels_of(bmp)
    start = b""
    if bmp.file_header:
        offset = 14 + len(info) + len(palette) + bmp.gap if bmp.offset is None else bmp.offset
        start = b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset)
    return start + info + palette + bytes(bmp.gap) + data
