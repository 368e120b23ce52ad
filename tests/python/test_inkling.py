import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mmcpp
from mmcpp import common, inkling
from samples import encode, noise, png, reference_image, smooth

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "reference_crate.json").read_text(encoding="utf-8"))
PATCHES = [case for case in GOLDEN["cases"] if case["op"] == "inkling.patchify_rgb"]
PADDING = [0xBFE7, 0xBFE2, 0xBFBF]


@pytest.mark.parametrize("case", PATCHES, ids=lambda c: f"{c['h']}x{c['w']}")
def test_patches_equal_the_stored_results_of_the_crate(case):
    bits = inkling.patchify_rgb(reference_image(case["h"], case["w"]), case["patch_size"])
    assert (bits.dtype, bits.ndim) == (np.uint16, 1)
    assert f"{mmcpp.content_hash(bits):016x}" == case["hash"]


def expected_patches(image, side):
    """What sglang's own Python does, value by value; bits of bfloat16."""
    mean = np.array([0.48145466, 0.4578275, 0.40821073], np.float32)
    std = np.array([0.26862954, 0.2613026, 0.2757771], np.float32)
    h, w = image.shape[:2]
    rows, columns = -(-h // side), w // side + 1
    canvas = np.full((rows * side, columns * side, 3), np.float32(-1 / 255), np.float32)
    canvas[:h, :w] = image.astype(np.float32) * np.float32(1 / 255)
    bits = ((canvas - mean) / std).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return rounded.reshape(rows, side, columns, side, 3).transpose(0, 2, 1, 3, 4).reshape(-1, side, side, 3)


@pytest.mark.parametrize("size", [(40, 80), (41, 79), (1, 1), (300, 7), (100, 163)])
@pytest.mark.parametrize("side", [1, 16, 40])
def test_patches_equal_the_rule_written_out(size, side):
    image = noise(*size)
    np.testing.assert_array_equal(inkling.patchify_rgb(image, side), expected_patches(image, side).reshape(-1))


def test_all_functions_agree():
    images = [smooth(50, 70), smooth(33, 21)]
    files = [encode(image) for image in images]
    batch = inkling.preprocess_images(files, 16, 2.0, 100)
    for image, file, (h, w, bits, content_hash) in zip(images, files, batch, strict=True):
        assert (w, h) == common.scaled_dims(image.shape[1], image.shape[0], 2.0, 100)
        assert content_hash == common.content_hash(file)
        resized = common.resize_rgb(image, w, h).reshape(h, w, 3)
        np.testing.assert_array_equal(bits, inkling.patchify_rgb(resized, 16))
        single = inkling.decode_patchify(file, 16, 2.0, 100)
        given = inkling.rescale_patchify_hash(image, file, 16, 2.0, 100)
        assert (single[:2], given[:2], given[3]) == ((h, w), (h, w), content_hash)
        np.testing.assert_array_equal(single[2], bits)
        np.testing.assert_array_equal(given[2], bits)
        assert bits.flags.writeable
    for one, other in zip(inkling.decode_patchify_batch(files, 16, 2.0, 100), batch, strict=True):
        assert one[:2] == other[:2]
        np.testing.assert_array_equal(one[2], other[2])
    assert inkling.preprocess_images([], 16) == inkling.decode_patchify_batch((), 16) == []


def test_the_pillow_generation_may_be_named():
    image, file = noise(400, 30), encode(noise(400, 30))
    for generation in (12, 13):
        flat = common.resize_rgb(image, 6, 80, pillow_generation=generation)
        bits = inkling.patchify_rgb(flat.reshape(80, 6, 3), 16)
        np.testing.assert_array_equal(inkling.decode_patchify(file, 16, 0.2, pillow_generation=generation)[2], bits)
    with pytest.raises(ValueError, match="expected 12 or 13, got 11"):
        inkling.decode_patchify(file, 16, pillow_generation=11)


@pytest.mark.parametrize(
    ("size", "rescale", "expected"),
    [
        ((4, 5), (math.nan,), (1, 1)),
        ((4, 5), (math.nan, 7), (6, 7)),
        ((4, 5), (math.inf, 7), (6, 7)),
        ((4, 5), (0.0,), (1, 1)),
        ((4, 5), (-1.0, -(2**63)), (1, 1)),
        ((4, 5), (2.0, -(2**63)), (4, 5)),
        ((4, 5), (None, 2), (4, 5)),
        ((0, 5), (2.0,), (1, 10)),
        ((0, 5), (), (0, 5)),
        ((5, 0), (), (5, 0)),
        ((0, 0), (2.0,), (0, 0)),
    ],
)
def test_odd_scales_and_empty_pictures_as_in_the_crate(size, rescale, expected):
    h, w, bits, _ = inkling.rescale_patchify_hash(np.full((*size, 3), 9, np.uint8), b"", 3, *rescale)
    assert (h, w) == expected
    assert bits.size == -(-h // 3) * (w // 3 + 1) * 27
    if size == (5, 0):
        np.testing.assert_array_equal(bits, np.tile(PADDING, 18))


PICTURE = noise(4, 5)
NO_ARRAY = "object is not an instance of 'ndarray'"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: inkling.patchify_rgb(PICTURE[:, ::2], 0), ValueError, "patch_size must be greater than zero"),
        (
            lambda: inkling.patchify_rgb(noise(4, 5, 4)[:, ::2], 2),
            ValueError,
            "expected HWC RGB array with 3 channels, got 4",
        ),
        (lambda: inkling.patchify_rgb(PICTURE[:, ::2], 2), ValueError, "array must be C-contiguous"),
        (lambda: inkling.patchify_rgb(np.asfortranarray(PICTURE), 2), ValueError, "array must be C-contiguous"),
        (lambda: inkling.patchify_rgb([1], -2), TypeError, f"'list' {NO_ARRAY}"),
        (lambda: inkling.patchify_rgb(PICTURE.astype(float), 2), TypeError, f"'ndarray' {NO_ARRAY}"),
        (lambda: inkling.patchify_rgb(PICTURE, -2), OverflowError, "can't convert negative int to unsigned"),
        (lambda: inkling.patchify_rgb(PICTURE, 2**64), OverflowError, "int too big to convert"),
        (lambda: inkling.patchify_rgb(PICTURE, 5000), mmcpp.LimitError, "patch_size 5000 is over 4096"),
        (lambda: inkling.decode_patchify(b"", 0), ValueError, "patch_size must be greater than zero"),
        (lambda: inkling.decode_patchify(b"", 3, "x"), TypeError, "must be real number, not str"),
        (lambda: inkling.decode_patchify("x", 3), TypeError, "Can't extract `str` to `Vec`"),
        (lambda: inkling.decode_patchify_batch(b"ab", 3), TypeError, "'int' object is not an instance of 'Sequence'"),
        (lambda: inkling.decode_patchify_batch("ab", 3), TypeError, "Can't extract `str` to `Vec`"),
        (lambda: inkling.decode_patchify_batch(None, 3), TypeError, "'None' is not an instance of 'Sequence'"),
        (lambda: inkling.decode_patchify_batch([], 0), ValueError, "patch_size must be greater than zero"),
        (
            lambda: inkling.rescale_patchify_hash(PICTURE, bytearray(b"a"), 0),
            TypeError,
            "'bytearray' object is not an instance of 'bytes'",
        ),
        (
            lambda: inkling.rescale_patchify_hash(PICTURE, b"", 3, 1, 1.5),
            TypeError,
            "'float' object cannot be interpreted as an integer",
        ),
        (
            lambda: inkling.rescale_patchify_hash(PICTURE, b"", 3, 1, 2**63),
            OverflowError,
            "Python int too large to convert to C long",
        ),
    ],
)
def test_refusals_have_the_words_of_the_crate(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_decode_errors_begin_as_in_the_crate():
    for data in (b"", b"hello", png(5, 5)[:60]):
        with pytest.raises(ValueError, match="^image decode: "):
            inkling.decode_patchify(data, 8)


def test_of_several_bad_pictures_the_first_is_reported():
    files = [png(5, 5), png(5, 5)[:60], b"hello"]
    with pytest.raises(mmcpp.DecodeError) as caught:
        inkling.preprocess_images(files, 8)
    assert caught.value.item == 1


@pytest.mark.parametrize("fraction", [1e6, 1e300, math.inf])
def test_a_huge_rescale_is_an_error_and_no_crash(fraction):
    with pytest.raises(mmcpp.LimitError, match="^(rescale|patches): "):
        inkling.rescale_patchify_hash(PICTURE, b"", 3, fraction)
    with pytest.raises(mmcpp.LimitError, match="^(rescale|patches): "):
        inkling.decode_patchify(png(5, 5), 3, fraction)


def test_the_image_processor_equals_the_rule_written_out():
    spec = {
        "family": "inkling",
        "image_token_id": 5,
        "patch_size": 16,
        "rescale_image_frac": 2.0,
        "rescale_image_max_upscaled_long_edge": 100,
    }
    processor = mmcpp.ImageProcessor.from_spec(spec)
    for size in ((30, 20), (60, 90), (130, 60)):
        image = noise(*size)
        w, h = common.scaled_dims(size[1], size[0], 2.0, 100)
        resized = np.asarray(Image.fromarray(image).resize((w, h), Image.Resampling.LANCZOS))
        expected = expected_patches(resized, 16)
        result = processor([encode(image)], dtype="bfloat16")
        features = np.asarray(result["vision_patches_bthwc"])
        assert features.shape == (len(expected), 2, 16, 16, 3)
        for copy in (0, 1):
            np.testing.assert_array_equal(features[:, copy], expected)
        assert np.asarray(result["num_patches"]).tolist() == [len(expected)]
        # Counts from sizes alone.
        assert mmcpp.Pipeline.from_spec(spec).plan(*size).tokens == len(expected)
