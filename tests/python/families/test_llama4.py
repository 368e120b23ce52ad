import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

LLAMA4 = {"image_processor_type": "Llama4ImageProcessorFast", "max_patches": 16, "size": {"height": 336, "width": 336}}


def test_llama4(tmp_path):
    path = write(tmp_path, LLAMA4, {"model_type": "llama4"}, {"patch_size": 14, "pixel_shuffle_ratio": 0.5})
    spec = load_spec(path)
    assert (spec["tile_size"], spec["max_tiles"], spec["tokens_per_tile"]) == (336, 16, 144)
    with pytest.raises(mmcpp.UnsupportedError, match="is not one token"):
        load_spec(path, for_prompts=True)


def test_what_is_not_supported_is_refused(tmp_path):
    with pytest.raises(mmcpp.UnsupportedError, match="resize_to_max_canvas"):
        load_spec(write(tmp_path, {**LLAMA4, "resize_to_max_canvas": True}))
