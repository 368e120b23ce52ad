"""`qwen_vl` with the size rules that pad: Kimi-K2.5 and GLM-5-Next against their classes in transformers 5.24, Kimi-VL
against its rule."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import mmcpp
from hf import Tokens, compare, compare_prompt, processing, torchvision_only

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

from hf_rules import KimiVL  # noqa: E402  (needs transformers)

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
GLM_BLOCK = 2 * 28 * 28
CASES = {
    # name: our keys, their arguments
    "kimi_k25": (
        {"smart_resize": "navit", "max_patches": 300, "max_patches_per_side": 24, "patch_order": "raster_4d",
         "temporal_patch_size": 1, "positions": "plain"},
        {"max_patches": 300, "size": {"max_height": 24, "max_width": 24}},
    ),
    "kimi_vl": (
        {"smart_resize": "kimi_vl", "max_patches": 300, "max_patches_per_side": 512, "patch_order": "raster_4d",
         "temporal_patch_size": 1, "positions": "plain", "grid": "hws"},
        {"in_token_limit": 300, "patch_size": 14, "merge_size": 2},
    ),
    "glm5_next": (
        {"smart_resize": "glm5_next", "min_pixels": 16 * GLM_BLOCK, "max_pixels": 200 * GLM_BLOCK,
         "temporal_patch_size": 2, "positions": "plain"},
        {"min_image_tokens": 16, "max_image_tokens": 200},
    ),
}  # fmt: skip


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    return {
        "family": "qwen_vl",
        "image_token_id": 1,
        "patch_size": 14,
        "merge_size": 2,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **HALF,
        **CASES[name][0],
        **keys,
    }


def processor(name: str):
    arguments = {**CASES[name][1], **HALF}
    if name == "kimi_vl":
        return KimiVL(**arguments)
    if name == "kimi_k25":
        return torchvision_only(name, "Kimi_K25ImageProcessor", **arguments)
    return transformers.Glm5NextImageProcessorPil(**arguments)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize("name", ["kimi_k25", "glm5_next"])
def test_sizes(name):
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of(name)), processor(name)
    choose = random.Random(6)
    sizes = [(int(2 ** choose.uniform(0, 14)), int(2 ** choose.uniform(0, 14))) for _ in range(2000)]
    for height, width in [(1, 1), (1, 60000), (60000, 1), (28, 28), (29, 27), *sizes]:
        expected = theirs.get_number_of_image_patches(height, width)
        assert ours.plan(height, width).feature_shape[0] == expected, (height, width)
        assert ours.count_tokens(height, width) * 4 == expected


def test_the_largest_of_kimi_vl():
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of("kimi_vl")), processor("kimi_vl")
    for size in [(1, 7139), (7139, 1), (1, 7140)]:
        expected = theirs(Image.fromarray(np.zeros((*size, 3), np.uint8)), return_tensors="np")
        assert ours.plan(*size).grid[1:] == tuple(expected["image_grid_hws"][0])
    for size in [(1, 7141), (13, 7168)]:
        with pytest.raises(ValueError, match="Exceed pos emb"):
            theirs(Image.fromarray(np.zeros((*size, 3), np.uint8)), return_tensors="np")
        with pytest.raises(ValueError, match="of 512 patches and more"):
            ours.plan(*size)


@pytest.mark.parametrize(("name", "rule"), [("kimi_k25", "Kimi_K25Processor"), ("glm5_next", "Glm5NextProcessor")])
def test_prompts(name, rule):
    replace = getattr(processing(name), rule).replace_image_token
    tokens = Tokens("<|media_pad|>")
    theirs = processor(name)
    this = SimpleNamespace(image_processor=theirs, image_token="<|media_pad|>")
    spec = spec_of(name, image_token_id=tokens.id("<|media_pad|>"))
    compare_prompt(spec, tokens, "<|media_pad|>", lambda inputs, i: replace(this, inputs, i), theirs)
