"""Orientation, from whole and from malformed metadata: what Pillow 13's ImageOps.exif_transpose does."""

from __future__ import annotations

import io
import random
import struct
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageOps

import mmcpp
from pictures import assert_equal_to_pillow, encode, picture

ORIENTATION = 0x0112
SHORT, LONG, RATIONAL = 3, 4, 5


def tiff(entries: list[bytes], order: str = "<", tail: bytes = b"", head: bytes | None = None, first: int = 8) -> bytes:
    """A TIFF stream with one directory of entries, and bytes behind it."""
    if head is None:
        head = b"II*\0" if order == "<" else b"MM\0*"
    directory = struct.pack(order + "H", len(entries)) + b"".join(entries) + b"\0\0\0\0"
    return head + struct.pack(order + "L", first) + directory + tail


def entry(tag: int, kind: int, count: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HHL", tag, kind, count) + value.ljust(4, b"\0")[:4]


def orientation_entry(value: int, kind: int = SHORT, order: str = "<") -> bytes:
    return entry(ORIENTATION, kind, 1, struct.pack(order + ("H" if kind == SHORT else "L"), value), order)


def with_app1(*payloads: bytes, size: tuple[int, int] = (16, 24)) -> bytes:
    """A JPEG with these application segments behind its SOI marker."""
    data = encode(picture("RGB", *size), "JPEG")
    segments = b"".join(b"\xff\xe1" + struct.pack(">H", len(p) + 2) + p for p in payloads)
    return data[:2] + segments + data[2:]


def pillow_orientation(data: bytes) -> int:
    """1 to 8, as exif_transpose turns; 1 where Pillow cannot read the metadata, as vLLM passes over that."""
    image = Image.open(io.BytesIO(data))
    try:
        value = image.getexif().get(ORIENTATION, 1)
        return next((whole for whole in range(1, 9) if value == whole), 1)
    except Exception:  # Pillow raises whatever it meets
        return 1


def assert_orientation(data: bytes, orientation: int) -> None:
    assert pillow_orientation(data) == orientation
    assert mmcpp.image_info(data).orientation == orientation


@pytest.mark.parametrize("format_name", ["JPEG", "WEBP", "PNG"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", [SHORT, LONG])
def test_every_orientation(format_name: str, order: str, kind: int) -> None:
    for orientation in range(10):
        exif = b"Exif\0\0" + tiff([orientation_entry(orientation, kind, order)], order)
        for height, width in ((16, 24), (5, 1), (1, 7), (70, 41)):
            image = picture("RGB", height, width)
            data = encode(image, format_name, exif=exif)
            info = mmcpp.image_info(data)
            assert info.orientation == (orientation if 1 <= orientation <= 8 else 1)
            assert (info.height, info.width) == (height, width)  # as stored
            turned = mmcpp.decode_image(data, profile="vllm")
            expected = np.array(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
            assert np.array_equal(turned, expected)
            assert np.array_equal(mmcpp.decode_image(data), np.array(Image.open(io.BytesIO(data))))  # not turned


# Blank, doubled, cut and looped headers, wrong types and places: the picture is shown, turned or not.
MALFORMED = {
    "header alone": b"Exif\0\0",
    "half a header": b"Exif",
    "doubled header": b"Exif\0\0Exif\0\0" + tiff([orientation_entry(6)]),
    "tripled header": b"Exif\0\0Exif\0\0Exif\0\0" + tiff([orientation_entry(6)]),
    "unknown byte order": b"Exif\0\0XX*\0" + tiff([orientation_entry(6)])[4:],
    "II in big-endian words": b"Exif\0\0" + tiff([orientation_entry(6)], head=b"II\0*"),
    "MM in little-endian words": b"Exif\0\0" + tiff([orientation_entry(6, order=">")], ">", head=b"MM*\0"),
    "BigTIFF, big-endian": b"Exif\0\0" + tiff([orientation_entry(6, order=">")], ">", head=b"MM\0+"),
    "BigTIFF, little-endian": b"Exif\0\0" + tiff([orientation_entry(6)], head=b"II+\0"),
    "short header": b"Exif\0\0II*\0\x08",
    "no directory": b"Exif\0\0II*\0\x08\0\0\0",
    "directory beyond the end": b"Exif\0\0" + tiff([orientation_entry(6)], first=5000),
    "directory at the header": b"Exif\0\0" + tiff([orientation_entry(6)], first=0),
    "directory that points at itself": b"Exif\0\0" + tiff([orientation_entry(6)])[:-4] + b"\x08\0\0\0",
    "cut directory": b"Exif\0\0" + tiff([orientation_entry(6)])[:-6],
    "cut behind the orientation": b"Exif\0\0" + tiff([orientation_entry(6)])[:-4],
    "more entries than there are": b"Exif\0\0" + tiff([]).replace(b"\0\0\0\0\0\0", b"\xff\xff") + orientation_entry(6),
    "as LONG": b"Exif\0\0" + tiff([orientation_entry(6, LONG)]),
    "as BYTE": b"Exif\0\0" + tiff([entry(ORIENTATION, 1, 1, b"\6")]),
    "as text": b"Exif\0\0" + tiff([entry(ORIENTATION, 2, 2, b"6\0")]),
    "as UNDEFINED": b"Exif\0\0" + tiff([entry(ORIENTATION, 7, 1, b"\6")]),
    "as SBYTE": b"Exif\0\0" + tiff([entry(ORIENTATION, 6, 1, b"\6")]),
    "as SSHORT below zero": b"Exif\0\0" + tiff([entry(ORIENTATION, 8, 1, b"\xfa\xff")]),
    "as FLOAT": b"Exif\0\0" + tiff([entry(ORIENTATION, 11, 1, struct.pack("<f", 6))]),
    "as half a FLOAT": b"Exif\0\0" + tiff([entry(ORIENTATION, 11, 1, struct.pack("<f", 6.5))]),
    "as DOUBLE": b"Exif\0\0" + tiff([entry(ORIENTATION, 12, 1, b"\x1a")], tail=struct.pack("<d", 6)),
    "as RATIONAL": b"Exif\0\0" + tiff([entry(ORIENTATION, RATIONAL, 1, b"\x1a")], tail=struct.pack("<LL", 12, 2)),
    "as RATIONAL over zero": b"Exif\0\0" + tiff([entry(ORIENTATION, RATIONAL, 1, b"\x1a")], tail=bytes(8)),
    "as SRATIONAL": b"Exif\0\0" + tiff([entry(ORIENTATION, 10, 1, b"\x1a")], tail=struct.pack("<ll", -12, -2)),
    "of an unknown type, then a known": b"Exif\0\0" + tiff([entry(ORIENTATION, 99, 1, b"\3"), orientation_entry(6)]),
    "twice": b"Exif\0\0" + tiff([orientation_entry(6), orientation_entry(3)]),
    "without a value, then with": b"Exif\0\0" + tiff([entry(ORIENTATION, SHORT, 0, b"\3"), orientation_entry(6)]),
    "with three values": b"Exif\0\0" + tiff([entry(ORIENTATION, SHORT, 3, b"\x1a")], tail=struct.pack("<HHH", 6, 1, 1)),
    "behind a value that is not there": b"Exif\0\0" + tiff([entry(0x10F, 2, 20, b"\xff\xff"), orientation_entry(6)]),
    "behind a value larger than all": b"Exif\0\0" + tiff([entry(0x10F, 2, 9999, b"\x1a"), orientation_entry(6)]),
    "of zero": b"Exif\0\0" + tiff([orientation_entry(0)]),
    "of nine": b"Exif\0\0" + tiff([orientation_entry(9)]),
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.filterwarnings("ignore")
def test_malformed_exif_is_no_error(name: str) -> None:
    data = with_app1(MALFORMED[name])
    assert mmcpp.image_info(data).orientation == pillow_orientation(data)
    expected = {"doubled header": 6, "as LONG": 6, "header alone": 1, "of nine": 1, "cut behind the orientation": 6}
    if name in expected:
        assert mmcpp.image_info(data).orientation == expected[name]
    assert mmcpp.decode_image(data, profile="vllm").size == 16 * 24 * 3


def test_several_exif_segments_are_joined() -> None:
    whole = b"Exif\0\0" + tiff([orientation_entry(8)])
    assert_orientation(with_app1(whole[:20], b"Exif\0\0" + whole[20:]), 8)
    assert_orientation(with_app1(whole, b"Exif\0\0" + tiff([orientation_entry(3)])), 8)


def _xmp(body: str) -> bytes:
    return b"http://ns.adobe.com/xap/1.0/\0" + body.encode()


@pytest.mark.filterwarnings("ignore")
def test_xmp_counts_where_exif_is_silent() -> None:
    six = _xmp('<x:xmpmeta><rdf:Description tiff:Orientation="6"/>')
    assert_orientation(with_app1(six), 6)
    assert_orientation(with_app1(_xmp("<tiff:Orientation>3</tiff:Orientation>")), 3)
    assert_orientation(with_app1(_xmp("tiff:Orientation tiff:Orientation='8' tiff:Orientation=\"5\" ")), 5)
    assert_orientation(with_app1(_xmp('tiff:Orientation="0"')), 1)
    assert_orientation(with_app1(b"Exif\0\0" + tiff([entry(0x10F, 2, 2, b"x\0")]), six), 6)
    assert_orientation(with_app1(b"Exif\0\0" + tiff([orientation_entry(3)]), six), 3)
    assert_orientation(with_app1(b"Exif\0\0" + tiff([orientation_entry(0)]), six), 1)
    assert_orientation(with_app1(b"Exif\0\0junk", six), 1)
    webp = encode(picture("RGB", 16, 24), "WEBP", xmp=b'tiff:Orientation="7"')
    assert_orientation(webp, 7)


def _random_exif(source: random.Random) -> bytes:
    order = source.choice("<>")
    entries = []
    for _ in range(source.randrange(5)):
        tag = source.choice((ORIENTATION, ORIENTATION, 0x10F, 0x8769, 0x9003))
        size = source.choice((1, 1, 1, 2, 3, 9, 300, 2**31))
        if source.random() < 0.5:
            value = struct.pack(order + "L", source.randrange(90))
        else:
            value = struct.pack(order + "H", source.randrange(10))
        entries.append(entry(tag, source.randrange(18), size, value, order))
    data = bytearray(
        tiff(entries, order, source.randbytes(source.randrange(40)), first=source.choice((8,) * 8 + (0, 9)))
    )
    for _ in range(source.choice((0, 0, 0, 1, 2))):
        data[source.randrange(len(data))] = source.randrange(256)
    if source.random() < 0.2:
        del data[source.randrange(len(data)) :]
    return b"Exif\0\0" + bytes(data)


def _random_cases(count: int) -> Iterator[tuple[str, bytes]]:
    source = random.Random(7)
    plain = encode(picture("RGB", 3, 5), "JPEG")
    for number in range(count):
        exif = _random_exif(source)
        segment = b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif
        # Behind the JFIF segment and its density, so that Pillow has no reason to look into the EXIF itself.
        density = plain[:13] + b"\1" + plain[14:]
        yield f"{number}: {exif!r}", density[:20] + segment + density[20:]


def test_random_exif_is_read_as_pillow_reads_it() -> None:
    orientations = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in _random_cases(4000):
            orientations.add(mmcpp.image_info(data).orientation)
            assert mmcpp.image_info(data).orientation == pillow_orientation(data), name
        assert orientations == set(range(1, 9))
        assert assert_equal_to_pillow(_random_cases(300)) == 300
