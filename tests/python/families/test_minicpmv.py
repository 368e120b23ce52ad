import json

import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

NEW = {"image_processor_type": "MiniCPMV4_6ImageProcessor"}
OLD = {
    "auto_map": {"AutoImageProcessor": "image_processing_minicpmv.MiniCPMVImageProcessor"},
    "image_feature_size": 64,
    "image_processor_type": "MiniCPMVImageProcessor",
    "max_slice_nums": 9,
    "norm_mean": [0.5, 0.5, 0.5],
    "norm_std": [0.5, 0.5, 0.5],
    "patch_size": 14,
    "scale_resolution": 448,
    "slice_mode": True,
    "use_image_id": True,
}


def test_both_generations(tmp_path):
    spec = load_spec(write(tmp_path, NEW))
    assert (spec["merge_size"], spec["max_slices"], spec["resample"]) == (4, 9, "aten_u8")
    assert load_spec(write(tmp_path, {**NEW, "downsample_mode": "4x"}))["merge_size"] == 2
    assert load_spec(write(tmp_path, {**NEW, "slice_mode": False}))["max_slices"] == 1
    spec = load_spec(write(tmp_path, OLD))
    assert (spec["merge_size"], spec["tokens_per_slice"], spec["resample"]) == (1, 64, "pil")
    processor = mmcpp.ImageProcessor.from_pretrained(tmp_path)
    assert processor.count_tokens(448, 448) == 64
    assert processor.plan(900, 900).grid == (5, 2, 2)


def test_positions_on_a_canvas(tmp_path):
    marks = ["<|image_pad|>", "<image>", "</image>", "<slice>", "</slice>", "\n", "<image_id>", "</image_id>"]
    tokens = {text: i for i, text in enumerate([*marks, *"0123456789"])}
    (tmp_path / "added_tokens.json").write_text(json.dumps(tokens), encoding="utf-8")
    keys = ["image_start_id", "image_end_id", "slice_start_id", "slice_end_id", "newline_id"]
    model = {"model_type": "minicpmv4_7", **{key: i for i, key in enumerate(keys, 1)}}
    path = write(tmp_path, NEW, model)
    assert load_spec(path, for_prompts=True)["positions"] == "canvas"
    planned = mmcpp.Pipeline.from_pretrained(path).plan_request(input_ids=[99, 0], sizes=[(448, 448)])
    assert planned.positions[:, :6].tolist() == [[0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 3, 4], [0, 1, 2, 3, 3, 4]]
    with pytest.raises(mmcpp.UnsupportedError, match="newline_id 9 is not supported; supported: the tokenizer's"):
        load_spec(write(tmp_path, NEW, {**model, "newline_id": 9}), for_prompts=True)
    with pytest.raises(mmcpp.UnsupportedError, match="downsample_mode null is not supported"):
        load_spec(write(tmp_path, {**NEW, "downsample_mode": "4x"}, model), for_prompts=True)


def test_what_is_not_supported_is_refused(tmp_path):
    with pytest.raises(mmcpp.UnsupportedError, match="downsample_mode"):
        load_spec(write(tmp_path, {**NEW, "downsample_mode": "8x"}))
    with pytest.raises(
        mmcpp.UnsupportedError, match="model_type null is not supported; supported: minicpmv, minicpmv4_6, minicpmv4_7"
    ):
        load_spec(write(tmp_path, NEW), for_prompts=True)
    with pytest.raises(mmcpp.UnsupportedError, match="'torchvision' is not supported"):
        load_spec(write(tmp_path, OLD), backend="torchvision")
