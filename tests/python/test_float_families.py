"""The families ``mimo_v2`` and ``intern_vl`` against torch."""

import numpy as np
import pytest

import mmcpp
from samples import encode, noise

torch = pytest.importorskip("torch")

from float_rules import (  # noqa: E402 - it needs torch
    INTERN,
    MIMO,
    SIZES,
    intern_features,
    intern_grid,
    mimo_features,
    mimo_size,
)

WIDE = {**INTERN, "use_thumbnail": False, "max_num": 6, "image_size": 30}
THREADS = {**MIMO, "torch_threads": 3}
VIDEO = {**MIMO, "temporal_patch_size": 1, "merge_size": 1, "patch_size": 14, "min_pixels": 100}
CASES = [
    *((spec, mimo_features, size) for spec in (MIMO, THREADS, VIDEO) for size in SIZES),
    *((spec, intern_features, size) for spec in (INTERN, WIDE) for size in SIZES),
]


@pytest.mark.parametrize(("spec", "rule", "size"), CASES, ids=lambda value: str(value) if type(value) is tuple else "")
def test_features_equal_torch(spec, rule, size):
    picture = noise(*size)
    expected = rule(picture, spec)
    processor = mmcpp.ImageProcessor.from_spec(spec)
    features = processor([encode(picture)])["pixel_values"]
    assert (features.dtype, features.shape) == (np.float32, tuple(expected.shape))
    np.testing.assert_array_equal(features, expected.numpy())
    rounded = expected.to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    np.testing.assert_array_equal(processor([picture], dtype="bfloat16")["pixel_values"], rounded)
    half = expected.to(torch.float16).numpy()
    np.testing.assert_array_equal(processor([picture], dtype="float16")["pixel_values"], half)


@pytest.mark.parametrize("spec", [MIMO, INTERN], ids=lambda spec: spec["family"])
def test_bytes_are_no_feature(spec):
    with pytest.raises(mmcpp.UnsupportedError, match="no whole numbers"):
        mmcpp.ImageProcessor.from_spec(spec)([noise(30, 40)], dtype="uint8")


def test_mimo_requests_have_plain_positions_in_three_rows():
    pipeline = mmcpp.Pipeline.from_spec(MIMO)
    pictures = [noise(64, 96), noise(100, 60)]
    counts = []
    for picture in pictures:
        h, w = mimo_size(*picture.shape[:2], MIMO)
        counts.append(h * w // 32**2)
        assert pipeline.count_tokens(*picture.shape[:2]) == counts[-1]
    response = pipeline.process(input_ids=[1, 8, 5, 9, 8, 5, 9], images=pictures)
    expected = [1, 8, *[5] * counts[0], 9, 8, *[5] * counts[1], 9]
    assert list(response.input_ids) == expected
    np.testing.assert_array_equal(response.positions, np.tile(np.arange(len(expected)), (3, 1)))
    assert response.position_delta == 0
    assert response.items[0].aux["image_grid_thw"].tolist() == [1, *(n // 16 for n in mimo_size(64, 96, MIMO))]


def test_mimo_plans_from_sizes_alone():
    pipeline, rng = mmcpp.Pipeline.from_spec(MIMO), np.random.default_rng(0)
    for h, w in rng.integers(1, 3000, (1000, 2)):
        try:
            expected = mimo_size(int(h), int(w), MIMO)
        except ValueError:
            expected = (0, 0)
        if 0 in expected:
            with pytest.raises(ValueError, match="ratio|degenerates"):
                pipeline.plan(int(h), int(w))
        else:
            plan = pipeline.plan(int(h), int(w))
            assert (plan.resized_height, plan.resized_width) == expected, (h, w)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((1365, 2048), (1376, 2048)),
        ((100, 100), (96, 96)),
        ((3000, 4000), (2496, 3328)),
        ((20, 20), (96, 96)),
        ((1, 300), (32, 9600)),
        ((33, 6633), None),
    ],
)
def test_mimo_sizes_of_the_reference(size, expected):
    pipeline = mmcpp.Pipeline.from_spec({**MIMO, "min_pixels": 8192, "max_pixels": 8388608})
    if expected is None:
        with pytest.raises(ValueError, match="absolute aspect ratio must be smaller than 200, got 201"):
            pipeline.plan(*size)
    else:
        plan = pipeline.plan(*size)
        assert (plan.resized_height, plan.resized_width) == expected


def test_intern_vl_requests_wrap_what_stands_for_a_picture():
    pipeline = mmcpp.Pipeline.from_spec({**INTERN, "num_image_token": 2, "max_num": 3})
    picture = noise(56, 112)  # two tiles and their thumbnail
    response = pipeline.process(input_ids=[1, 7, 9], images=[picture])
    assert list(response.input_ids) == [1, 3, *[5] * 6, 4, 9]
    assert [tuple(offset) for offset in response.offsets] == [(2, 7)]
    assert response.positions is None


def test_intern_vl_grids_from_sizes_alone():
    pipeline, rng = mmcpp.Pipeline.from_spec(INTERN), np.random.default_rng(0)
    assert intern_grid(480, 640, 12) == (4, 3)
    for h, w in [*rng.integers(1, 3000, (300, 2)), *rng.integers(1, 9, (50, 2))]:
        columns, rows = intern_grid(int(h), int(w), 12)
        plan = pipeline.plan(int(h), int(w))
        assert (plan.resized_height, plan.resized_width) == (rows * 56, columns * 56), (h, w)
        tiles = rows * columns + (rows * columns > 1)
        assert plan.feature_shape == (tiles, 3, 56, 56)
        assert plan.tokens == tiles * 4 + 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**MIMO, "image_std": [1, 0, 1]}, "mimo_v2 spec: image_std must be nonzero"),
        ({**MIMO, "patch_size": 0}, "mimo_v2 spec: sizes must be positive, got patch_size 0"),
        ({**MIMO, "min_pixels": 70000}, "mimo_v2 spec: min_pixels 70000 is over max_pixels 60000"),
        ({**INTERN, "image_std": [1, 0, 1]}, r"intern_vl spec: image_std\[1\] is zero"),
        ({**INTERN, "img_end_token_id": -4}, "intern_vl spec: token ids must be non-negative, got img_end_token_id -4"),
        ({**INTERN, "max_num": 0}, "intern_vl spec: sizes must be positive, got max_num 0"),
        ({**INTERN, "image_size": 4096, "max_num": 1000}, "intern_vl spec: 1000 tiles of 4096 a side"),
    ],
)
def test_specs_that_are_refused(spec, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        mmcpp.ImageProcessor.from_spec(spec)
