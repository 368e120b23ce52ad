"""`internvl` against `GotOcr2ImageProcessor` of transformers 5.24, which InternVL, Aya Vision and GOT-OCR2 use."""

import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Tokens, compare, compare_prompt
from samples import CLIP

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
CASES = {
    # name: side of a tile, least and most tiles, tokens of a tile, mean and std
    "internvl": (224, 1, 12, 64, IMAGENET),
    "aya_vision": (182, 1, 6, 169, CLIP),
    "two_at_least": (112, 2, 9, 16, CLIP),
    "got_ocr2": (512, 1, 1, 256, CLIP),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    side, least, most, tokens, channels = CASES[name]
    return {
        "family": "internvl",
        "image_token_id": 1,
        "tokens_per_tile": tokens,
        "tile_height": side,
        "tile_width": side,
        "min_tiles": least,
        "max_tiles": most,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
        **keys,
    }


def processor(name: str):
    side, least, most, _, channels = CASES[name]
    return transformers.GotOcr2ImageProcessorPil(
        size={"height": side, "width": side},
        crop_to_patches=most > 1,
        min_patches=least,
        max_patches=most,
        **channels,
    )


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


def test_grids():
    from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import get_optimal_tiled_canvas

    choose = random.Random(5)
    ratios = [(h * k, w * k) for h in range(1, 13) for w in range(1, 13) for k in (1, 100, 160, 300, 448)]
    for least, most, side in ((1, 12, 448), (1, 6, 364), (2, 6, 640), (1, 40, 448), (7, 7, 448)):
        ours = mmcpp.ImageProcessor.from_spec(
            {**spec_of("internvl"), "min_tiles": least, "max_tiles": most, "tile_height": side, "tile_width": side}
        )
        for height, width in ratios + [(choose.randint(1, 4000), choose.randint(1, 4000)) for _ in range(300)]:
            columns, rows = get_optimal_tiled_canvas((height, width), (side, side), least, most)
            assert ours.plan(height, width).grid[1:] == (rows, columns), (height, width, least, most)


def test_internvl_prompt():
    from transformers.models.internvl.processing_internvl import InternVLProcessor

    tokens = Tokens("<IMG_CONTEXT>", "<img>", "</img>")
    token, begin, end = map(tokens.id, ("<IMG_CONTEXT>", "<img>", "</img>"))
    rule = SimpleNamespace(
        image_seq_length=64, start_image_token="<img>", end_image_token="</img>", image_token="<IMG_CONTEXT>"
    )
    spec = spec_of("internvl", image_token_id=token, prefix_token_ids=[begin], suffix_token_ids=[end])
    compare_prompt(
        spec,
        tokens,
        "<IMG_CONTEXT>",
        lambda inputs, i: InternVLProcessor.replace_image_token(rule, inputs, i),
        processor("internvl"),
    )


def test_aya_vision_prompt():
    from transformers.models.aya_vision.processing_aya_vision import AyaVisionProcessor

    tiles = [f"TILE_{i}" for i in range(1, 7)]
    tokens = Tokens("<image>", "<|IMG_PATCH|>", "<|START_OF_IMG|>", "<|END_OF_IMG|>", "TILE_GLOBAL", *tiles)
    rule = SimpleNamespace(
        img_size=182,
        patch_size=14,
        start_of_img_token="<|START_OF_IMG|>",
        end_of_img_token="<|END_OF_IMG|>",
        tile_token="TILE",
        tile_global_token="TILE_GLOBAL",
        img_patch_token="<|IMG_PATCH|>",
    )
    spec = spec_of(
        "aya_vision",
        image_token_id=tokens.id("<|IMG_PATCH|>"),
        placeholder_token_id=tokens.id("<image>"),
        prefix_token_ids=[tokens.id("<|START_OF_IMG|>")],
        suffix_token_ids=[tokens.id("<|END_OF_IMG|>")],
        tile_token_ids=list(map(tokens.id, tiles)),
        thumbnail_token_ids=[tokens.id("TILE_GLOBAL")],
    )
    compare_prompt(
        spec,
        tokens,
        "<image>",
        lambda inputs, i: AyaVisionProcessor.replace_image_token(rule, inputs, i),
        processor("aya_vision"),
    )


def test_got_ocr2_prompt():
    from transformers.models.got_ocr2.processing_got_ocr2 import GotOcr2Processor

    tokens = Tokens("<imgpad>")
    rule = SimpleNamespace(image_token="<imgpad>")
    pages = {"num_pages_per_batch": [1] * 30, "num_image_tokens": 256, "patch_indices": range(1, 31)}
    compare_prompt(
        spec_of("got_ocr2", image_token_id=tokens.id("<imgpad>")),
        tokens,
        "<imgpad>",
        lambda inputs, i: GotOcr2Processor.replace_image_token(rule, inputs, i, **pages),
        processor("got_ocr2"),
    )
