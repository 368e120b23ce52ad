"""`llava_next` against the image processors of LLaVA-NeXT and LLaVA-OneVision in transformers 5.24."""

import json
import random
from types import SimpleNamespace

import numpy as np
import pytest

import mmcpp
from hf import Tokens, assert_equal, backends_of, compare, compare_prompt, picture_in, processing, run
from mmcpp.spec import load_spec
from samples import CLIP

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: side of a tile, resolutions, tokens along a tile, mean and std, our other keys
    "llava_next": (112, [[112, 224], [224, 112], [224, 224], [336, 112], [112, 336]], 8, CLIP, {}),
    "llava_onevision": (
        128, [[128 * i, 128 * k] for i in range(1, 5) for k in range(1, 5)], 9, HALF,
        {"anyres_max": 4, "batch_num_images": True},
    ),
}  # fmt: skip


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    side, resolutions, along, channels, others = CASES[name]
    return {
        "family": "llava_next",
        "image_token_id": 1,
        "tile_size": side,
        "image_grid_pinpoints": resolutions,
        "tile_tokens": along,
        "base_tokens": along * along,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
        **others,
        **keys,
    }


def processor(name: str):
    side, resolutions, _, channels, _ = CASES[name]
    if name == "llava_next":
        sizes = {"size": {"shortest_edge": side}, "crop_size": {"height": side, "width": side}}
        return transformers.LlavaNextImageProcessorPil(image_grid_pinpoints=resolutions, **sizes, **channels)
    return transformers.LlavaOnevisionImageProcessorPil(
        image_grid_pinpoints=resolutions, size={"height": side, "width": side}, **channels
    )


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


def rule_of(name: str):
    """Their processor's rule for one picture, with what it reads of its own object."""
    side, resolutions, along, _, _ = CASES[name]
    fields = {"image_token": "<image>", "image_processor": SimpleNamespace(image_grid_pinpoints=resolutions)}
    if name == "llava_next":
        cls = processing("llava_next").LlavaNextProcessor
        fields |= {
            "patch_size": side // along,
            "num_additional_image_tokens": 1,
            "vision_feature_select_strategy": "default",
        }
    else:
        cls = processing("llava_onevision").LlavaOnevisionProcessor
        fields |= {
            "num_image_tokens": along * along,
            "vision_feature_select_strategy": "full",
            "vision_aspect_ratio": "anyres_max_4",
        }
    this = SimpleNamespace(**fields)
    for method in ("_get_number_of_features", "_get_unpadded_features"):
        setattr(this, method, getattr(cls, method).__get__(this))
    return lambda inputs, i: cls.replace_image_token(this, inputs, i)


@pytest.mark.parametrize("name", CASES)
def test_prompt(name):
    tokens = Tokens("<image>")
    compare_prompt(
        spec_of(name, image_token_id=tokens.id("<image>")), tokens, "<image>", rule_of(name), processor(name)
    )


@pytest.mark.parametrize("name", CASES)
def test_counts(name):
    ours, rule, side = mmcpp.ImageProcessor.from_spec(spec_of(name)), rule_of(name), CASES[name][0]
    choose = random.Random(3)
    sizes = [(choose.randint(1, 2000), choose.randint(1, 2000)) for _ in range(2000)]
    for size in [*sizes, (1, 1000), (1000, 1), (3, 1900), (1, 3000), (2, 5000)]:
        inputs = {
            "image_sizes": [size],
            "batch_num_images": [1],
            "pixel_values": np.empty((1, 1, 3, side, side), np.uint8),
        }
        assert ours.count_tokens(*size) == rule(inputs, 0).count("<image>"), size


def test_granite4_vision_prompt(tmp_path):
    cls = processing("granite4_vision").Granite4VisionProcessor
    resolutions = CASES["llava_next"][1]
    rule = SimpleNamespace(
        image_token="<image>",
        image_processor=SimpleNamespace(image_grid_pinpoints=resolutions),
        patch_size=14,
        num_additional_image_tokens=0,
        vision_feature_select_strategy="full",
        downsample_rate="1/2",
    )
    for method in ("_get_number_of_features", "_get_unpadded_features"):
        setattr(rule, method, getattr(cls, method).__get__(rule))
    tokens = Tokens("<image>")
    theirs = processor("llava_next")
    theirs.save_pretrained(tmp_path)
    (tmp_path / "processor_config.json").write_text(
        json.dumps({"patch_size": 14, "vision_feature_select_strategy": "full", "downsample_rate": "1/2"})
    )
    model = {"model_type": "granite4_vision", "image_token_index": tokens.id("<image>")}
    (tmp_path / "config.json").write_text(json.dumps(model))
    spec = load_spec(tmp_path, backend="pil", for_prompts=True)
    assert (spec["tile_tokens"], spec["base_tokens"]) == (4, 16)
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: cls.replace_image_token(rule, inputs, i), theirs)


@pytest.mark.parametrize("name", ["llava_next", "llava_onevision"])
def test_what_is_less_than_a_pixel_high(name):
    """Of no resolution anything is left, and the smallest is taken."""
    theirs = processor(name)
    for backend in backends_of(theirs):
        ours = mmcpp.ImageProcessor.from_spec(spec_of(name, backend))
        for size in [(1, 1000), (1000, 1), (1, 3000), (2, 5000)]:
            image = picture_in("RGB", *size)
            assert_equal(ours(image), run(theirs, backend, image))
