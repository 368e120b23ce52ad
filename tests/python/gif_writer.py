"""Writes GIFs of every kind, sound and not."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

GRAY_RAMP = bytes(i for i in range(256) for _ in range(3))


def lzw(pixels: bytes, bits: int, *, end: bool = True, clear_every: int = 0, table_size: int = 4096) -> bytes:
    """LZW data, not in sub-blocks. `table_size` below 4096 keeps to a smaller table; when the table is full, codes are
    used on as they are unless `clear_every` counts pixels to the next clear code."""
    clear = 1 << bits
    out, value, filled = bytearray(), 0, 0

    def put(code: int, size: int) -> None:
        nonlocal value, filled
        value |= code << filled
        filled += size
        while filled >= 8:
            out.append(value & 255)
            value >>= 8
            filled -= 8

    def fresh() -> dict[bytes, int]:
        return {bytes([i]): i for i in range(min(clear, 256))}

    table, size, next_code = fresh(), bits + 1, clear + 2
    put(clear, size)
    string = b""
    for i, pixel in enumerate(pixels):
        longer = string + bytes([pixel])
        if longer in table:
            string = longer
            continue
        put(table[string], size)
        if next_code < table_size:
            table[longer] = next_code
        if next_code < 4096:  # the decoder adds one for every code
            next_code += 1
            if next_code > 1 << size and size < 12:  # it is one entry behind
                size += 1
        string = bytes([pixel])
        if clear_every and i % clear_every == 0:
            put(table[string], size)
            if next_code < 4096 and next_code + 1 > 1 << size and size < 12:
                size += 1
            put(clear, size)
            table, size, next_code, string = fresh(), bits + 1, clear + 2, b""
    if string:
        put(table[string], size)
        if next_code < 4096 and next_code + 1 > 1 << size and size < 12:
            size += 1
    if end:
        put(clear + 1, size)
    if filled:
        out.append(value & 255)
    return bytes(out)


def blocks(data: bytes, size: int = 255, *, terminator: bool = True) -> bytes:
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\0" * terminator


def extension(label: int, *parts: bytes, terminator: bool = True) -> bytes:
    return b"!" + bytes([label]) + b"".join(bytes([len(p)]) + p for p in parts) + b"\0" * terminator


def control(*, disposal: int = 0, transparent: int | None = None, delay: int = 10) -> bytes:
    flags = disposal << 2 | (transparent is not None)
    return extension(249, struct.pack("<BHB", flags, delay, transparent or 0))


@dataclass(frozen=True)
class Frame:
    height: int
    width: int
    y: int = 0
    x: int = 0
    bits: int = 8
    interlaced: bool = False
    palette: bytes | None = None
    transparent: int | None = None
    disposal: int = 0
    has_control: bool = True
    colors: int = 256
    """Indices stay below."""
    clear_every: int = 0
    end: bool = True
    terminator: bool = True
    block: int = 255
    table_size: int = 4096
    seed: int = 0


def palette_bits(palette: bytes) -> int:
    return max(1, (len(palette) // 3 - 1).bit_length()) - 1


def pixels_of(frame: Frame) -> bytes:
    """In the order of the stream; flat areas beside noise."""
    source = np.random.default_rng(frame.seed)
    top = min(frame.colors, 1 << frame.bits)
    y, x = np.mgrid[: frame.height, : frame.width]
    noise = source.integers(0, top, (frame.height, frame.width))
    values = np.where((x // 7 + y // 4) % 3 == 0, noise, (x // 5 * 3 + y // 6) % top)
    return values.astype(np.uint8).tobytes()


def image(frame: Frame, data: bytes | None = None) -> bytes:
    """A frame; with `data` as its sub-blocks, if given."""
    flags = 64 * frame.interlaced
    if frame.palette is not None:
        flags |= 128 | palette_bits(frame.palette)
    out = b""
    if frame.has_control:
        out = control(disposal=frame.disposal, transparent=frame.transparent)
    out += b"," + struct.pack("<HHHHB", frame.x, frame.y, frame.width, frame.height, flags) + (frame.palette or b"")
    if data is None:
        codes = lzw(
            pixels_of(frame), frame.bits, end=frame.end, clear_every=frame.clear_every, table_size=frame.table_size
        )
        data = blocks(codes, frame.block, terminator=frame.terminator)
    return out + bytes([frame.bits]) + data


def random_palette(colors: int, seed: int) -> bytes:
    return np.random.default_rng(seed).integers(0, 256, 3 * colors).astype(np.uint8).tobytes()


def write(
    height: int,
    width: int,
    *parts: bytes,
    palette: bytes | None = None,
    background: int = 0,
    version: bytes = b"GIF89a",
    trailer: bytes = b";",
) -> bytes:
    """A file of a screen and of parts, made by image() and extension()."""
    flags = 0x70 if palette is None else 0xF0 | palette_bits(palette)
    screen = struct.pack("<HHBBB", width, height, flags, background, 0)
    return version + screen + (palette or b"") + b"".join(parts) + trailer
