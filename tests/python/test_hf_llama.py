"""`mllama` and `llama4` against the image processors of Llama 3.2 Vision, one picture a sample, and Llama 4 in
transformers 5.24."""

import importlib
import random
from types import SimpleNamespace

import numpy as np
import pytest

import mmcpp
from hf import Both, Tokens, compare, compare_prompt, picture_in, processing, torchvision_only, torchvision_stand_in
from mmcpp.families.mllama import cross_attention_mask
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: side of a tile, most tiles, mean and std
    "mllama": (112, 4, CLIP),
    "mllama_9": (90, 9, HALF),
    "llama4": (112, 16, HALF),
    "llama4_colors": (84, 5, {"image_mean": [0.3, 0.4, 0.6], "image_std": [0.2, 0.3, 0.7]}),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    side, most, channels = CASES[name]
    family = name.partition("_")[0]
    return {
        "family": family,
        "image_token_id": 1,
        "tile_size": side,
        "max_tiles": most,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **({"tokens_per_tile": 16} if family == "llama4" else {}),
        **channels,
        **keys,
    }


def processor(name: str):
    side, most, channels = CASES[name]
    size = {"height": side, "width": side}
    if name.startswith("mllama"):
        return Both.of("mllama", "MllamaImageProcessor", nested=True, size=size, max_image_tiles=most, **channels)
    return torchvision_only("llama4", "Llama4ImageProcessor", size=size, max_patches=most, **channels)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


def test_llama4_in_bfloat16():
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of("llama4", "torchvision")), processor("llama4")
    for size in ((90, 130), (300, 200)):
        image = picture_in("RGB", *size)
        values = theirs(image, return_tensors="pt")["pixel_values"]
        assert (
            ours(image, dtype="bfloat16")["pixel_values"].tobytes()
            == (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
        )


SIZES = [(1, 1), (1, 5000), (5000, 1), (112, 112), (336, 336), (337, 337), (1344, 1344)]


def sizes_to_try(side: int) -> list[tuple[int, int]]:
    choose = random.Random(side)
    whole = [(side * i + j, side * k - j) for i in range(1, 7) for k in range(1, 7) for j in (-1, 0, 1)]
    return SIZES + whole + [(choose.randint(1, 4000), choose.randint(1, 4000)) for _ in range(2000)]


@pytest.mark.parametrize("name", ["mllama", "mllama_9"])
def test_mllama_canvases(name):
    from transformers.models.mllama import image_processing_pil_mllama as rule

    side, most, _ = CASES[name]
    ours = mmcpp.ImageProcessor.from_spec(spec_of(name))
    for size in sizes_to_try(side):
        canvas = rule.get_optimal_tiled_canvas(*size, most, side)
        fitted = rule.get_image_size_fit_to_canvas(*size, *canvas, side)
        plan = ours.plan(*size)
        assert plan.grid[1:] == (canvas[0] // side, canvas[1] // side), size
        assert (plan.resized_height, plan.resized_width) == fitted, size


@pytest.mark.parametrize("name", ["llama4", "llama4_colors"])
def test_llama4_canvases(name):
    import torch

    with torchvision_stand_in():
        rule = importlib.import_module("transformers.models.llama4.image_processing_llama4")

    side, most, _ = CASES[name]
    ours = mmcpp.ImageProcessor.from_spec(spec_of(name, "torchvision"))
    tile = SimpleNamespace(height=side, width=side)
    canvases = torch.tensor(rule.find_supported_resolutions.__wrapped__(most, tile))
    for size in sizes_to_try(side):
        canvas = rule.get_best_fit(size, canvases)
        wanted = tuple(min(max(length, side), along) for length, along in zip(size, canvas, strict=True))
        fitted = rule.get_max_res_without_distortion(size, wanted)
        plan = ours.plan(*size)
        assert plan.grid[1:] == tuple((canvas // side).tolist()), size
        assert (plan.resized_height, plan.resized_width) == tuple(max(int(length), 1) for length in fitted), size


def test_mllama_prompt():
    replace = processing("mllama").MllamaProcessor.replace_image_token
    tokens = Tokens("<|image|>")
    rule = SimpleNamespace(image_token="<|image|>")
    spec = spec_of("mllama", image_token_id=tokens.id("<|image|>"))
    compare_prompt(spec, tokens, "<|image|>", lambda inputs, i: replace(rule, inputs, i), processor("mllama"))


def test_mllama_cross_attention():
    rule = processing("mllama")
    choose = random.Random(9)
    for length in range(1, 40):
        ids = [choose.choice([7, 7, 1, 2]) for _ in range(length)]
        tiles = [choose.randint(1, 4) for _ in range(ids.count(7))]
        if tiles:
            ranges = rule.get_cross_attention_token_mask(ids, 7)
            theirs = rule.convert_sparse_cross_attention_mask_to_dense([ranges], [tiles], 4, length)[0]
            ours = cross_attention_mask(ids, tiles, image_token_id=7, max_tiles=4)
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            assert ours.tobytes() == theirs.tobytes(), ids
    with pytest.raises(ValueError, match="1 image tokens for 2 pictures"):
        cross_attention_mask([7, 1], [1, 1], image_token_id=7, max_tiles=4)


def test_llama4_prompt():
    cls = processing("llama4").Llama4Processor
    names = (
        "<|image|>",
        "<|patch|>",
        "<|image_start|>",
        "<|image_end|>",
        "<|tile_x_separator|>",
        "<|tile_y_separator|>",
    )
    tokens = Tokens(*names)
    rule = SimpleNamespace(patch_size=14, downsample_ratio=4)
    rule._prompt_split_image = cls._prompt_split_image.__get__(rule)
    whole, patch, begin, end, column, row = map(tokens.id, names)
    spec = spec_of(
        "llama4",
        "torchvision",
        image_token_id=patch,
        placeholder_token_id=whole,
        prefix_token_ids=[begin],
        suffix_token_ids=[end],
        column_token_ids=[column],
        row_token_ids=[row],
        global_token_ids=[whole],
    )
    theirs = processor("llama4")
    compare_prompt(spec, tokens, "<|image|>", lambda inputs, i: cls.replace_image_token(rule, inputs, i), theirs)
