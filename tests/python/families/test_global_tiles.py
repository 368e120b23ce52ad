import numpy as np
import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
OCR2 = {
    "background_color": [127, 127, 127],
    "crop_to_patches": True,
    "image_processor_type": "DeepseekOcr2ImageProcessor",
    "size": {"height": 1024, "width": 1024},
    "tile_size": 768,
    **HALF,
}
VL2 = {
    "candidate_resolutions": [[384, 384], [384, 768], [768, 384], [768, 1152]],
    "downsample_ratio": 2,
    "normalize": True,
    "patch_size": 14,
    "processor_class": "DeepseekVLV2Processor",
    **HALF,
}


def test_deepseek_ocr2(tmp_path):
    path = write(tmp_path, OCR2, {"model_type": "deepseek_ocr2", "image_token_id": 9}, {"patch_size": 16})
    spec = load_spec(path, for_prompts=True)
    assert (spec["layout"], spec["max_tiles"]) == ("deepseek_ocr2", 6)
    assert (spec["global_tokens"], spec["tile_tokens"]) == (16, 12)
    response = mmcpp.Pipeline.from_pretrained(path).process(
        input_ids=[1, 9], images=[np.zeros((800, 700, 3), np.uint8)], dtype="uint8"
    )
    plan = response.items[0].plan
    assert [(name, shape[0]) for name, shape in plan.feature_parts] == [("pixel_values", 1), ("pixel_values_local", 4)]
    assert len(response.input_ids) == 1 + 256 + 4 * 144 + 1


def test_unlimited_ocr(tmp_path):
    image = {**OCR2, "image_processor_type": "UnlimitedOcrImageProcessor", "tile_size": 640}
    spec = load_spec(write(tmp_path, image, {"model_type": "unlimited_ocr"}))
    assert (spec["max_tiles"], spec["tile_tokens"], spec["image_token_id"]) == (32, 10, 128815)
    with pytest.raises(mmcpp.UnsupportedError, match="torchvision alone"):
        load_spec(tmp_path, backend="pil")


def write_processor(path, processor, architecture):
    write(path, {}, {"model_type": "deepseek_vl_v2", "architectures": [architecture]}, processor)
    (path / "preprocessor_config.json").unlink()
    return path


def test_deepseek_vl2(tmp_path):
    spec = load_spec(write_processor(tmp_path, VL2, "DeepseekVLV2ForCausalLM"))
    assert (spec["layout"], spec["tile_size"], spec["tile_tokens"]) == ("deepseek_vl2", 384, 14)
    assert (spec["image_grid_pinpoints"][1], spec["background"]) == ([768, 384], [127] * 3)  # height first
    processor = mmcpp.ImageProcessor.from_pretrained(tmp_path)
    assert processor.count_tokens(1152, 768) == 1429
    with pytest.raises(mmcpp.UnsupportedError, match="is not one token"):
        load_spec(tmp_path, for_prompts=True)
    (tmp_path / "added_tokens.json").write_text('{"<image>": 9}', encoding="utf-8")
    pipeline = mmcpp.Pipeline.from_pretrained(tmp_path)
    assert len(pipeline.plan_request(input_ids=[9, 9], sizes=[(1152, 768)] * 2).input_ids) == 2 * 1429
    assert len(pipeline.plan_request(input_ids=[9] * 3, sizes=[(384, 384)] * 3).input_ids) == 3 * 421
    with pytest.raises(ValueError, match=r"item 1: tiles in a prompt of 3 pictures, of more than 2 none has any"):
        pipeline.plan_request(input_ids=[9] * 3, sizes=[(384, 384), (1152, 768), (384, 384)])


def test_deepseek_ocr(tmp_path):
    processor = {**VL2, "candidate_resolutions": [[1024, 1024]], "downsample_ratio": 4, "patch_size": 16}
    spec = load_spec(write_processor(tmp_path, processor, "DeepseekOCRForCausalLM"))
    assert (spec["layout"], spec["global_tokens"], spec["tile_tokens"]) == ("deepseek_ocr", 16, 10)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"crop_to_patches": False}, "crop_to_patches false"),
        ({"resample": 2}, "resample 2"),
        ({"size": {"height": 1024, "width": 512}}, "size .*squares"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**OCR2, **change}))


@pytest.mark.parametrize(
    ("change", "architecture", "match"),
    [
        ({}, "DeepseekOCR2ForCausalLM", "architectures .*DeepseekOCR2ForCausalLM"),
        ({"candidate_resolutions": None}, "DeepseekVLV2ForCausalLM", "candidate_resolutions null"),
        ({"normalize": False}, "DeepseekVLV2ForCausalLM", "normalize false"),
    ],
)
def test_what_own_code_does_otherwise_is_refused(tmp_path, change, architecture, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write_processor(tmp_path, {**VL2, **change}, architecture))
