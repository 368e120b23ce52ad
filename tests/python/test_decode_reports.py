"""Faults that users of picture-decoding servers have met, each kind as a whole. The comparison with Pillow over many
files is in test_decode_*.py; here the picture is the one that the fault needs."""

from __future__ import annotations

import io
import itertools
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

import jpeg_writer
import mmcpp
import png_writer
from pictures import assert_equal_to_pillow, encode, picture, pillow

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")


def _refusal(data: bytes) -> mmcpp.MmError:
    with pytest.raises(mmcpp.MmError) as caught:
        mmcpp.decode_image(data)
    return caught.value


@pytest.mark.parametrize("format_name", FORMATS)
def test_only_content_decides_the_format(format_name: str, tmp_path: Path) -> None:
    image = picture("RGB", 16, 16)
    data = encode(image, format_name)
    path = tmp_path / "picture.png"  # whatever it is
    path.write_bytes(data)
    assert np.array_equal(mmcpp.decode_image(path), pillow(data))
    assert mmcpp.image_info(data).format == format_name.lower()


@pytest.mark.parametrize("format_name", FORMATS)
def test_damage_is_the_senders_fault(format_name: str) -> None:
    """Never a RuntimeError or MemoryError, which a server would answer with 500."""
    data = encode(picture("RGB", 16, 16), format_name)
    for size in range(1, len(data)):
        try:
            mmcpp.decode_image(data[:size])
        except mmcpp.MmError as error:
            assert isinstance(error, mmcpp.DecodeError | mmcpp.UnsupportedError)
            assert error.code in {"corrupt_input", "unsupported"}
    error = _refusal(data[: len(data) // 2])
    assert isinstance(error, mmcpp.DecodeError)
    assert str(error).startswith(f"{format_name.lower()}: ")


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_file_without_its_end(format_name: str) -> None:
    for mode, size in itertools.product(("RGB", "L"), ((16, 16), (300, 200))):
        data = encode(picture(mode, *size), format_name)
        cuts = {n: data[:-n] for n in (1, 2, 3, 4, 10, 12, 13, len(data) // 2, len(data) - 30)}
        assert_equal_to_pillow((f"{mode} {size} without {n} bytes", cut) for n, cut in cuts.items())


def test_a_jpeg_that_lacks_a_byte_of_its_end_is_refused() -> None:
    for progressive in (False, True):
        data = encode(picture("RGB", 64, 48), "JPEG", progressive=progressive)
        for missing in (1, 2, 3, 10):
            assert isinstance(_refusal(data[:-missing]), mmcpp.DecodeError)
        assert "ends at byte" in str(_refusal(data[:-10]))


def test_no_bytes_and_noise() -> None:
    with pytest.raises(ValueError, match="no bytes"):
        mmcpp.decode_image(b"")
    noise = bytes([7, 200, 131, 9, 44, 1, 255, 3, 18, 90] * 2)
    assert isinstance(_refusal(noise), mmcpp.UnsupportedError)


def test_gray_has_three_equal_channels() -> None:
    for options in ({}, {"progressive": True}, {"exif": b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"}):
        data = encode(picture("L", 33, 17), "JPEG", **options)
        pixels = mmcpp.decode_image(data)
        assert pixels.shape == (33, 17, 3)
        assert (pixels == pixels[..., :1]).all()
        assert_equal_to_pillow([(str(options), data)])


def _red_on_blue(height: int, width: int) -> Image.Image:
    image = Image.new("RGB", (width, height), (0, 0, 255))
    ImageDraw.Draw(image).text((0, 0), "mW", (255, 0, 0), ImageFont.load_default(min(height, 20)))
    return image


def test_chroma_edges_are_smoothed_as_libjpeg_does() -> None:
    sizes = ((17, 23), (16, 16), (24, 31), (1, 40), (40, 1))
    cases = []
    for (height, width), sampling, quality in itertools.product(sizes, (0, 1, 2), (75, 95)):
        data = encode(_red_on_blue(height, width), "JPEG", subsampling=sampling, quality=quality)
        cases.append((f"{height}x{width} {sampling} {quality}", data))
    for number, luma in enumerate(((1, 2), (4, 1), (4, 2), (1, 4), (3, 1))):
        for height, width in sizes:
            frame = jpeg_writer.Frame(height, width, (luma, (1, 1), (1, 1)), seed=number, amplitude=60)
            cases.append((f"{frame}", jpeg_writer.write(frame)))
    assert_equal_to_pillow(cases)


def _four_components() -> Iterator[tuple[str, bytes]]:
    light = Image.new("CMYK", (16, 16), (10, 20, 5, 8))
    known = Image.new("CMYK", (16, 16), (100, 50, 20, 60))
    for name, image in (("light", light), ("known", known), ("picture", picture("CMYK", 33, 18))):
        data = encode(image, "JPEG", quality=95)
        at = data.index(b"Adobe")
        start, length = at - 4, int.from_bytes(data[at - 2 : at], "big")
        yield f"{name}, Adobe, transform 0", data
        yield f"{name}, Adobe, transform 2", data[: at + 11] + b"\2" + data[at + 12 :]
        yield f"{name}, Adobe, transform 1", data[: at + 11] + b"\1" + data[at + 12 :]
        yield f"{name}, no Adobe segment", data[:start] + data[start + 2 + length :]
        profile = b"\xff\xe2" + struct.pack(">H", 2 + 14 + 4) + b"ICC_PROFILE\0\1\1" + b"junk"
        yield f"{name}, with a profile", data[:2] + profile + data[2:]
    for number, adobe in itertools.product(range(20), (None, 0, 2)):
        sampling = (((1, 1),) * 4, ((2, 2), (1, 1), (1, 1), (2, 2)), ((2, 1), (1, 1), (1, 1), (2, 1)))[number % 3]
        frame = jpeg_writer.Frame(9 + number, 31 - number, sampling, adobe=adobe, seed=number)
        yield f"{frame}", jpeg_writer.write(frame)


def test_four_components_are_inverted_ink() -> None:
    cases = dict(_four_components())
    assert_equal_to_pillow(cases.items())
    known = mmcpp.decode_image(cases["known, Adobe, transform 0"])[8, 8].astype(int)
    assert np.abs(known - (119, 157, 180)).max() <= 3  # what JPEG leaves of CMYK(100, 50, 20, 60)


def test_ycck_is_no_negative() -> None:
    """Ink of a light picture as luma and chroma, which an Adobe segment announces: light it stays."""
    luma_and_black = jpeg_writer.Frame(16, 16, ((1, 1),) * 4, adobe=2, seed=3, amplitude=2)
    data = jpeg_writer.write(luma_and_black)
    wanted = pillow(data)
    assert wanted is not None
    assert np.array_equal(mmcpp.decode_image(data), wanted)


@pytest.mark.parametrize("format_name", ["PNG", "WEBP"])
def test_what_lies_under_transparency(format_name: str) -> None:
    for height, width in ((1, 1), (300, 400)):
        pixels = np.zeros((height, width, 4), np.uint8)
        pixels[...] = (10, 20, 30, 0)
        pixels[height // 3 :] = (255, 0, 0, 128)
        pixels[2 * height // 3 :] = (1, 2, 3, 255)
        options = {"lossless": True, "exact": True} if format_name == "WEBP" else {}
        data = encode(Image.fromarray(pixels), format_name, **options)
        for profile in ("pillow", "hf", "vllm"):
            assert_equal_to_pillow([(f"{height}x{width}", data)], profile)
        if height > 1:
            assert mmcpp.decode_image(data, profile="sglang")[0, 0].tolist() == [10, 20, 30]
            assert mmcpp.decode_image(data, profile="vllm")[0, 0].tolist() == [255, 255, 255]
            assert mmcpp.decode_image(data, profile="vllm")[height // 2, 0].tolist() == [255, 127, 127]


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, about what it converts
def test_transparent_entries_of_a_palette_at_every_depth(depth: int) -> None:
    """No room is taken for an alpha that the result does not have."""
    cases = []
    for width, alphas in itertools.product((1, 2, 3, 9, 64), (b"\0", b"\xff\0", b"\x80\x01\xfe", bytes(1 << depth))):
        for interlaced in (False, True):
            png = png_writer.Png(2, width, 3, depth, interlaced, transparency=alphas[: 1 << depth])
            cases.append((f"{png}", png_writer.write(png)))
    for profile in ("pillow", "hf", "vllm"):
        assert_equal_to_pillow(cases, profile)
    assert all(mmcpp.decode_image(data).shape[2] == 3 for _, data in cases)


def test_sixteen_bits_are_clipped_in_gray_and_cut_in_colour() -> None:
    """As Pillow has it: of gray nearly all is white, of colours the high byte counts."""
    ramp = np.arange(0, 65536, 257, dtype=np.uint16)[None, :, None]
    files = {
        color: png_writer.write(png_writer.Png(1, 256, color, 16, samples=np.repeat(ramp, channels, axis=2)))
        for color, channels in png_writer.CHANNELS.items()
        if color != 3  # there are no palettes of 16 bits
    }
    assert_equal_to_pillow((f"colour type {color}", data) for color, data in files.items())
    assert np.unique(mmcpp.decode_image(files[0])).tolist() == [0, 255]
    for color in (2, 4, 6):
        assert mmcpp.decode_image(files[color])[0, :, 0].tolist() == list(range(256))


@pytest.mark.parametrize("name", [b"IHDR", b"iCCP", b"iTXt", b"PLTE", b"abCd", b"IDAT", b"IEND"])
def test_wrong_checksums_of_a_png(name: bytes) -> None:
    """Those of the pixels and of what follows them do not count, all others do."""
    png = png_writer.Png(9, 11)
    head, stream = png_writer.header(png), zlib.compress(png_writer.stream_of(png))
    chunks = [(b"IDAT", stream), (b"IEND", b"")]
    if name not in {b"IHDR", b"IDAT", b"IEND"}:
        content = {b"iCCP": b"a\0\0" + zlib.compress(b"profile"), b"iTXt": b"a\0\0\0\0\0text"}.get(name, b"abc")
        chunks.insert(0, (name, content))
    cases = []
    for wrong, end in itertools.product((False, True), (b"", b"more")):
        parts = [head[:-1] + bytes([head[-1] ^ (wrong and name == b"IHDR")])]
        for key, data in chunks:
            parts.append(png_writer.chunk(key, data, zlib.crc32(key + data) ^ (wrong and key == name)))
        file = png_writer.SIGNATURE + b"".join(parts) + end
        assert (pillow(file) is None) == (wrong and name not in {b"IDAT", b"IEND"})
        cases.append((f"{wrong} {end!r}", file))
    assert_equal_to_pillow(cases)


def _bombs() -> dict[str, bytes]:
    flat = io.BytesIO()
    Image.new("L", (20000, 20000)).save(flat, "PNG")
    webp = bytearray(encode(picture("RGB", 8, 8), "WEBP", lossless=True))
    webp[21:25] = (16382 | 16382 << 14).to_bytes(4, "little")
    canvas = bytearray(encode(picture("RGB", 8, 8), "WEBP", save_all=True, append_images=[picture("RGB", 8, 8, 1)]))
    canvas[24:30] = b"\xfe\x3f\0\xfe\x3f\0"
    bmp = bytearray(encode(picture("RGB", 8, 8), "BMP"))
    bmp[22:26] = struct.pack("<i", -(2**31))
    gif = encode(picture("P", 8, 8), "GIF")
    frame = struct.pack("<BHHHHB", 0x2C, 40000, 40000, 25000, 25000, 0) + b"\2\1\x44\0;"
    return {
        "PNG of one colour": flat.getvalue(),
        "JPEG header": b"\xff\xd8\xff\xc0\0\x0b\x08\xff\xff\xff\xff\1\1\x11\0\xff\xda\0\x08\1\1\0\0\x3f\0",
        "WebP": bytes(webp),
        "WebP canvas": bytes(canvas),
        "BMP of negative height": bytes(bmp),
        "GIF screen": gif[:6] + b"\xff\xff\xff\xff" + gif[10:],
        "GIF frame beyond its screen": b"GIF89a\1\0\1\0\x80\0\0" + bytes(6) + frame,
    }


def _peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status[status.index("VmHWM:") :].split()[1])


def test_bombs_are_refused_from_the_header() -> None:
    for name, data in _bombs().items():
        before = _peak_kib()
        error = _refusal(data)
        assert isinstance(error, mmcpp.LimitError), f"{name}: {error}"
        assert error.code == "limit_exceeded"
        assert "limit of" in str(error) or "too large" in str(error), f"{name}: {error}"
        assert _peak_kib() - before < 16 * 1024, name


def test_limits_are_the_calls_own() -> None:
    data = encode(picture("RGB", 20, 30), "JPEG")
    for limits in ({"max_pixels": 599}, {"max_side": 29}, {"max_encoded_bytes": len(data) - 1}):
        with pytest.raises(mmcpp.LimitError, match="limit of"):
            mmcpp.decode_image(data, limits=mmcpp.DecodeLimits(**limits))
    assert mmcpp.decode_image(data, limits=mmcpp.DecodeLimits(max_pixels=600, max_side=30)).shape == (20, 30, 3)
    assert mmcpp.decode_image(data).shape == (20, 30, 3)


REFUSED_FORMATS = {
    "TIFF": b"II*\0\x08\0\0\0",
    "HEIC": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
    "HEIC sequence": b"\0\0\0\x18ftyphevc\0\0\0\0msf1hevc",
    "AVIF": b"\0\0\0\x1cftypavif\0\0\0\0mif1avif",
    "AVIF sequence": b"\0\0\0\x1cftypavis\0\0\0\0avisavif",
    "JPEG XL": b"\0\0\0\x0cJXL \r\n\x87\n",
    "JPEG 2000": b"\0\0\0\x0cjP  \r\n\x87\n",
    "FITS": b"SIMPLE  =                    T" + b" " * 50,
    "PSD": b"8BPS\0\1\0\0\0\0\0\0",
    "EPS": b"\xc5\xd0\xd3\xc6\0\0\0\0",
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n",
    "DDS": b"DDS \x7c\0\0\0",
    "ICNS": b"icns\0\0\1\0",
    "ICO": b"\0\0\1\0\1\0\xff\xff",
    "BLP": b"BLP2\1\0\0\0",
    "SGI": b"\x01\xda\1\1\0\3",
    "SVG": b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>",
    "PDF": b"%PDF-1.7\n",
    "MP4": b"\0\0\0\x20ftypisom\0\0\2\0isomiso2",
    "ZIP": b"PK\3\4\x14\0\0\0",
    "HTML": b"\n<!doctype html><html><head><title>404 Not Found</title>",
    "JSON": b'{"error": "not found"}',
    "text": b"no such picture",
}


@pytest.mark.parametrize("name", REFUSED_FORMATS)
def test_other_formats_are_refused_by_name(name: str) -> None:
    error = _refusal(REFUSED_FORMATS[name])
    assert isinstance(error, mmcpp.UnsupportedError)
    assert error.code == "unsupported"
    assert name.split(maxsplit=1)[0] in str(error)
    with pytest.raises(mmcpp.UnsupportedError):
        mmcpp.image_info(REFUSED_FORMATS[name])


def test_no_size_is_too_small_for_the_decoder() -> None:
    cases = []
    for side in (1, 2, 7, 8, 9, 63, 64):
        for sampling in (0, 1, 2):
            cases.append((f"{side} {sampling}", encode(picture("RGB", side, side), "JPEG", subsampling=sampling)))
        frame = jpeg_writer.Frame(side, side, ((4, 1), (1, 1), (1, 1)), seed=side)
        cases.append((f"{frame}", jpeg_writer.write(frame)))
        frame = jpeg_writer.Frame(side, side, ((1, 1),) * 3, adobe=0, seed=side)  # RGB, not YCbCr
        cases.append((f"{frame}", jpeg_writer.write(frame)))
    assert_equal_to_pillow(cases)


def test_processes_that_are_not_decoded_are_unsupported() -> None:
    for sof, precision in ((0xC1, 12), (0xC5, 8), (0xC6, 8), (0xC7, 8), (0xCB, 8), (0xCD, 8), (0xCF, 8)):
        frame = jpeg_writer.Frame(8, 8, ((1, 1),), sof=sof, precision=precision)
        assert isinstance(_refusal(jpeg_writer.write(frame)), mmcpp.UnsupportedError), hex(sof)


def test_versions_of_the_codec_libraries_are_known() -> None:
    codecs = mmcpp.build_info().codecs
    assert {"libjpeg-turbo", "libwebp"} <= set(codecs)
    assert all(version[0].isdigit() for version in codecs.values())
