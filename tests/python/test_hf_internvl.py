"""`internvl` against `GotOcr2ImageProcessor` of transformers 5.24, which InternVL, Aya Vision and GOT-OCR2 use."""

import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Tokens, compare, compare_prompt, processing, torchvision_only, torchvision_stand_in
from samples import CLIP

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")
hf_rules = pytest.importorskip("hf_rules")  # imports transformers

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
CASES = {
    # name: side of a tile, least and most tiles, tokens of a tile, mean and std
    "internvl": (224, 1, 12, 64, IMAGENET),
    "aya_vision": (182, 1, 6, 169, CLIP),
    "two_at_least": (112, 2, 9, 16, CLIP),
    "got_ocr2": (512, 1, 1, 256, CLIP),
    "internvl_chat": (196, 1, 12, 49, IMAGENET),
    "internvl_chat_6": (112, 2, 6, 16, IMAGENET),
    "cohere2_vision": (128, 1, 12, 64, CLIP),
    "cohere2_vision_7": (96, 1, 7, 16, CLIP),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    side, least, most, tokens, channels = CASES[name]
    rule = {"grid_rule": "least_enlargement"} if name.startswith("cohere2") else {}
    return {
        "family": "internvl",
        **rule,
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
    if name.startswith("cohere2"):
        size = {"height": side, "width": side}
        cls = "Cohere2VisionImageProcessor"
        return torchvision_only("cohere2_vision", cls, size=size, max_patches=most, **channels)
    if name.startswith("internvl_chat"):
        return hf_rules.InternVLChat(**channels, side=side, patches=(least, most))
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


def test_cohere2_grids():
    with torchvision_stand_in():
        from transformers.models.cohere2_vision.image_processing_cohere2_vision import get_optimal_tiled_canvas

    choose = random.Random(6)
    for side, most in ((512, 12), (100, 7), (336, 1)):
        keys = {"max_tiles": most, "tile_height": side, "tile_width": side}
        ours = mmcpp.ImageProcessor.from_spec(spec_of("cohere2_vision", "torchvision", **keys))
        sizes = [(side * i, side * k) for i in range(1, 8) for k in range(1, 8)] + [(1, 1), (1, 5000), (5000, 1)]
        for size in sizes + [(choose.randint(1, 5000), choose.randint(1, 5000)) for _ in range(1000)]:
            columns, rows = get_optimal_tiled_canvas(size, (side, side), 1, most)
            assert ours.plan(*size).grid[1:] == (rows, columns), size


def test_cohere2_prompt():
    replace = processing("cohere2_vision").Cohere2VisionProcessor.replace_image_token
    tokens = Tokens("<image>", "<break>", "<begin>", "<end>")
    rule = SimpleNamespace(
        patch_size=8, image_token="<image>", img_line_break_token="<break>", boi_token="<begin>", eoi_token="<end>"
    )
    spec = spec_of(
        "cohere2_vision",
        "torchvision",
        image_token_id=tokens.id("<image>"),
        tile_end_token_ids=[tokens.id("<break>")],
        prefix_token_ids=[tokens.id("<begin>")],
        suffix_token_ids=[tokens.id("<end>")],
    )
    theirs = processor("cohere2_vision")
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), theirs)


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


def test_qianfan_ocr_prompt():
    replace = processing("qianfan_ocr").QianfanOCRProcessor.replace_image_token
    tokens = Tokens("<image>", "<IMG_CONTEXT>", "<img>", "</img>")
    rule = SimpleNamespace(
        image_seq_length=64, start_image_token="<img>", end_image_token="</img>", image_token="<IMG_CONTEXT>"
    )
    spec = spec_of(
        "internvl",
        image_token_id=tokens.id("<IMG_CONTEXT>"),
        placeholder_token_id=tokens.id("<image>"),
        prefix_token_ids=[tokens.id("<img>")],
        suffix_token_ids=[tokens.id("</img>")],
    )
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), processor("internvl"))


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
