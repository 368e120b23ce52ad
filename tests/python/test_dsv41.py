import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

import mmcpp
from mmcpp import dsv41
from samples import encode, noise, reference_image

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "reference_crate.json").read_text(encoding="utf-8"))
CASES = [case for case in GOLDEN["cases"] if case["op"] == "dsv41.resize_patchify"]
PICTURE = noise(4, 5)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['h']}x{c['w']}")
def test_patches_equal_the_stored_results_of_the_crate(case):
    sizes = [tuple(case[key]) for key in ("output", "resize", "pad")]
    bits = dsv41.resize_patchify(reference_image(case["h"], case["w"]), *sizes, case["patch_size"])
    assert (bits.dtype, bits.ndim) == (np.uint16, 1)
    assert f"{mmcpp.content_hash(bits):016x}" == case["hash"]


def to_bits(canvas, side):
    values = (canvas.astype(np.float32) / np.float32(255) - np.float32(0.5)) / np.float32(0.5)
    bits = values.view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    rows, columns = canvas.shape[0] // side, canvas.shape[1] // side
    patches = rounded.reshape(rows, side, columns, side, 3).transpose(0, 2, 4, 1, 3)
    return patches.reshape(-1, 3, side, side)


def test_the_pillow_generation_may_be_named():
    image = noise(400, 30)
    resized = Image.fromarray(image).resize((60, 70), Image.Resampling.BICUBIC)
    bits = dsv41.resize_patchify(image, (70, 60), (70, 60), (0, 0), 10, pillow_generation=13)
    np.testing.assert_array_equal(bits, to_bits(np.asarray(resized), 10).reshape(-1))
    assert not np.array_equal(dsv41.resize_patchify(image, (70, 60), (70, 60), (0, 0), 10), bits)


GEOMETRY = "invalid V4.1 image geometry"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1], (4, 6), (4, 6), (0, 0), 2), TypeError, "'list' object is not an instance of 'ndarray'"),
        ((PICTURE, [4, 6], (4, 6), (0, 0), 2), TypeError, "'list' object is not an instance of 'tuple'"),
        (
            (PICTURE, (4, 6, 1), (4, 6), (0, 0), 2),
            ValueError,
            "expected tuple of length 2, but got tuple of length 3",
        ),
        ((noise(4, 5, 4), (0, 6), (4, 6), (0, 0), 2), ValueError, "expected HWC RGB"),
        ((PICTURE[:, ::2], (0, 6), (4, 6), (0, 0), 2), ValueError, "expected contiguous RGB"),
        ((np.asfortranarray(PICTURE), (4, 6), (4, 6), (0, 0), 2), ValueError, "expected contiguous RGB"),
        ((PICTURE, (0, 6), (4, 6), (0, 0), 2), ValueError, GEOMETRY),
        ((PICTURE, (4, 6), (5, 6), (0, 0), 2), ValueError, GEOMETRY),
        ((PICTURE, (4, 6), (4, 5), (0, 2), 2), ValueError, GEOMETRY),
        ((PICTURE, (4, 6), (4, 6), (0, 0), 0), ValueError, GEOMETRY),
        ((PICTURE, (4, 6), (4, 6), (0, 0), 4), ValueError, GEOMETRY),
        ((np.zeros((0, 5, 3), np.uint8), (4, 6), (4, 6), (0, 0), 2), ValueError, GEOMETRY),
        ((PICTURE, (2**63, 2), (4, 6), (0, 0), 2), ValueError, GEOMETRY),
        ((PICTURE, (2**33, 2**33), (4, 6), (0, 0), 2), ValueError, "V4.1 output size overflow"),
        ((PICTURE, (-4, 6), (4, 6), (0, 0), 2), OverflowError, "can't convert negative int to unsigned"),
        ((PICTURE, (4.0, 6), (4, 6), (0, 0), 2), TypeError, "'float' object cannot be interpreted as an integer"),
    ],
)
def test_refusals_have_the_words_of_the_crate(arguments, error, message):
    with pytest.raises(error) as caught:
        dsv41.resize_patchify(*arguments)
    assert str(caught.value) == message


def test_canvases_beyond_the_limit_are_refused():
    with pytest.raises(mmcpp.LimitError, match="the limits are 268435456 pixels"):
        dsv41.resize_patchify(PICTURE, (2**20, 2**20), (4, 6), (0, 0), 2)
    with pytest.raises(mmcpp.LimitError, match="patches of 1024"):
        dsv41.resize_patchify(PICTURE, (2048, 2048), (4, 6), (0, 0), 2048)


SPEC = {
    "family": "dsv41",
    "image_token_id": 5,
    "vision_patch_size": 14,
    "vision_downsample_ratio": 3,
    "vision_min_pixels": 9000,
    "vision_max_n_token": 150,
    "vision_max_wh_ratio": 6,
}


def planned(height, width, spec):
    """(height, width, tokens) of the canvas, as sglang 0.5.23's plan_image_grid has them."""
    p, cell, budget = spec["vision_patch_size"], spec["vision_patch_size"] * 3, spec["vision_max_n_token"]
    if "vision_max_wh_ratio" in spec:
        width = min(width, height * spec["vision_max_wh_ratio"])
    if 0 < width * height < spec["vision_min_pixels"]:
        scale = (spec["vision_min_pixels"] / (width * height)) ** 0.5
        width, height = int(width * scale), int(height * scale)

    def tokens(h, w):
        return math.ceil((h // p) / 3) * (math.ceil((w // p) / 3) + 1) + 2

    h, w = math.ceil(height / p) * p, math.ceil(width / p) * p
    if tokens(h, w) > budget:
        ratio = height / width
        across = math.sqrt((budget - 2) / ratio + 0.25) - 0.5
        down = across * ratio
        if across < 1:
            h, w = (budget - 2) // 2 * cell, cell
        elif down < 1:
            h, w = cell, (budget - 3) * cell
        else:
            beta = min(math.floor(across) * cell / width, math.floor(down) * cell / height)
            h, w = math.floor(height * beta / p) * p, math.floor(width * beta / p) * p
    return h, w, tokens(h, w)


SIZES = [(1, 1), (3, 200), (200, 3), (40, 40), (97, 61), (300, 500), (500, 300), (611, 1200), (60, 361), (60, 359)]


@pytest.mark.parametrize("ratio", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_the_image_processor_equals_pillow_and_numpy(size, ratio):
    spec = {k: v for k, v in SPEC.items() if ratio or k != "vision_max_wh_ratio"}
    image = Image.fromarray(noise(*size))
    h, w, tokens = planned(*size, spec)
    if ratio and size[1] >= 6 * size[0]:
        canvas = image.resize((w, h))
    else:
        canvas = ImageOps.pad(image, (w, h), color=(127, 127, 127))
    expected = to_bits(np.asarray(canvas), 14)
    result = mmcpp.ImageProcessor.from_spec(spec)([encode(image)], dtype="bfloat16")
    np.testing.assert_array_equal(np.asarray(result["pixel_values"]), expected)
    assert [np.asarray(result[name]).tolist() for name in ("n_vit_h", "n_vit_w")] == [[h // 14], [w // 14]]
    pipeline = mmcpp.Pipeline.from_spec(spec)
    assert pipeline.count_tokens(*size) == tokens
    response = pipeline.process(input_ids=[1, 5, 2], images=[encode(image)])
    assert list(response.input_ids) == [1, *[5] * tokens, 2]


def test_many_plans_from_sizes_alone():
    pipeline, rng = mmcpp.Pipeline.from_spec(SPEC), np.random.default_rng(0)
    for h, w in rng.integers(1, 3000, (1000, 2)):
        expected = planned(int(h), int(w), SPEC)
        plan = pipeline.plan(int(h), int(w))
        assert (plan.resized_height, plan.resized_width, plan.tokens) == expected, (h, w)
