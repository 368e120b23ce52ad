import base64
import json
from pathlib import Path

import numpy as np
import pytest

import mmcpp
from mmcpp import qwen_vl
from samples import CLIP, encode, noise, png, reference_image

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "reference_crate.json").read_text(encoding="utf-8"))
KEYS = {
    "image_token_id": 5,
    "patch_size": 14,
    "merge_size": 2,
    "temporal_patch_size": 2,
    "min_pixels": 3136,
    "max_pixels": 1003520,
    **CLIP,
}
DIRECT = json.dumps(KEYS)
TAGGED = json.dumps({**KEYS, "family": "qwen_vl"})


def stored(op):
    return [case for case in GOLDEN["cases"] if case["op"] == op]


@pytest.mark.parametrize("case", stored("qwen_vl.preprocess"), ids=lambda c: f"{c['h']}x{c['w']}-{c['resample']}")
def test_preprocess_equals_the_stored_results_of_the_crate(case):
    image = encode(reference_image(case["h"], case["w"]))
    spec = json.dumps({**case["spec"], "resample": case["resample"]})
    features, grid = qwen_vl.preprocess(image, spec)
    assert (features.dtype, features.shape) == (np.float32, (case["numel"],))
    assert list(grid) == case["grid"]
    assert f"{mmcpp.content_hash(features):016x}" == case["hash"]


@pytest.mark.parametrize("case", stored("mrope"), ids=lambda c: str(c["len"]))
def test_mrope_equals_the_stored_results_of_the_crate(case):
    items = [tuple(item) for item in case["items"]]
    positions, delta = qwen_vl.mrope_image_only_py(case["len"], items, case["merge"])
    assert (positions.dtype, positions.shape, delta) == (np.int64, (3 * case["len"],), case["delta"])
    assert f"{mmcpp.content_hash(positions):016x}" == case["hash"]


@pytest.mark.parametrize("case", GOLDEN["mrope_rows"], ids=lambda c: str(c["length"]))
def test_mrope_rows(case):
    items = [tuple(item) for item in case["items"]]
    positions, delta = qwen_vl.mrope_image_only_py(case["length"], items, case["merge"])
    rows = positions.reshape(3, -1).tolist()
    assert rows[0] == case.get("row0", rows[0])
    assert rows == case.get("rows", rows)
    assert delta == case["delta"]


@pytest.mark.parametrize("case", GOLDEN["smart_resize"], ids=lambda c: f"{c['height']}x{c['width']}")
def test_smart_resize_equals_the_stored_results_of_the_crate(case):
    arguments = [case[key] for key in ("height", "width", "factor", "min_pixels", "max_pixels")]
    if case["out"] is None:
        with pytest.raises(ValueError, match="degenerates"):
            qwen_vl.smart_resize_py(*arguments)
    else:
        assert qwen_vl.smart_resize_py(*arguments) == tuple(case["out"])


SMART = [
    ((1365, 2048, 32, 65536, 16777216), (1376, 2048)),
    ((4000, 48, 32, 4, 2**30), (4000, 64)),
    ((70, 70, 28, 1, 2**30), (56, 56)),
    ((42, 42, 28, 1, 2**30), (56, 56)),
    ((2000, 10, 28, 3136, 12845056), (1988, 28)),
    ((10, 2000, 28, 3136, 10**9), (28, 1988)),
    ((2**40, 2**40, 28, 3136, 10**9), (31612, 31612)),
    ((100, 100, 28, 2**63, 2**64 - 1), (3037000512, 3037000512)),
]


@pytest.mark.parametrize(("arguments", "expected"), SMART)
def test_smart_resize_as_in_the_crate(arguments, expected):
    assert qwen_vl.smart_resize_py(*arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 3, 28, 1, 2), ValueError, "empty image"),
        ((1000, 1, 28, 3136, 10**9), ValueError, "absolute aspect ratio must be smaller than 200, got 1000"),
        ((2001, 10, 28, 3136, 10**9), ValueError, "absolute aspect ratio must be smaller than 200, got 200.1"),
        (
            (10, 2000, 28, 3136, 3136),
            ValueError,
            "smart_resize: 10x2000 degenerates to 0x784 at max_pixels=3136; image is too thin for this pixel budget",
        ),
        (
            (10, 2000, 0, 3136, 10**9),
            ValueError,
            "smart_resize: 10x2000 degenerates to 0x0 at max_pixels=1000000000; "
            "image is too thin for this pixel budget",
        ),
        ((-1, 5, 28, 1, 2), OverflowError, "can't convert negative int to unsigned"),
        ((5, 5, 28, 2**64, 2), OverflowError, "int too big to convert"),
        ((5.0, 5, 28, 1, 2), TypeError, "'float' object cannot be interpreted as an integer"),
    ],
)
def test_smart_resize_refuses_with_the_words_of_the_crate(arguments, error, message):
    with pytest.raises(error) as caught:
        qwen_vl.smart_resize_py(*arguments)
    assert str(caught.value) == message


def test_thin_pictures_get_the_size_rule_of_the_crate():
    _, grid = qwen_vl.preprocess(png(10, 1000), DIRECT)
    assert (grid[1] * 14, grid[2] * 14) == qwen_vl.smart_resize_py(10, 1000, 28, 3136, 1003520)


def test_mrope_of_text_alone():
    positions, delta = qwen_vl.mrope_image_only_py(4, [], 0)
    np.testing.assert_array_equal(positions, [0, 1, 2, 3] * 3)
    assert delta == 0
    assert qwen_vl.mrope_image_only_py(0, [], 2)[0].shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((11, [(3, 20, 1, 4, 6)], 2), ValueError, "mrope: item range (3,20) out of order/bounds"),
        ((11, [(3, 8, 1, 4, 4)], 2), ValueError, "mrope: token span does not match grid"),
        ((11, [[3, 8, 1, 4, 6]], 2), TypeError, "'list' object is not an instance of 'tuple'"),
        ((11, [(3, 8, 1, 4)], 2), ValueError, "expected tuple of length 5, but got tuple of length 4"),
    ],
)
def test_mrope_refuses_with_the_words_of_the_crate(arguments, error, message):
    with pytest.raises(error) as caught:
        qwen_vl.mrope_image_only_py(*arguments)
    assert str(caught.value) == message


def test_mrope_without_a_merge_is_an_error_and_no_crash():
    with pytest.raises(ValueError, match="merge"):
        qwen_vl.mrope_image_only_py(11, [(3, 8, 1, 4, 6)], 0)


def test_process_mm_gives_everything_of_a_request():
    pictures = [png(64, 80), png(100, 76)]
    ids, features, grids, hashes, offsets, positions, delta = qwen_vl.process_mm([1, 5, 2, 5], pictures, TAGGED)
    assert grids == [(1, 4, 6), (1, 8, 6)]
    assert ids == [1, *[5] * 6, 2, *[5] * 12]
    assert offsets == [(1, 6), (8, 19)]
    assert hashes == [mmcpp.content_hash(picture) for picture in pictures]
    apart = [qwen_vl.preprocess(picture, DIRECT)[0] for picture in pictures]
    np.testing.assert_array_equal(features, np.concatenate(apart))
    items = [(*offset, *grid) for offset, grid in zip(offsets, grids, strict=True)]
    expected, expected_delta = qwen_vl.mrope_image_only_py(len(ids), items, 2)
    np.testing.assert_array_equal(positions, expected)
    assert delta == expected_delta


def test_sources_give_what_their_bytes_give(tmp_path):
    picture = png(64, 80)
    path = tmp_path / "a.png"
    path.write_bytes(picture)
    text = base64.b64encode(picture).decode()
    expected = qwen_vl.process_mm([1, 5], [picture], TAGGED)
    for source in (text, f"data:image/png;base64,{text}", str(path), f"file://{path}"):
        result = qwen_vl.process_mm([1, 5], [source], TAGGED)
        np.testing.assert_array_equal(result[1], expected[1])
        assert result[3] == expected[3]
    with pytest.raises(mmcpp.FetchError, match="not below an allowed folder"):
        qwen_vl.process_mm([1, 5], [str(path)], TAGGED, policy=mmcpp.FetchPolicy())


def test_sequences_of_all_kinds():
    expected = qwen_vl.process_mm([1, 5], [png(64, 80)], TAGGED)[0]
    assert qwen_vl.process_mm(np.array([1, 5]), (bytearray(png(64, 80)),), TAGGED)[0] == expected
    assert qwen_vl.process_mm((1, 5), [list(png(64, 80))], TAGGED)[0] == expected


@pytest.mark.parametrize(
    ("ids", "images", "spec", "error", "match"),
    [
        (None, [b"x"], TAGGED, ValueError, "^native parity API requires input_ids$"),
        ([1, 5], [b"x"], DIRECT, ValueError, "^mm spec: missing field `family`"),
        ([1, 5], [b"x"], json.dumps({"family": "qwen_vl"}), ValueError, "^mm spec: missing field `image_token_id`"),
        ([1, 5], [b"x"], "{", ValueError, "^mm spec: "),
        ([1, 5], [b"x"], '{"a": 1, "a": 2}', ValueError, "^mm spec: duplicate field `a`"),
        (
            [1, 5],
            [b"x"],
            json.dumps({**KEYS, "family": "qwen_vl", "patch_size": 0}),
            ValueError,
            "^qwen_vl spec: sizes must be positive",
        ),
        ([], [b"x"], TAGGED, ValueError, "^multimodal request without input_ids$"),
        ([1, 5], [], TAGGED, ValueError, "^multimodal request without image sources$"),
        ([1, 5], [b"hello"], TAGGED, mmcpp.MmError, "^image decode: "),
        ([1, 5], [png(30, 40)[:-30]], TAGGED, mmcpp.DecodeError, "^image decode: png"),
        ([1, 5], [png(1, 300)], TAGGED, ValueError, "^absolute aspect ratio must be smaller than 200, got 300$"),
        ([1, 2], [png(64, 80)], TAGGED, ValueError, r"^prompt has 0 media placeholder\(s\) but 1 media item\(s\)$"),
        ([1.5, 5], [b"x"], TAGGED, TypeError, "'float' object cannot be interpreted as an integer"),
        ([2**63, 5], [b"x"], TAGGED, OverflowError, "too large"),
        ([1, 5], b"abc", TAGGED, TypeError, "'bytes' object is not an instance of 'Sequence'"),
        ([1, 5], None, TAGGED, TypeError, "'None' is not an instance of 'Sequence'"),
        ([1, 5], [5], TAGGED, TypeError, "'int' object is not an instance of 'Sequence'"),
        ([1, 5], ["x.png"], TAGGED, ValueError, "^media fetch: base64 decode: Invalid symbol 46, offset 1.$"),
        ([], ["/nonexistent"], TAGGED, ValueError, "^multimodal request without input_ids$"),
        ([1, 5], [b"x"], TAGGED.encode(), TypeError, "'bytes' object is not an instance of 'str'"),
    ],
)
def test_process_mm_refuses(ids, images, spec, error, match):
    with pytest.raises(error, match=match):
        qwen_vl.process_mm(ids, images, spec)


def test_preprocess_ignores_keys_that_it_does_not_know():
    expected = qwen_vl.preprocess(png(64, 80), DIRECT)[0]
    more = json.dumps({**KEYS, "family": "whatever", "note": "x"})
    np.testing.assert_array_equal(qwen_vl.preprocess(png(64, 80), more)[0], expected)
    with pytest.raises(ValueError, match="^qwen_vl spec: missing field `patch_size`"):
        qwen_vl.preprocess(png(64, 80), json.dumps({k: v for k, v in KEYS.items() if k != "patch_size"}))
    with pytest.raises(ValueError, match="^image decode: "):
        qwen_vl.preprocess(b"", DIRECT)


def test_pil_means_pillow_12_unless_the_spec_says_13():
    picture = noise(2000, 300)
    results = {
        generation: qwen_vl.preprocess(encode(picture), json.dumps({**KEYS, "resample": "pil", **extra}))[0]
        for generation, extra in ((12, {}), (13, {"pillow_generation": 13}))
    }
    for generation, features in results.items():
        spec = {**KEYS, "family": "qwen_vl", "resample": "pil", "pillow_generation": generation}
        expected = mmcpp.ImageProcessor.from_spec(spec)(picture)["pixel_values"]
        np.testing.assert_array_equal(features, expected.reshape(-1))
    assert not np.array_equal(results[12], results[13])


def test_a_standard_deviation_of_zero_passes_as_in_the_crate():
    features, _ = qwen_vl.preprocess(png(64, 80), json.dumps({**KEYS, "image_std": [0, 1, 1]}))
    assert not np.isfinite(features).all()


def test_a_spec_that_is_nested_too_deeply_is_refused():
    with pytest.raises(ValueError, match="^qwen_vl spec: recursion limit exceeded"):
        qwen_vl.preprocess(png(4, 5), "[" * 100_000)
