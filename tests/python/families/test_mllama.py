import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

MLLAMA = {
    "do_pad": True,
    "image_processor_type": "MllamaImageProcessor",
    "max_image_tiles": 4,
    "resample": 2,
    "size": {"height": 560, "width": 560},
}


def test_mllama(tmp_path):
    path = write(tmp_path, MLLAMA, {"model_type": "mllama"})
    spec = load_spec(path, for_prompts=True)
    assert (spec["tile_size"], spec["max_tiles"], spec["image_token_id"]) == (560, 4, 128256)
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(480, 640).feature_shape == (1, 1, 4, 3, 560, 560)


def test_what_is_not_supported_is_refused(tmp_path):
    with pytest.raises(mmcpp.UnsupportedError, match="do_pad false"):
        load_spec(write(tmp_path, {**MLLAMA, "do_pad": False}))
