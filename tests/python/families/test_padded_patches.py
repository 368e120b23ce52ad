import numpy as np
import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

SIGLIP2 = {"image_processor_type": "Siglip2ImageProcessor", "do_convert_rgb": None, "max_num_patches": 256}
GEMMA4 = {
    "do_normalize": False,
    "image_mean": [0.0, 0.0, 0.0],
    "image_processor_type": "Gemma4ImageProcessor",
    "image_std": [1.0, 1.0, 1.0],
    "max_soft_tokens": 280,
    "patch_size": 16,
    "pooling_kernel_size": 3,
    "resample": 3,
}


def test_siglip2(tmp_path):
    path = write(tmp_path, SIGLIP2, {"model_type": "siglip2"})
    spec = load_spec(path)
    assert (spec["size_rule"], spec["max_patches"], spec["filter"]) == ("siglip2", 256, "bilinear")
    with pytest.raises(mmcpp.UnsupportedError, match='model_type "siglip2"'):
        load_spec(path, for_prompts=True)


def test_gemma4(tmp_path):
    path = write(tmp_path, GEMMA4, {"model_type": "gemma4", "eoi_token_id": 7})
    spec = load_spec(path, for_prompts=True)
    assert (spec["size_rule"], spec["max_patches"], spec["pooling"]) == ("gemma4", 2520, 3)
    assert (spec["do_normalize"], spec["prefix_token_ids"], spec["suffix_token_ids"]) == (False, [255999], [7])
    response = mmcpp.Pipeline.from_pretrained(path).process(
        input_ids=[1, 258880], images=[np.zeros((480, 640, 3), np.uint8)]
    )
    assert len(response.input_ids) == 1 + 2 + 14 * 19
    assert "image_mean" in load_spec(write(tmp_path, {**GEMMA4, "do_normalize": True}))


@pytest.mark.parametrize(
    ("change", "match"), [({"max_soft_tokens": 100}, "max_soft_tokens 100"), ({"resample": 0}, "resample 0")]
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**GEMMA4, **change}))
