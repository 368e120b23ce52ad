import numpy as np
import pytest

import mmcpp
from checkpoints import write
from mmcpp.families import qwen_vl
from mmcpp.spec import load_spec, preset_spec
from samples import smooth


@pytest.mark.parametrize("preset", qwen_vl.PRESETS)
def test_seen_image_undoes_the_patches(preset):
    processor = mmcpp.ImageProcessor.from_spec(preset_spec(preset, backend="pil"))
    picture = smooth(300, 470)
    plan = processor.plan(300, 470)
    batch = processor.process_items(picture, dtype="uint8")
    seen = qwen_vl.seen_image(processor.spec, plan.grid, batch.features)
    np.testing.assert_array_equal(seen, mmcpp.resize(picture, plan.resized_height, plan.resized_width))


def test_presets_are_complete():
    assert set(qwen_vl.PRESETS) == {"qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5"}
    assert set(qwen_vl.PRESETS) <= set(qwen_vl.MODEL_TYPES)
    for name, spec in qwen_vl.PRESETS.items():
        assert spec.image_token_id == qwen_vl.MODEL_TYPES[name]


HUNYUAN = {
    "image_processor_type": "HunYuanVLImageProcessor",
    "max_pixels": 4194304,
    "merge_size": 2,
    "min_pixels": 262144,
    "patch_size": 16,
    "resample": 1,
    "temporal_patch_size": 1,
}
KIMI_VL = {
    "auto_map": {"AutoImageProcessor": "image_processing_kimi_vl.KimiVLImageProcessor"},
    "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "KimiVLImageProcessor",
    "image_std": [0.5, 0.5, 0.5],
    "in_token_limit": 4096,
    "merge_kernel_size": [2, 2],
    "pad_input": True,
    "patch_size": 14,
}
KEYE = {
    "auto_map": {"AutoImageProcessor": "Kwai-Keye/Keye-VL-8B--image_processing_keye.SiglipImageProcessor"},
    "image_processor_type": "SiglipImageProcessor",
    "max_pixels": 1003520,
    "merge_size": 2,
    "min_pixels": 101920,
    "patch_size": 14,
}


def test_hy_v4_vl(tmp_path):
    path = write(tmp_path, {"image_processor_type": "HYV4VLImageProcessor"}, {"model_type": "hy_v4_vl"})
    spec = load_spec(path, for_prompts=True)
    assert (spec["positions"], spec["row_tokens"], spec["image_token_id"]) == ("mrope", 1, 120120)


def test_hunyuan(tmp_path):
    model = {"model_type": "hunyuan_vl", "text_config": {"rope_scaling": {"xdrope_section": [16, 16, 16, 16]}}}
    path = write(tmp_path, HUNYUAN, model)
    spec = load_spec(path, for_prompts=True)
    assert (spec["min_pixels"], spec["max_pixels"], spec["patch_order"]) == (262144, 4194304, "raster")
    assert (spec["positions"], spec["position_axes"], spec["image_token_id"]) == ("xdrope", 4, 120120)
    pipeline = mmcpp.Pipeline.from_pretrained(path)
    planned = pipeline.plan_request(input_ids=[7, 120118, 120120, 120119, 8], sizes=[(512, 512)])
    assert len(planned.input_ids) == 4 + 16 * 17 + 2
    assert planned.positions.shape == (4, len(planned.input_ids))
    with pytest.raises(mmcpp.UnsupportedError, match="mrope_section"):
        load_spec(write(tmp_path, HUNYUAN, {"model_type": "hunyuan_vl"}))


def test_kimi(tmp_path):
    path = write(tmp_path, KIMI_VL, {"model_type": "kimi_vl", "media_placeholder_token_id": 163606})
    spec = load_spec(path, for_prompts=True)
    assert (spec["image_token_id"], spec["resample"], spec["grid"]) == (163606, "pil", "hws")
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(100, 200).grid == (1, 8, 16)
    with pytest.raises(mmcpp.UnsupportedError, match="'torchvision' is not supported: KimiVL"):
        load_spec(path, backend="torchvision")
    with pytest.raises(mmcpp.UnsupportedError, match="pad_input false"):
        load_spec(write(tmp_path, {**KIMI_VL, "pad_input": False}))
    with pytest.raises(mmcpp.UnsupportedError, match="merge_kernel_size"):
        load_spec(write(tmp_path, {**KIMI_VL, "merge_kernel_size": [2, 1]}))
    spec = load_spec(write(tmp_path, {"image_processor_type": "Kimi_K25ImageProcessor"}, {"model_type": "kimi_k25"}))
    assert (spec["max_patches"], spec["max_patches_per_side"], spec["image_token_id"]) == (16384, 512, 163605)
    with pytest.raises(mmcpp.UnsupportedError, match="max_height and max_width"):
        load_spec(write(tmp_path, {"image_processor_type": "Kimi_K25ImageProcessor", "size": {"max_height": 5}}))


def test_keye(tmp_path):
    spec = load_spec(write(tmp_path, KEYE))
    assert (spec["smart_resize"], spec["min_pixels"], spec["resample"]) == ("keye", 101920, "pil")


def test_minimax_m3_vl(tmp_path):
    spec = load_spec(write(tmp_path, {"image_processor_type": "MiniMaxM3VLImageProcessor", "size": [672, 672]}))
    assert (spec["min_pixels"], spec["max_pixels"]) == (3136, 451584)
