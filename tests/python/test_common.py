import json
import math
from pathlib import Path

import numpy as np
import pytest

import mmcpp
from mmcpp import common
from samples import encode, noise, png, reference_image

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "reference_crate.json").read_text(encoding="utf-8"))
RESIZES = [case for case in GOLDEN["cases"] if case["op"] == "resize_rgb"]


@pytest.mark.parametrize("case", RESIZES, ids=lambda c: f"{c['h']}x{c['w']}-{c['out_h']}x{c['out_w']}-{c['resample']}")
def test_resize_equals_the_stored_results_of_the_crate(case):
    image = reference_image(case["h"], case["w"])
    result = common.resize_rgb(image, case["out_w"], case["out_h"], case["resample"])
    assert result.shape == (case["out_h"] * case["out_w"] * 3,)
    assert f"{mmcpp.content_hash(result):016x}" == case["hash"]


def test_resize_knows_both_pillow_generations():
    image = noise(400, 30)
    for generation, convention in ((12, "pillow12"), (13, "pillow")):
        flat = common.resize_rgb(image, 20, 50, pillow_generation=generation)
        expected = mmcpp.resize(image, 50, 20, filter="lanczos", convention=convention)
        np.testing.assert_array_equal(flat.reshape(50, 20, 3), expected)


def test_there_are_two_pillow_generations():
    with pytest.raises(ValueError, match="pillow_generation: expected 12 or 13, got 11"):
        common.resize_rgb(noise(4, 5), 3, 3, pillow_generation=11)


def test_a_picture_without_pixels_gives_zeros():
    for shape in ((0, 5, 3), (5, 0, 3)):
        np.testing.assert_array_equal(common.resize_rgb(np.zeros(shape, np.uint8), 2, 3), np.zeros(18, np.uint8))


NO_ARRAY = "object is not an instance of 'ndarray'"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((noise(4, 5), 0, 3), ValueError, "output size must be positive"),
        ((noise(4, 5), 3, 0, "foo"), ValueError, "output size must be positive"),
        (
            (noise(4, 5, 4), 3, 3, "foo"),
            ValueError,
            'unknown resample "foo"; expected "pil_lanczos", "pil_bicubic" or "aten_u8"',
        ),
        ((noise(4, 5, 4)[:, ::2], 3, 3), ValueError, "expected HWC RGB array with 3 channels, got 4"),
        ((noise(4, 5)[:, ::2], 3, 3), ValueError, "array must be C-contiguous"),
        ((np.asfortranarray(noise(4, 5)), 3, 3), ValueError, "array must be C-contiguous"),
        ((noise(4, 5).astype(float), 3, 3), TypeError, f"'ndarray' {NO_ARRAY}"),
        ((noise(4, 5)[0], 3, 3), TypeError, f"'ndarray' {NO_ARRAY}"),
        (([1], 3, 3), TypeError, f"'list' {NO_ARRAY}"),
        ((noise(4, 5), -3, 3), OverflowError, "can't convert negative int to unsigned"),
        ((noise(4, 5), 3.0, 3), TypeError, "'float' object cannot be interpreted as an integer"),
        ((noise(4, 5), 3, 3, 5), TypeError, "'int' object is not an instance of 'str'"),
    ],
)
def test_resize_refuses_with_the_words_of_the_crate(arguments, error, message):
    with pytest.raises(error) as caught:
        common.resize_rgb(*arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((7, 5), (7, 5)),
        ((7, 5, None, 3), (7, 5)),
        ((7, 5, 1.5), (11, 8)),
        ((3, 3, 0.5), (2, 2)),
        ((100, 50, 2.0, 150), (150, 75)),
        ((100, 50, 2.0, -5), (100, 50)),
        ((100, 50, math.inf, 200), (200, 100)),
        ((0, 5, 2.0), (1, 10)),
        ((0, 0, 2.0), (0, 0)),
        ((5, 5, math.nan), (1, 1)),
        ((100, 50, -1.0, 200), (1, 1)),
        ((5, 5, 0.0), (1, 1)),
        ((5, 5, math.inf), (2**63 - 1, 2**63 - 1)),
        ((2**63, 5, 2.0), (2**63 - 1, 10)),
        ((np.int64(7), np.uint8(5), np.float32(1.5)), (11, 8)),
    ],
)
def test_scaled_dims(arguments, expected):
    assert common.scaled_dims(*arguments) == expected


def test_scaled_dims_refuses_other_sizes():
    with pytest.raises(OverflowError):
        common.scaled_dims(-1, 5)
    for arguments in ((5.0, 5), (5, 5, "x"), (5, 5, 2.0, 9.5)):
        with pytest.raises(TypeError):
            common.scaled_dims(*arguments)
    with pytest.raises(OverflowError):
        common.scaled_dims(5, 5, 2.0, 2**63)


def test_decode_gives_sizes_and_flat_pixels():
    rgba = noise(6, 8, 4)
    height, width, pixels = common.image_decode_rgb(encode(rgba))
    assert (height, width) == (6, 8)
    np.testing.assert_array_equal(pixels, rgba[:, :, :3].reshape(-1))


def test_decode_errors_begin_as_in_the_crate():
    for data in (b"", b"hello", png(5, 5)[:60], encode(noise(5, 5, 1)[:, :, 0].astype(np.uint16) * 257)):
        with pytest.raises(ValueError, match=r"^image decode: ") as caught:
            common.image_decode_rgb(data)
        assert caught.value.code
    with pytest.raises(mmcpp.UnsupportedError):
        common.image_decode_rgb(encode(noise(5, 5, 1)[:, :, 0].astype(np.uint16) * 257))


@pytest.mark.parametrize(
    "data",
    [b"abc", bytearray(b"abc"), memoryview(b"abc"), (97, 98, 99), [97, np.int8(98), 99], np.array([97, 98, 99])],
)
def test_bytes_are_any_sequence_of_integers(data):
    assert common.content_hash(data) == 0x6437B3AC38465133


def test_hashes_of_the_crate():
    for case in GOLDEN["hashes"]:
        assert common.content_hash(case["text"].encode()) == int(case["u64"], 16)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ("x", TypeError, "Can't extract `str` to `Vec`"),
        (None, TypeError, "'None' is not an instance of 'Sequence'"),
        (5, TypeError, "'int' object is not an instance of 'Sequence'"),
        ({1}, TypeError, "'set' object is not an instance of 'Sequence'"),
        ([1, 300], OverflowError, "number too large to fit in target type"),
        ([1, -3], OverflowError, "number too small to fit in target type"),
        ([1, 2.5], TypeError, "'float' object cannot be interpreted as an integer"),
    ],
)
def test_what_is_no_bytes_is_refused_with_the_words_of_the_crate(data, error, message):
    for call in (common.content_hash, common.image_decode_rgb):
        with pytest.raises(error) as caught:
            call(data)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aGVsbG8", "Invalid padding"),
        ("aGVsbG8==", "Invalid symbol 61, offset 7."),
        ("a", "Invalid input length: 1"),
        ("aH==", "Invalid last symbol 72, offset 1."),
        ("aGVs\nbG8=", "Invalid symbol 10, offset 4."),
        ("é===", "Invalid symbol 195, offset 0."),
    ],
)
def test_base64_refuses_with_the_words_of_the_crate(text, message):
    with pytest.raises(ValueError) as caught:
        common.base64_decode(text)
    assert str(caught.value) == f"base64 decode error: {message}"


def test_base64():
    assert common.base64_decode("aGVsbG8=") == b"hello"
    assert common.base64_decode("") == b""
    with pytest.raises(TypeError, match="'bytes' object is not an instance of 'str'"):
        common.base64_decode(b"aa==")


def fetch_error(source, **options):
    with pytest.raises(ValueError) as caught:
        common.fetch_bytes(source, **options)
    return str(caught.value)


def test_fetch_bytes_takes_every_form_of_the_crate(tmp_path):
    path = tmp_path / "a%20b.bin"
    path.write_bytes(b"hello")
    for source in (
        str(path),
        f"file://{path}",
        "aGVsbG8=",
        "data:,aGVsbG8=",
        "data:text/plain,aGVsbG8=",
        "\u2003aGVsbG8=\n",
    ):
        assert common.fetch_bytes(source) == b"hello"
    for source in ("", "  ", "data:,", "/dev/null"):
        assert common.fetch_bytes(source) == b""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("data:", "malformed data: URL"),
        ("data:x", "malformed data: URL"),
        ("aGVsbG8", "base64 decode: Invalid padding"),
        ("aGVs bG8=", "base64 decode: Invalid symbol 32, offset 4."),
        ("\x1caGVsbG8=", "base64 decode: Invalid symbol 28, offset 0."),
        ("DATA:,aGVsbG8=", "base64 decode: Invalid symbol 58, offset 4."),
        ("ftp://x", "base64 decode: Invalid symbol 58, offset 3."),
        ("data:x,y,aGVsbG8=", "base64 decode: Invalid symbol 44, offset 1."),
        ("/nonexistent", "/nonexistent: No such file or directory (os error 2)"),
        ("file://", ": No such file or directory (os error 2)"),
        ("file://localhost/x", "localhost/x: No such file or directory (os error 2)"),
        ("/tmp", "read /tmp: Is a directory (os error 21)"),
        ("/a\0b", "/a\0b: file name contained an unexpected NUL byte"),
        ("/dev/zero", "/dev/zero: exceeds the request media byte budget"),
    ],
)
def test_fetch_bytes_says_what_the_crate_says(source, message):
    assert fetch_error(source) == f"media fetch: {message}"


def test_fetch_bytes_counts_base64_before_it_decodes():
    most = 64 << 20
    assert len(common.fetch_bytes("A" * (most // 3 * 4) + "AA==")) == most
    assert fetch_error("A" * (most // 3 * 4 + 4)) == (
        "media fetch: base64 payload: exceeds the request media byte budget"
        " (decoded size 67108866 bytes, 67108864 bytes remaining)"
    )


def test_fetch_bytes_over_http(web_server):
    assert common.fetch_bytes(web_server.url("/a b")) == b"/a%20b"
    assert common.fetch_bytes(web_server.url("/redirect/4")) == b"end"
    for path, detail in (
        ("/status/404", "status code 404"),
        ("/redirect/5", "Too Many Redirects: reached max redirects (5)"),
    ):
        url = web_server.url(path)
        assert fetch_error(url) == f"media fetch: GET {url}: {url}: {detail}"
    url = web_server.url("/to?file:///etc/hostname")  # where the crate panics
    assert "leaves http and https" in fetch_error(url)


def test_fetch_bytes_under_a_policy(tmp_path, web_server):
    path = tmp_path / "a%20b.bin"
    path.write_bytes(b"hello")
    policy = mmcpp.FetchPolicy(file_roots=[tmp_path], schemes=["file", "http"], max_bytes=5)
    assert common.fetch_bytes(str(path), policy=policy) == b"hello"
    assert "below an allowed folder" in fetch_error("/etc/hostname", policy=policy)
    assert "not allowed (loopback)" in fetch_error(web_server.url("/"), policy=policy)
    assert "base64 sources are not allowed" in fetch_error("aGVsbG8=", policy=policy)
    assert "data sources are not allowed" in fetch_error("data:,aGVsbG8=", policy=policy)
    assert "budget (decoded size 6 bytes, 5 bytes remaining)" in fetch_error(
        "aGVsbG8h", policy=mmcpp.FetchPolicy(max_bytes=5)
    )


def test_fetch_bytes_takes_strings_alone():
    with pytest.raises(TypeError, match="^'bytes' object is not an instance of 'str'$"):
        common.fetch_bytes(b"aGVsbG8=")
