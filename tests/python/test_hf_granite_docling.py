"""`granite_docling` against the image processor of Granite-Docling in transformers 5.24, one picture a sample."""

import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Both, Tokens, compare, compare_prompt, processing
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
UNUSED = ("rows", "cols")
"""Lists of the processor's own use, which are no tensors."""
CASES = {
    # name: height and width of a tile, least and most tiles, mean and std
    "granite_docling": (64, 64, 1, 32, CLIP),
    "granite_docling_3": (50, 70, 3, 9, HALF),
    "granite_docling_whole": (96, 96, 1, 1, CLIP),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    height, width, least, most, channels = CASES[name]
    return {
        "family": "granite_docling",
        "image_token_id": 1,
        "tile_height": height,
        "tile_width": width,
        "min_tiles": least,
        "max_tiles": most,
        "tokens_per_tile": 16,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
        **keys,
    }


def processor(name: str):
    height, width, least, most, channels = CASES[name]
    return Both.of(
        "granite_docling",
        "GraniteDoclingImageProcessor",
        nested=True,
        size={"height": height, "width": width},
        crop_to_patches=most > 1,
        min_patches=least,
        max_patches=most,
        **channels,
    )


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name), UNUSED) >= 60


@pytest.mark.parametrize("name", CASES)
def test_grids(name):
    theirs, ours = processor(name).pil, mmcpp.ImageProcessor.from_spec(spec_of(name))
    choose = random.Random(12)
    sizes = [(64 * i, 64 * k) for i in range(1, 18) for k in range(1, 18)] + [(1, 1), (1, 900), (900, 1)]
    for size in sizes + [(choose.randint(1, 3000), choose.randint(1, 3000)) for _ in range(1000)]:
        assert ours.plan(*size).grid[1:] == theirs.get_tile_grid(*size), size


def test_prompt():
    replace = processing("granite_docling").GraniteDoclingProcessor.replace_image_token
    marks = [f"<row_{i}_col_{k}>" for i in range(1, 17) for k in range(1, 17)]
    tokens = Tokens("<image>", "<fake_token_around_image>", "<global-img>", "\n\n", "\n", *marks)
    rule = SimpleNamespace(
        image_seq_len=16,
        image_token="<image>",
        fake_image_token="<fake_token_around_image>",
        global_image_tag="<global-img>",
    )
    spec = spec_of(
        "granite_docling",
        image_token_id=tokens.id("<image>"),
        fake_token_ids=[tokens.id("<fake_token_around_image>")],
        global_token_ids=[tokens.id("<global-img>")],
        row_column_token_ids=list(map(tokens.id, marks)),
        mark_columns=16,
        row_end_token_ids=[tokens.id("\n")],
        last_row_end_token_ids=[tokens.id("\n\n")],
    )
    theirs = processor("granite_docling")
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), theirs)
