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
LLAMA4 = {"image_processor_type": "Llama4ImageProcessorFast", "max_patches": 16, "size": {"height": 336, "width": 336}}


def test_mllama(tmp_path):
    path = write(tmp_path, MLLAMA, {"model_type": "mllama"})
    spec = load_spec(path, for_prompts=True)
    assert (spec["tile_size"], spec["max_tiles"], spec["image_token_id"]) == (560, 4, 128256)
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(480, 640).feature_shape == (1, 1, 4, 3, 560, 560)


def test_llama4(tmp_path):
    path = write(tmp_path, LLAMA4, {"model_type": "llama4"}, {"patch_size": 14, "pixel_shuffle_ratio": 0.5})
    spec = load_spec(path)
    assert (spec["tile_size"], spec["max_tiles"], spec["tokens_per_tile"]) == (336, 16, 144)
    with pytest.raises(mmcpp.UnsupportedError, match='model_type "llama4"'):
        load_spec(path, for_prompts=True)


@pytest.mark.parametrize(
    ("image", "match"),
    [({**MLLAMA, "do_pad": False}, "do_pad false"), ({**LLAMA4, "resize_to_max_canvas": True}, "resize_to_max_canvas")],
)
def test_what_is_not_supported_is_refused(tmp_path, image, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, image))
