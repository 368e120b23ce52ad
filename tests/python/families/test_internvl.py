import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {
    "crop_to_patches": False,  # as released: the processor asks for tiles
    "image_mean": [0.485, 0.456, 0.406],
    "image_processor_type": "GotOcr2ImageProcessorFast",
    "image_std": [0.229, 0.224, 0.225],
    "max_patches": 12,
    "min_patches": 1,
    "size": {"height": 448, "width": 448},
}


def test_internvl(tmp_path):
    path = write(tmp_path, IMAGE, {"model_type": "internvl", "image_seq_length": 256})
    spec = load_spec(path)
    assert (spec["tile_height"], spec["min_tiles"], spec["max_tiles"]) == (448, 1, 12)
    assert mmcpp.ImageProcessor.from_pretrained(path).count_tokens(480, 640) == 13 * 256
    with pytest.raises(mmcpp.UnsupportedError, match="is not one token"):
        load_spec(path, for_prompts=True)
    prompts = {**spec, "image_token_id": 7, "prefix_token_ids": [5], "suffix_token_ids": [6]}
    assert mmcpp.Pipeline.from_spec(prompts).count_tokens(480, 640) == 13 * 256 + 2


def test_got_ocr2(tmp_path):
    spec = load_spec(write(tmp_path, {**IMAGE, "size": {"height": 1024, "width": 1024}}, {"model_type": "got_ocr2"}))
    assert (spec["tile_height"], spec["max_tiles"], spec["tokens_per_tile"]) == (1024, 1, 256)
    assert spec["image_token_id"] == 151859


def test_aya_vision(tmp_path):
    image = {"image_processor_type": "GotOcr2ImageProcessor", "size": {"height": 364, "width": 364}}
    spec = load_spec(write(tmp_path, image, {"model_type": "aya_vision"}, {"patch_size": 14, "downsample_factor": 2}))
    assert (spec["tokens_per_tile"], spec["max_tiles"]) == (169, 12)


def test_qianfan_ocr(tmp_path):
    spec = load_spec(write(tmp_path, IMAGE, {"model_type": "qianfan_ocr"}, {"image_seq_length": 256}))
    assert (spec["tokens_per_tile"], spec["max_tiles"]) == (256, 12)


CHAT = {
    "downsample_ratio": 0.5,
    "dynamic_image_size": True,
    "force_image_size": 448,
    "max_dynamic_patch": 6,
    "model_type": "internvl_chat",
    "use_thumbnail": True,
    "vision_config": {"image_size": 448, "patch_size": 14},
}
UNUSED = {"crop_size": 448, "do_center_crop": True, "feature_extractor_type": "CLIPFeatureExtractor", "size": 448}


def test_its_own_format(tmp_path):
    spec = load_spec(write(tmp_path, UNUSED, CHAT))
    assert (spec["tile_height"], spec["max_tiles"], spec["tokens_per_tile"]) == (448, 6, 256)
    assert (spec["resample"], spec["image_mean"]) == ("pil", (0.485, 0.456, 0.406))
    assert mmcpp.ImageProcessor.from_pretrained(tmp_path).count_tokens(480, 640) == 7 * 256
    assert load_spec(write(tmp_path, UNUSED, {**CHAT, "dynamic_image_size": False}))["max_tiles"] == 1


@pytest.mark.parametrize(("change", "match"), [({"use_msac": True}, "use_msac"), ({"downsample_ratio": 2}, "ratio 2")])
def test_what_its_own_format_asks_for_beyond_that_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, UNUSED, {**CHAT, **change}))


def test_what_is_not_supported_is_refused(tmp_path):
    with pytest.raises(mmcpp.UnsupportedError, match="resample 2"):
        load_spec(write(tmp_path, {**IMAGE, "resample": 2}))
