import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {
    "high_res_size": {"height": 1024, "width": 1024},
    "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "DeepseekVLHybridImageProcessor",
    "image_std": [0.5, 0.5, 0.5],
    "size": {"height": 384, "width": 384},
}


def test_deepseek_vl_hybrid(tmp_path):
    path = write(tmp_path, IMAGE, {"model_type": "deepseek_vl_hybrid"}, {"num_image_tokens": 576})
    spec = load_spec(path, for_prompts=True)
    assert (spec["size"], spec["high_res_size"], spec["min_padded_side"]) == (384, 1024, 14)
    assert (spec["high_res_background"], spec["image_token_id"]) == ([122, 116, 104], 100015)
    parts = dict(mmcpp.ImageProcessor.from_pretrained(path).plan(480, 640).feature_parts)
    assert parts == {"pixel_values": (1, 3, 384, 384), "high_res_pixel_values": (1, 3, 1024, 1024)}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"do_pad": False}, "do_pad false"),
        ({"high_res_size": {"height": 1024, "width": 512}}, "high_res_size .*squares"),
        ({"high_res_resample": 0}, "high_res_resample 0"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
