"""A small JPEG writer for tests: random coefficients in any frame that the standard allows, so that
samplings, component counts, markers and scans that no ordinary encoder writes can be tried."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

_DC_SYMBOLS = list(range(12))
_AC_SYMBOLS = [0x00, 0xF0] + [run << 4 | size for size in range(1, 8) for run in range(16)]
_EOB, _ZRL = 0x00, 0xF0


def _segment(marker: int, payload: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload


def _ceil(number: int, step: int) -> int:
    return -(-number // step)


def _lengths(symbols: list[int]) -> list[int]:
    """Code lengths, shortest first, under which a code of all ones is left over."""
    return [4 if i < 8 or len(symbols) < 15 else 8 for i in range(len(symbols))]


def _table(symbols: list[int]) -> tuple[bytes, dict[int, tuple[int, int]]]:
    counts = [0] * 16
    codes = {}
    code = length = 0
    for symbol, bits in zip(symbols, _lengths(symbols), strict=True):
        code <<= bits - length
        length = bits
        codes[symbol] = (code, bits)
        counts[bits - 1] += 1
        code += 1
    if code >= 1 << length:
        raise ValueError(f"no room for {len(symbols)} symbols")
    return bytes(counts) + bytes(symbols), codes


_DC_TABLE, _DC_CODES = _table(_DC_SYMBOLS)
_AC_TABLE, _AC_CODES = _table(_AC_SYMBOLS)


class _Bits:
    def __init__(self) -> None:
        self._value = self._count = 0
        self.bytes = bytearray()

    def put(self, value: int, count: int) -> None:
        self._value = self._value << count | value
        self._count += count
        while self._count >= 8:
            self._count -= 8
            byte = self._value >> self._count & 0xFF
            self.bytes.append(byte)
            if byte == 0xFF:
                self.bytes.append(0)
        self._value &= (1 << self._count) - 1

    def align(self) -> None:
        if self._count:
            self.put((1 << 8 - self._count) - 1, 8 - self._count)


@dataclass
class Frame:
    """What to write. `sampling` is (horizontal, vertical) per component."""

    height: int
    width: int
    sampling: tuple[tuple[int, int], ...]
    ids: tuple[int, ...] | None = None
    adobe: int | None = None  # the transform of an Adobe segment
    jfif: bool = False
    restart: int = 0  # MCUs between restart markers
    progressive: bool = False  # DC scan, then a scan of AC coefficients for each component
    interleaved: bool = True
    precision: int = 8
    sof: int | None = None
    eoi: bool = True
    app: bytes = b""  # segments behind SOI
    seed: int = 0
    amplitude: int = 20


def write(frame: Frame) -> bytes:
    """The file."""
    return _Writer(frame).write()


class _Writer:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.random = random.Random(frame.seed)
        self.ids = frame.ids or tuple(range(1, len(frame.sampling) + 1))

    def write(self) -> bytes:
        frame = self.frame
        out = b"\xff\xd8" + frame.app
        if frame.jfif:
            out += _segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
        if frame.adobe is not None:
            out += _segment(0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([frame.adobe]))
        out += _segment(0xDB, b"\0" + bytes(self.random.randrange(1, 12) for _ in range(64)))
        sof = frame.sof if frame.sof is not None else 0xC2 if frame.progressive else 0xC0
        components = b"".join(
            bytes([number, h << 4 | v, 0]) for number, (h, v) in zip(self.ids, frame.sampling, strict=True)
        )
        out += _segment(
            sof, struct.pack(">BHHB", frame.precision, frame.height, frame.width, len(frame.sampling)) + components
        )
        out += _segment(0xC4, b"\x00" + _DC_TABLE + b"\x10" + _AC_TABLE)
        if frame.restart:
            out += _segment(0xDD, struct.pack(">H", frame.restart))
        everything = list(range(len(frame.sampling)))
        if frame.progressive:
            scans = [(everything, 0, 0)] + [([c], 1, 63) for c in everything]
        elif frame.interleaved:
            scans = [(everything, 0, 63)]
        else:
            scans = [([c], 0, 63) for c in everything]
        for components_of_scan, start, end in scans:
            out += self._scan(components_of_scan, start, end)
        return out + (b"\xff\xd9" if frame.eoi else b"")

    def _scan(self, components: list[int], start: int, end: int) -> bytes:
        header = bytes([len(components)]) + b"".join(bytes([self.ids[c], 0]) for c in components)
        out = _segment(0xDA, header + bytes([start, end, 0]))
        bits = _Bits()
        last_dc = [0] * len(self.frame.sampling)
        for number, mcu in enumerate(self._mcus(components)):
            if self.frame.restart and number and number % self.frame.restart == 0:
                bits.align()
                out += bytes(bits.bytes) + bytes([0xFF, 0xD0 + (number // self.frame.restart - 1) % 8])
                bits = _Bits()
                last_dc = [0] * len(self.frame.sampling)
            for component in mcu:
                self._block(bits, component, last_dc, start, end)
        bits.align()
        return out + bytes(bits.bytes)

    def _mcus(self, components: list[int]) -> list[list[int]]:
        """For each MCU of the scan, the component of each of its blocks."""
        frame = self.frame
        h_max = max(h for h, _ in frame.sampling)
        v_max = max(v for _, v in frame.sampling)
        if len(components) == 1:
            h, v = frame.sampling[components[0]]
            columns = _ceil(_ceil(frame.width * h, h_max), 8)
            rows = _ceil(_ceil(frame.height * v, v_max), 8)
            return [components] * (columns * rows)
        columns = _ceil(frame.width, 8 * h_max)
        rows = _ceil(frame.height, 8 * v_max)
        mcu = [c for c in components for _ in range(frame.sampling[c][0] * frame.sampling[c][1])]
        return [mcu] * (columns * rows)

    def _block(self, bits: _Bits, component: int, last_dc: list[int], start: int, end: int) -> None:
        if start == 0:
            value = self.random.randrange(-60, 60)
            self._number(bits, _DC_CODES, 0, value - last_dc[component])
            last_dc[component] = value
        if end == 0:
            return
        position = max(start, 1)
        while position <= end and self.random.random() < 0.8:
            run = min(self.random.choice((0, 0, 0, 1, 2, 5, 17)), end - position)
            while run > 15:
                bits.put(*_AC_CODES[_ZRL])
                run -= 16
                position += 16
            position += run + 1
            value = self.random.randrange(1, self.frame.amplitude) * self.random.choice((-1, 1))
            self._number(bits, _AC_CODES, run, value)
        if position <= end:
            bits.put(*_AC_CODES[_EOB])

    @staticmethod
    def _number(bits: _Bits, codes: dict[int, tuple[int, int]], run: int, value: int) -> None:
        size = abs(value).bit_length()
        bits.put(*codes[run << 4 | size])
        bits.put(value if value >= 0 else value + (1 << size) - 1, size)
