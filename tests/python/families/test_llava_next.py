import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

NEXT = {
    "crop_size": {"height": 336, "width": 336},
    "do_pad": True,
    "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]],
    "image_processor_type": "LlavaNextImageProcessor",
    "size": {"shortest_edge": 336},
}
PROCESSOR = {"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
ONEVISION = {"image_processor_type": "LlavaOnevisionImageProcessor", "size": {"height": 384, "width": 384}}


def test_llava_next(tmp_path):
    path = write(tmp_path, NEXT, {"model_type": "llava_next", "image_token_index": 32000}, PROCESSOR)
    spec = load_spec(path, for_prompts=True)
    assert (spec["tile_size"], spec["tile_tokens"], spec["base_tokens"]) == (336, 24, 576)
    assert mmcpp.Pipeline.from_pretrained(path).count_tokens(480, 640) == 576 + 36 * 48 + 36


def test_llava_next_video(tmp_path):
    path = write(tmp_path, NEXT, {"model_type": "llava_next_video"}, PROCESSOR)
    assert load_spec(path, for_prompts=True)["image_token_id"] == 32001


def test_granite4_vision(tmp_path):
    processor = {"patch_size": 14, "vision_feature_select_strategy": "full", "downsample_rate": "1/4"}
    spec = load_spec(write(tmp_path, NEXT, {"model_type": "granite4_vision"}, processor), for_prompts=True)
    assert (spec["tile_tokens"], spec["base_tokens"]) == (6, 36)
    write(tmp_path, NEXT, {"model_type": "granite4_vision"}, {**processor, "downsample_rate": "a quarter"})
    with pytest.raises(mmcpp.UnsupportedError, match="downsample_rate"):
        load_spec(tmp_path)


def test_llava_onevision(tmp_path):
    processor = {
        "num_image_tokens": 729,
        "vision_aspect_ratio": "anyres_max_9",
        "vision_feature_select_strategy": "full",
    }
    path = write(tmp_path, ONEVISION, {"model_type": "llava_onevision"}, processor)
    spec = load_spec(path, for_prompts=True)
    assert (spec["tile_tokens"], spec["base_tokens"], spec["anyres_max"]) == (27, 729, 9)
    assert (len(spec["image_grid_pinpoints"]), spec["image_token_id"]) == (36, 151646)
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(480, 640).feature_shape == (1, 5, 3, 384, 384)


@pytest.mark.parametrize(
    ("image", "change", "match"),
    [
        (NEXT, {"do_pad": False}, "do_pad false"),
        (NEXT, {"crop_size": {"height": 224, "width": 224}}, "crop_size .*336"),
        (NEXT, {"do_center_crop": False}, "do_center_crop false"),
        (ONEVISION, {"do_center_crop": True}, "do_center_crop true"),
        (ONEVISION, {"size": {"height": 384, "width": 200}}, "size .*height alone"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, image, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**image, **change}))
