import json
import math

import pytest

import mmcpp
from mmcpp.spec import load_spec, preset_names, preset_spec, to_json

# What the files of released checkpoints say, in the styles that transformers has written.
OLD = {
    "do_convert_rgb": True,
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_processor_type": "Qwen2VLImageProcessor",
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "max_pixels": 12845056,
    "merge_size": 2,
    "min_pixels": 3136,
    "patch_size": 14,
    "processor_class": "Qwen2VLProcessor",
    "resample": 3,
    "rescale_factor": 0.00392156862745098,
    "size": {"max_pixels": 12845056, "min_pixels": 3136},
    "temporal_patch_size": 2,
}
NEW = {
    "crop_size": None,
    "data_format": "channels_first",
    "default_to_square": True,
    "device": None,
    "disable_grouping": None,
    "do_center_crop": None,
    "do_convert_rgb": True,
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "Qwen2VLImageProcessorFast",
    "image_std": [0.5, 0.5, 0.5],
    "merge_size": 2,
    "patch_size": 16,
    "resample": 3,
    "rescale_factor": 0.00392156862745098,
    "size": {"longest_edge": 16777216, "shortest_edge": 65536},
    "temporal_patch_size": 2,
}
MODEL = {"model_type": "qwen3_vl", "image_token_id": 151655}


@pytest.fixture
def folder(tmp_path):
    def write(preprocessor=None, processor=None, config=None):
        for name, value in (
            ("preprocessor_config.json", preprocessor),
            ("processor_config.json", processor),
            ("config.json", config),
        ):
            if value is not None:
                text = value if isinstance(value, str) else json.dumps(value)
                (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_presets_are_taken_by_the_core():
    for name in preset_names():
        assert mmcpp.ImageProcessor.from_spec(preset_spec(name)).family == preset_spec(name)["family"]
    with pytest.raises(ValueError, match="qwen3_vl.*'qwen9'"):
        preset_spec("qwen9")
    assert preset_spec("qwen2_vl")["resample"] == "aten_u8"
    assert preset_spec("qwen2_vl", backend="pil")["resample"] == "pil"


def test_old_and_new_files_give_the_presets(folder):
    old = load_spec(folder(OLD, config={"model_type": "qwen2_vl", "image_token_id": 151655}))
    assert old == preset_spec("qwen2_vl")
    assert load_spec(folder(NEW, config=MODEL)) == preset_spec("qwen3_vl")


def test_the_nested_file_wins_and_a_flat_one_is_passed_over(folder):
    path = folder(OLD, processor={"image_processor": NEW, "processor_class": "Qwen3VLProcessor"}, config=MODEL)
    assert load_spec(path)["patch_size"] == 16
    assert load_spec(folder(OLD, processor={"processor_class": "Qwen2VLProcessor"}))["patch_size"] == 14


@pytest.mark.parametrize(
    ("name", "backend", "resample"),
    [
        ("Qwen2VLImageProcessor", None, "aten_u8"),
        ("Qwen2VLImageProcessorFast", None, "aten_u8"),
        ("Qwen2VLImageProcessorPil", None, "pil"),
        ("Qwen2VLImageProcessorFast", "pil", "pil"),
        ("Qwen2VLImageProcessorPil", "torchvision", "aten_u8"),
    ],
)
def test_the_class_names_the_backend_unless_the_caller_does(folder, name, backend, resample):
    assert load_spec(folder({**NEW, "image_processor_type": name}), backend=backend)["resample"] == resample


def test_pil_follows_the_pillow_that_is_installed(folder, monkeypatch):
    for version, generation in (("12.1.1", 12), ("13.0.0", 13), ("14.2", 13)):
        monkeypatch.setattr("importlib.metadata.version", lambda _, v=version: v)
        assert load_spec(folder(NEW), backend="pil")["pillow_generation"] == generation


def test_a_missing_or_foreign_model_leaves_the_image_half(folder):
    assert load_spec(folder(NEW))["image_token_id"] == -1
    path = folder(NEW, config={"model_type": "colqwen2"})
    assert load_spec(path)["image_token_id"] == -1
    with pytest.raises(mmcpp.UnsupportedError, match='model_type "colqwen2".*qwen2_5_vl'):
        mmcpp.Pipeline.from_pretrained(path)


def test_absent_keys_have_the_defaults_of_the_classes(folder):
    spec = load_spec(folder({"image_processor_type": "Qwen2VLImageProcessor"}, config={"model_type": "qwen3_5"}))
    assert (spec["min_pixels"], spec["max_pixels"], spec["patch_size"]) == (3136, 1003520, 14)
    assert spec["image_token_id"] == 248056
    by_model = load_spec(folder({"patch_size": 16}, config=MODEL))
    assert by_model["patch_size"] == 16
    by_extractor = {"feature_extractor_type": "Qwen2VLFeatureExtractor"}
    assert load_spec(folder(by_extractor))["family"] == "qwen_vl"


def test_old_keys_win_over_size(folder):
    both = {**NEW, "min_pixels": 100, "size": {"shortest_edge": 1, "longest_edge": 2000}}
    assert (load_spec(folder(both))["min_pixels"], load_spec(folder(both))["max_pixels"]) == (100, 2000)


def test_one_number_stands_for_three_channels(folder):
    assert load_spec(folder({**NEW, "image_mean": 0.25}))["image_mean"] == (0.25, 0.25, 0.25)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"do_resize": False}, "do_resize false"),
        ({"do_rescale": False}, "do_rescale false"),
        ({"do_normalize": False}, "do_normalize false"),
        ({"do_convert_rgb": False}, "do_convert_rgb false"),
        ({"do_center_crop": True}, "do_center_crop true"),
        ({"do_pan_and_scan": True}, "do_pan_and_scan true"),
        ({"resample": 2}, "resample 2 .*bicubic"),
        ({"rescale_factor": 1 / 127.5}, "rescale_factor 0.0078.*1/255"),
        ({"data_format": "channels_last"}, "data_format"),
        ({"size": {"height": 224, "width": 224}}, "size .*224.*shortest_edge"),
        ({"size": {"shortest_edge": 224}}, "size .*longest_edge"),
        ({"min_pixels": 0}, "size .*above 0"),
        ({"image_processor_type": "ViTImageProcessor"}, "'ViTImageProcessor'.*Qwen2VLImageProcessor"),
        ({"image_processor_type": None, "auto_map": {"AutoImageProcessor": "x.Y"}}, "remote code"),
    ],
)
def test_what_is_not_supported_is_refused_with_the_reason(folder, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=f"preprocessor_config.json.*{match}"):
        mmcpp.ImageProcessor.from_pretrained(folder({**NEW, **change}))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"patch_size": 14.0}, "patch_size: expected an integer, got 14.0"),
        ({"patch_size": True}, "patch_size: expected an integer, got true"),
        ({"image_mean": [0.5]}, "image_mean: expected three numbers"),
        ({"image_mean": ["a", "b", "c"]}, "image_mean: expected three numbers"),
        ({"size": 224}, "size: expected an object, got 224"),
        ({"size": {"shortest_edge": "a", "longest_edge": 5}}, 'size: shortest_edge: expected an integer, got "a"'),
        ({"patch_size": 0}, "patch"),
        ({"image_std": [0, 1, 1]}, "image_std"),
        ({"image_processor_type": 5}, "image_processor_type: expected a string, got 5"),
        ({"image_processor_type": None, "feature_extractor_type": 5}, "feature_extractor_type: expected a string"),
    ],
)
def test_wrong_values_are_named(folder, change, match):
    with pytest.raises(ValueError, match=match):
        mmcpp.ImageProcessor.from_pretrained(folder({**NEW, **change}))


def test_folders_that_are_none(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        load_spec(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"preprocessor_config\.json.*processor_config\.json"):
        load_spec(tmp_path)
    with pytest.raises(ValueError, match=r"preprocessor_config\.json: no valid JSON"):
        load_spec(folder("{"))
    with pytest.raises(ValueError, match=r"preprocessor_config\.json: no valid JSON"):
        load_spec(folder("[" * 100_000))
    with pytest.raises(ValueError, match="model_type: expected a string"):
        load_spec(folder({**NEW, "image_processor_type": None}, config={"model_type": []}))
    with pytest.raises(ValueError, match="expected a JSON object, got list"):
        load_spec(folder("[]"))
    with pytest.raises(ValueError, match="backend: expected"):
        load_spec(folder(NEW), backend="cv2")


def test_to_json_takes_mappings_and_texts():
    assert to_json('{"a": 1}') == '{"a": 1}'
    assert json.loads(to_json({"a": (1, 2)})) == {"a": [1, 2]}
    with pytest.raises(TypeError, match="got list"):
        to_json([])
    with pytest.raises(TypeError, match="spec: a: .*object"):
        to_json({"a": object()})
    with pytest.raises(TypeError, match="keys of type str, got 5"):
        to_json({5: 1})
    with pytest.raises(ValueError, match="spec: a: Out of range"):
        to_json({"a": [math.nan]})
    with pytest.raises(ValueError, match="spec: no Unicode text"):
        to_json('"\udc80"')
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="spec: a: "):
        to_json({"a": deep})


@pytest.mark.hf
@pytest.mark.parametrize("config", [OLD, NEW, {"image_processor_type": "Qwen2VLImageProcessorPil", "image_mean": 0.5}])
def test_settings_equal_transformers(folder, config):
    transformers = pytest.importorskip("transformers", reason="transformers is the reference")
    path = folder(config)
    theirs = transformers.Qwen2VLImageProcessorPil.from_pretrained(path)
    ours = load_spec(path)
    assert (ours["min_pixels"], ours["max_pixels"]) == (theirs.size["shortest_edge"], theirs.size["longest_edge"])
    for key in ("patch_size", "merge_size", "temporal_patch_size"):
        assert ours[key] == getattr(theirs, key)
    theirs.save_pretrained(path)  # as the version at hand writes it
    assert {**load_spec(path), "resample": 0} == {**ours, "resample": 0}
