import io

import numpy as np
import pytest
from PIL import Image

import mmcpp
from samples import encode, noise, png, png_promising, smooth


def pillow(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


FORMATS = {
    "jpeg": lambda image: encode(image, "JPEG", quality=85),
    "png": encode,
    "webp": lambda image: encode(image, "WEBP", quality=80),
    "gif": lambda image: encode(image, "GIF"),
    "bmp": lambda image: encode(image, "BMP"),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [(1, 1), (37, 53), (120, 64)])
def test_decode_equals_pillow(name, size):
    data = FORMATS[name](smooth(*size))
    pixels = mmcpp.decode_image(data)
    assert pixels.dtype == np.uint8
    np.testing.assert_array_equal(pixels, pillow(data))
    info = mmcpp.image_info(data)
    opened = Image.open(io.BytesIO(data))
    assert (info.format, info.height, info.width, info.mode) == (name, *size, opened.mode)
    assert (info.bit_depth, info.orientation, info.frames) == (8, 1, 1)


def test_profiles_decide_on_transparency():
    rgba = noise(9, 7, 4)
    data = encode(rgba)
    image = Image.fromarray(rgba)
    np.testing.assert_array_equal(mmcpp.decode_image(data), np.asarray(image.convert("RGB")))
    white = Image.new("RGBA", image.size, (255, 255, 255, 255))
    on_white = np.asarray(Image.alpha_composite(white, image).convert("RGB"))
    np.testing.assert_array_equal(mmcpp.decode_image(data, profile="hf"), on_white)
    np.testing.assert_array_equal(mmcpp.decode_image(data, profile="sglang"), rgba[:, :, :3])
    pasted = Image.new("RGB", image.size, (255, 255, 255))
    pasted.paste(image, mask=image.split()[3])
    np.testing.assert_array_equal(mmcpp.decode_image(data, profile="vllm"), np.asarray(pasted))
    assert mmcpp.image_info(data).has_alpha


def test_profiles_decide_on_16_bits():
    data = encode(Image.fromarray(np.arange(0, 60000, 1000, dtype=np.uint16).reshape(6, 10)))
    np.testing.assert_array_equal(mmcpp.decode_image(data), pillow(data))
    assert mmcpp.image_info(data).bit_depth == 16
    with pytest.raises(mmcpp.UnsupportedError, match="16"):
        mmcpp.decode_image(data, profile="sglang")


def test_profiles_decide_on_orientation():
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encode(smooth(40, 24), "JPEG", exif=exif)
    assert mmcpp.image_info(data).orientation == 6
    assert mmcpp.decode_image(data).shape == (40, 24, 3)
    turned = mmcpp.decode_image(data, profile="vllm")
    np.testing.assert_array_equal(turned, np.rot90(mmcpp.decode_image(data), -1))


def test_decode_takes_any_bytes_and_paths(tmp_path):
    data = png(5, 6)
    expected = pillow(data)
    path = tmp_path / "picture"
    path.write_bytes(data)
    for form in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8), path):
        np.testing.assert_array_equal(mmcpp.decode_image(form), expected)
        assert mmcpp.image_info(form).height == 5


def test_arrays_own_the_core_memory():
    for pixels in (mmcpp.decode_image(png(5, 6)), mmcpp.resize(noise(5, 6), 3, 4)):
        assert not pixels.flags.owndata
        assert pixels.flags.writeable
        assert pixels.flags.c_contiguous
        assert type(pixels.base).__name__ == "PyCapsule"
        assert pixels.ctypes.data % 64 == 0
        pixels[:] = 1  # ours alone to write to


@pytest.mark.parametrize("call", [mmcpp.decode_image, mmcpp.image_info])
@pytest.mark.parametrize(
    ("data", "error", "code", "match"),
    [
        (b"", ValueError, "invalid_argument", "no bytes|empty"),
        (b"hello, world", mmcpp.MmError, None, "decode"),
        (b"\x89PNG\r\n\x1a\n", mmcpp.DecodeError, "corrupt_input", "png"),
        (b"\xff\xd8\xff", mmcpp.DecodeError, "corrupt_input", "jpeg"),
        (b"II*\0" + bytes(40), mmcpp.UnsupportedError, "unsupported", "(?i)tiff"),
        (b"\0\0\0\x1cftypavif" + bytes(40), mmcpp.UnsupportedError, "unsupported", "(?i)avif"),
        (b"\0\0\0\x1cftypheic" + bytes(40), mmcpp.UnsupportedError, "unsupported", "(?i)hei[cf]"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", mmcpp.UnsupportedError, "unsupported", "(?i)svg"),
        (b"<!DOCTYPE html><html><body>404</body></html>", mmcpp.MmError, None, "(?i)html"),
    ],
)
def test_what_is_no_picture_is_named(call, data, error, code, match):
    with pytest.raises(error, match=match) as caught:
        call(data)
    assert code is None or caught.value.code == code
    assert caught.value.item is None


@pytest.mark.parametrize("name", FORMATS)
def test_truncated_pictures_are_refused(name):
    data = FORMATS[name](noise(40, 50))
    for keep in (len(data) // 2, len(data) * 9 // 10):
        with pytest.raises(mmcpp.DecodeError) as caught:
            mmcpp.decode_image(data[:keep])
        assert name in str(caught.value)


def test_a_header_that_promises_too_much_costs_nothing():
    data = png_promising(100_000, 100_000)
    assert (mmcpp.image_info(data).height, mmcpp.image_info(data).width) == (100_000, 100_000)
    with pytest.raises(mmcpp.LimitError, match="100000"):
        mmcpp.decode_image(data)
    with pytest.raises(mmcpp.MmError):
        mmcpp.decode_image(png_promising(0, 5))


def test_limits_are_honoured():
    data = png(10, 20)
    for limits in ({"max_pixels": 200}, {"max_side": 20}, {"max_encoded_bytes": len(data)}):
        mmcpp.decode_image(data, limits=mmcpp.DecodeLimits(**limits))
    for limits in ({"max_pixels": 199}, {"max_side": 19}, {"max_encoded_bytes": len(data) - 1}):
        with pytest.raises(mmcpp.LimitError, match=str(next(iter(limits.values())))):
            mmcpp.decode_image(data, limits=mmcpp.DecodeLimits(**limits))


def test_decode_refuses_what_is_no_bytes():
    with pytest.raises(TypeError, match="got a str"):
        mmcpp.decode_image("picture.png")
    with pytest.raises(TypeError, match=r"array of shape \(4, 5, 3\)"):
        mmcpp.decode_image(noise(4, 5))
    with pytest.raises(TypeError, match="got int"):
        mmcpp.image_info(5)
    with pytest.raises(ValueError, match="nosuch"):
        mmcpp.decode_image(png(4, 5), profile="nosuch")
    with pytest.raises(TypeError):
        mmcpp.decode_image(png(4, 5), limits=(1, 2, 3))


PILLOW_FILTERS = {
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


@pytest.mark.parametrize("name", PILLOW_FILTERS)
@pytest.mark.parametrize("size", [(1, 1), (50, 3), (37, 53), (200, 90)])
def test_resize_equals_pillow(name, size):
    source = noise(37, 53)
    expected = Image.fromarray(source).resize((size[1], size[0]), PILLOW_FILTERS[name])
    np.testing.assert_array_equal(mmcpp.resize(source, *size, filter=name), np.asarray(expected))


@pytest.mark.parametrize("size", [(60, 20), (37, 53), (200, 90)])
def test_resize_equals_torch(size):
    torch = pytest.importorskip("torch", reason="torch is the reference of aten_u8")
    source = noise(37, 53)
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(source).permute(2, 0, 1)[None], size, mode="bicubic", antialias=True, align_corners=False
    )[0].permute(1, 2, 0)
    np.testing.assert_array_equal(mmcpp.resize(source, *size, convention="aten_u8"), expected.numpy())


def test_resize_leaves_its_argument_alone():
    source = noise(6, 8)
    source.flags.writeable = False
    same = mmcpp.resize(source, 6, 8)
    np.testing.assert_array_equal(same, source)
    assert not np.shares_memory(same, source)


@pytest.mark.parametrize(
    ("image", "error", "match"),
    [
        (noise(4, 5).astype(np.float32), TypeError, "float32"),
        (noise(4, 5).astype(np.int8), TypeError, "int8"),
        (noise(4, 5).tolist(), TypeError, "list"),
        (None, TypeError, "NoneType"),
        (noise(4, 5)[:, ::2], ValueError, "ascontiguousarray"),
        (noise(4, 5)[:, :, ::-1], ValueError, "ascontiguousarray"),
        (np.asfortranarray(noise(4, 5)), ValueError, "ascontiguousarray"),
        (noise(5, 3).transpose(2, 1, 0), ValueError, r"shape \(3, 3, 5\)|ascontiguousarray"),
        (noise(4, 5, 4), ValueError, r"shape \(4, 5, 4\)"),
        (noise(4, 5)[0], ValueError, r"shape \(5, 3\)"),
        (np.zeros((0, 5, 3), np.uint8), ValueError, r"\(0, 5, 3\)"),
        (np.zeros((5, 0, 3), np.uint8), ValueError, r"\(5, 0, 3\)"),
    ],
)
def test_resize_refuses_other_arrays(image, error, match):
    with pytest.raises(error, match=match):
        mmcpp.resize(image, 3, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((0, 3), ValueError, "height: expected 1 to"),
        ((3, -1), ValueError, "width: .*-1"),
        ((3, 2**31), ValueError, "width: .*2147483648"),
        ((3, 10**30), ValueError, "width"),
        ((3.0, 3), TypeError, "height: expected an int, got float"),
        (("3", 3), TypeError, "height"),
    ],
)
def test_resize_refuses_other_sizes(arguments, error, match):
    with pytest.raises(error, match=match):
        mmcpp.resize(noise(4, 5), *arguments)


def test_resize_takes_numpy_integers_and_refuses_unknown_names():
    assert mmcpp.resize(noise(4, 5), np.int64(2), np.uint8(3)).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="nearest"):
        mmcpp.resize(noise(4, 5), 2, 2, filter="nearest")
    with pytest.raises(ValueError, match="opencv"):
        mmcpp.resize(noise(4, 5), 2, 2, convention="opencv")
    with pytest.raises(ValueError):
        mmcpp.resize(noise(4, 5), 2, 2, filter="hamming", convention="aten_u8")


@pytest.mark.parametrize("name", FORMATS)
def test_decode_into_an_array_of_the_caller(name):
    data = FORMATS[name](smooth(37, 53))
    out = np.full((39, 53, 3), 77, np.uint8)
    given = out[1:-1]
    pixels = mmcpp.decode_image(data, out=given)
    assert pixels is given
    np.testing.assert_array_equal(pixels, mmcpp.decode_image(data))
    assert (out[[0, -1]] == 77).all()


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


WRONG_OUTPUTS = [
    (TypeError, [[1, 2, 3]], "expected a uint8 array, got list"),
    (TypeError, np.zeros((5, 4, 3), np.float32), "got dtype float32"),
    (ValueError, read_only(np.zeros((5, 4, 3), np.uint8)), "read-only"),
    (ValueError, np.zeros((5, 8, 3), np.uint8)[:, ::2], "not C-contiguous"),
    (ValueError, np.zeros((5, 4), np.uint8), r"expected shape \[height, width, 3\]"),
    (ValueError, np.zeros((5, 4, 4), np.uint8), r"expected shape \[height, width, 3\]"),
    (ValueError, np.zeros((4, 5, 3), np.uint8), r"4x5|\(5, 4, 3\)"),
]


@pytest.mark.parametrize(("error", "out", "message"), WRONG_OUTPUTS)
def test_outputs_that_do_not_fit(error, out, message):
    data = encode(noise(5, 4))
    with pytest.raises(error, match=message):
        mmcpp.decode_image(data, out=out)
    with pytest.raises(error, match=message):
        mmcpp.resize(noise(9, 9), 5, 4, out=out)


def test_resize_into_an_array_of_the_caller():
    image, out = noise(30, 40), np.empty((11, 50, 3), np.uint8)
    assert mmcpp.resize(image, 11, 50, filter="lanczos", out=out) is out
    np.testing.assert_array_equal(out, mmcpp.resize(image, 11, 50, filter="lanczos"))
    with pytest.raises(ValueError, match="overlaps"):
        mmcpp.resize(image, 20, 40, out=image[:20])


def test_new_arrays_are_aligned():
    for array in (mmcpp.decode_image(encode(noise(5, 4))), mmcpp.resize(noise(5, 4), 3, 7)):
        assert array.ctypes.data % 64 == 0
