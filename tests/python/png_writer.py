"""Writes PNGs of every kind, sound and not: Pillow's writer knows no interlacing and few depths."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
LAYOUTS = [
    (0, 1),
    (0, 2),
    (0, 4),
    (0, 8),
    (0, 16),
    (2, 8),
    (2, 16),
    (3, 1),
    (3, 2),
    (3, 4),
    (3, 8),
    (4, 8),
    (4, 16),
    (6, 8),
    (6, 16),
]
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def chunk(name: bytes, data: bytes = b"", crc: int | None = None) -> bytes:
    if crc is None:
        crc = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc)


@dataclass(frozen=True)
class Png:
    height: int
    width: int
    color: int = 2
    depth: int = 8
    interlaced: bool = False
    filters: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Taken at random per row."""
    palette: int | None = None
    """How many colours; as many as the depth has room for if None, and none at all if 0."""
    transparency: bytes | None = None
    before: tuple[bytes, ...] = ()
    """Chunks before the pixels."""
    after: tuple[bytes, ...] = ()
    split: tuple[int, ...] = ()
    """Sizes of the first IDATs; the last one holds the rest."""
    level: int = 6
    seed: int = 0
    samples: npt.NDArray[np.uint16] | None = field(default=None, compare=False)


def samples_of(png: Png) -> npt.NDArray[np.uint16]:
    """[height, width, channels]: gradients, flat areas and noise."""
    if png.samples is not None:
        return png.samples
    noise = np.random.default_rng(png.seed)
    top = (1 << png.depth) - 1
    shape = (png.height, png.width, CHANNELS[png.color])
    y, x, c = np.ogrid[: shape[0], : shape[1], : shape[2]]
    smooth = (x * 37 + y * 91 + c * 1009) * max(1, top // 255)
    flat = (x // 5 + y // 3 + c) % 3 * (top // 2 + 1)
    kind = noise.integers(0, 3, (shape[0], shape[1], 1))
    values = np.where(kind == 0, smooth, np.where(kind == 1, flat, noise.integers(0, top + 1, shape)))
    if png.seed % 3 == 0:
        values = smooth + flat  # something that filters and matches are good for
    return (values % (top + 1)).astype(np.uint16)


def pack(samples: npt.NDArray[np.uint16], depth: int) -> npt.NDArray[np.uint8]:
    """Rows of packed bytes."""
    rows = samples.reshape(samples.shape[0], -1)
    if depth == 16:
        return rows.astype(">u2").view(np.uint8).reshape(rows.shape[0], -1)
    if depth == 8:
        return rows.astype(np.uint8)
    bits = (rows[:, :, None] >> np.arange(depth - 1, -1, -1)) & 1
    return np.packbits(bits.reshape(rows.shape[0], -1).astype(np.uint8), axis=1)


def filter_row(kind: int, row: npt.NDArray[np.uint8], above: npt.NDArray[np.uint8], step: int) -> bytes:
    now, up = row.astype(int), above.astype(int)
    left = np.concatenate([np.zeros(step, int), now])[: len(now)]
    corner = np.concatenate([np.zeros(step, int), up])[: len(now)]
    guess = left + up - corner
    to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    paeth = np.where((to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner))
    predicted = [0 * now, left, up, (left + up) // 2, paeth][min(kind, 4)]
    return bytes([kind]) + ((now - predicted) % 256).astype(np.uint8).tobytes()


def stream_of(png: Png) -> bytes:
    """The filtered rows, not compressed."""
    samples = samples_of(png)
    choice = np.random.default_rng(png.seed + 1)
    step = max(1, CHANNELS[png.color] * png.depth // 8)
    out = []
    for y0, x0, dy, dx in ADAM7 if png.interlaced else [(0, 0, 1, 1)]:
        part = samples[y0::dy, x0::dx]
        if 0 in part.shape:
            continue
        rows = pack(part, png.depth)
        above = np.zeros_like(rows[0])
        for row in rows:
            out.append(filter_row(png.filters[choice.integers(len(png.filters))], row, above, step))
            above = row
    return b"".join(out)


def header(png: Png) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", png.width, png.height, png.depth, png.color, 0, 0, png.interlaced))


def palette_chunk(png: Png) -> bytes:
    count = png.palette
    if count is None:
        count = 1 << png.depth if png.color == 3 else 0
    if count == 0:
        return b""
    colors = np.random.default_rng(png.seed + 2).integers(0, 256, 3 * count)
    return chunk(b"PLTE", colors.astype(np.uint8).tobytes())


def data_chunks(data: bytes, split: tuple[int, ...] = ()) -> bytes:
    out = []
    for size in split:
        out.append(chunk(b"IDAT", data[:size]))
        data = data[size:]
    return b"".join([*out, chunk(b"IDAT", data)])


def write(png: Png, data: bytes | None = None) -> bytes:
    """The file; with `data` as its compressed pixels, if given."""
    if data is None:
        data = zlib.compress(stream_of(png), png.level)
    transparency = b"" if png.transparency is None else chunk(b"tRNS", png.transparency)
    before, after = b"".join(png.before), b"".join(png.after)
    head = SIGNATURE + header(png) + palette_chunk(png) + transparency + before
    return head + data_chunks(data, png.split) + after + chunk(b"IEND")
