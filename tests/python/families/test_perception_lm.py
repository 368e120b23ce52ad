import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {"image_processor_type": "PerceptionLMImageProcessorFast", "max_num_tiles": 36, "tile_size": 448}


def test_perception_lm(tmp_path):
    path = write(tmp_path, IMAGE, {"model_type": "perception_lm"}, {"patch_size": 14, "pooling_ratio": 2})
    spec = load_spec(path, for_prompts=True)
    assert (spec["tokens_per_tile"], spec["max_tiles"], spec["image_token_id"]) == (256, 36, 128002)
    assert mmcpp.ImageProcessor.from_pretrained(path).count_tokens(480, 640) == 36 * 256


def test_the_whole_alone(tmp_path):
    path = write(tmp_path, {**IMAGE, "vision_input_type": "vanilla"})
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(480, 640).feature_shape == (1, 1, 3, 448, 448)


@pytest.mark.parametrize(("change", "match"), [({"resample": 2}, "resample 2"), ({"do_resize": False}, "do_resize")])
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
