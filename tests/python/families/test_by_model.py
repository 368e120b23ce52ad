import json

import numpy as np
import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import families, load_spec

DSV41 = {
    "model_type": "deepseek_v41",
    "image_token_id": 128,
    "vision_config": {
        "patch_size": 14,
        "downsample_ratio": 3,
        "min_pixels": 9000,
        "max_image_tokens": 150,
        "max_wh_ratio": 6.5,
    },
}
MIMO_V2 = {
    "architectures": ["MiMoV2ForCausalLM"],
    "model_type": "mimo_v2",
    "processor_config": {"image_token_id": 5, "image_min_pixels": 8192, "image_max_pixels": 60000},
    "vision_config": {"patch_size": 16, "spatial_merge_size": 2},
}
KIMI_K3 = {
    "patch_size": 14,
    "merge_kernel_size": 2,
    "in_patch_limit": 65536,
    "patch_limit_on_one_side": 512,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}


def only_model(folder, model):
    (folder / "config.json").write_text(json.dumps(model), encoding="utf-8")
    return folder


def test_deepseek_v41_nested_and_flat(tmp_path):
    nested = load_spec(only_model(tmp_path, DSV41), for_prompts=True)
    flat = {"vision_patch_size": 14, "vision_downsample_ratio": 3, "vision_min_pixels": 9000, "vision_max_n_token": 150}
    model = {"model_type": "deepseek_v41", "image_token_id": 128, **flat, "vision_max_wh_ratio": 6.5}
    assert load_spec(only_model(tmp_path, model), for_prompts=True) == nested
    pipeline = mmcpp.Pipeline.from_pretrained(tmp_path)
    planned = pipeline.plan_request(input_ids=[1, 128, 2], sizes=[(90, 130)])
    assert len(planned.input_ids) == planned.items[0].tokens + 2
    with pytest.raises(mmcpp.UnsupportedError, match="deepseek_v41 has pil alone"):
        load_spec(tmp_path, backend="torchvision")
    with pytest.raises(mmcpp.UnsupportedError, match="without vision"):
        load_spec(only_model(tmp_path, {"model_type": "deepseek_v41"}))


def test_mimo_v2_in_the_float_arithmetic_of_its_constants(tmp_path):
    spec = load_spec(only_model(tmp_path, MIMO_V2), for_prompts=True)
    clip = np.array([0.48145466, 0.4578275, 0.40821073], np.float32) * np.float32(255)
    assert spec["image_mean"] == [float(value) for value in clip]
    others = {key: value for key, value in spec.items() if not key.startswith("image_")}
    assert others == {
        "family": "mimo_v2",
        "patch_size": 16,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "min_pixels": 8192,
        "max_pixels": 60000,
    }
    assert mmcpp.Pipeline.from_pretrained(tmp_path).plan(64, 96).grid == (1, 6, 8)
    scaling = {"type": "default", "mrope_section": [1, 2, 3]}
    with pytest.raises(mmcpp.UnsupportedError, match="rope_scaling"):
        load_spec(only_model(tmp_path, {**MIMO_V2, "rope_scaling": scaling}))
    with pytest.raises(mmcpp.UnsupportedError, match="vision_config null"):
        load_spec(only_model(tmp_path, {"architectures": ["MiMoV2ForCausalLM"]}))


def test_inkling(tmp_path):
    model = {"model_type": "inkling_mm_model", "vision_config": {"decoder_dmodel": 64, "patch_size": 40}}
    spec = load_spec(only_model(tmp_path, model), for_prompts=True)
    assert (spec["patch_size"], spec["image_token_id"], spec["rescale_image_frac"]) == (40, -101, 2.0)
    assert mmcpp.Pipeline.from_pretrained(tmp_path).plan(40, 80).tokens == 2 * 5
    with pytest.raises(mmcpp.UnsupportedError, match="without vision"):
        load_spec(only_model(tmp_path, {"model_type": "inkling_mm_model"}))


def test_kimi_k3(tmp_path):
    model = {"model_type": "kimi_k3"}
    assert "background" not in load_spec(write(tmp_path, {"media_proc_cfg": KIMI_K3}, model))
    assert mmcpp.ImageProcessor.from_pretrained(tmp_path).plan(100, 100).grid == (1, 8, 8)
    with pytest.raises(mmcpp.UnsupportedError, match="patch_size null"):
        load_spec(write(tmp_path, {"media_proc_cfg": {}}, model))
    write(tmp_path, {"media_proc_cfg": KIMI_K3}, model)
    with pytest.raises(mmcpp.UnsupportedError, match="is not one token"):
        load_spec(tmp_path, for_prompts=True)
    (tmp_path / "added_tokens.json").write_text('{"<|media_pad|>": 9}', encoding="utf-8")
    planned = mmcpp.Pipeline.from_pretrained(tmp_path).plan_request(input_ids=[1, 9, 2], sizes=[(100, 100)])
    assert planned.input_ids.tolist() == [1, *[9] * 16, 2]


def test_kimi_k3_over_a_background(tmp_path):
    def background(**config):
        files = {"media_proc_cfg": {**KIMI_K3, "transparent_bg_config": config}}
        spec = load_spec(write(tmp_path, files, {"model_type": "kimi_k3"}))
        mmcpp.ImageProcessor.from_pretrained(tmp_path)
        return {key: value for key, value in spec.items() if key == "background" or key.startswith("chessboard_")}

    assert background() == {"background": "black"}
    assert background(pattern="white", transparent_bg_fill_stage="after_resize") == {"background": "white"}
    squares = {"chessboard_square_size": 8, "chessboard_gray_value": 180, "chessboard_square_on_top_left": False}
    assert background(pattern="chessboard", **squares) == {"background": "chessboard", **squares}
    with pytest.raises(mmcpp.UnsupportedError, match="transparent_bg_fill_stage"):
        background(transparent_bg_fill_stage="before_resize")
    with pytest.raises(ValueError, match="`red`"):
        background(pattern="red")
    with pytest.raises(ValueError, match="chessboard_colour"):
        background(pattern="chessboard", chessboard_colour=3)


def test_they_are_listed():
    listed = families()
    assert listed["dsv41"]["model_types"] == ["deepseek_v41"]
    assert listed["kimi_k3"] == {"image_processors": [], "model_types": ["kimi_k3"]}
