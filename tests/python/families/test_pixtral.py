import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {
    "do_pad": True,
    "image_processor_type": "PixtralImageProcessor",
    "patch_size": 14,
    "size": {"longest_edge": 1540},
}


def test_the_processors_patch_wins(tmp_path):
    assert load_spec(write(tmp_path, IMAGE))["patch_size"] == 14
    spec = load_spec(write(tmp_path, IMAGE, {"model_type": "mistral3", "spatial_merge_size": 2}))
    assert (spec["patch_size"], spec["longest_edge"]) == (28, 1540)
    square = {**IMAGE, "patch_size": {"height": 16, "width": 16}}
    assert load_spec(write(tmp_path, square, {}, {"patch_size": 14, "spatial_merge_size": 2}))["patch_size"] == 28
    assert load_spec(write(tmp_path, square, {}, {}))["patch_size"] == 16


def test_lighton_ocr_counts_in_patches_of_its_own(tmp_path):
    path = write(tmp_path, IMAGE, {"model_type": "lighton_ocr"}, {"patch_size": 14, "spatial_merge_size": 2})
    spec = load_spec(path, for_prompts=True)
    assert (spec["patch_size"], spec["token_size"], spec["image_token_id"]) == (14, 28, 151655)
    assert mmcpp.ImageProcessor.from_pretrained(path).count_tokens(100, 70) == 4 * 2


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"do_pad": False}, "do_pad false"),
        ({"patch_size": {"height": 14, "width": 16}}, "patch_size .*squares"),
        ({"size": {"height": 100, "width": 100}}, "size .*longest_edge"),
        ({"do_center_crop": True}, "do_center_crop"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
    with pytest.raises(mmcpp.UnsupportedError, match="model_type null is not supported; supported: lighton_ocr"):
        load_spec(write(tmp_path, IMAGE), for_prompts=True)
