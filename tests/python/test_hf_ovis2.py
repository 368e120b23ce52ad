"""`ovis2` against `Ovis2ImageProcessor` of transformers 5.24."""

import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Both, Tokens, compare, compare_prompt, processing
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

CASES = {
    # name: side of a tile, least and most tiles, rule of the grid
    "ovis2": (112, 1, 9, "covering"),
    "ovis2_closest": (112, 2, 6, "closest_ratio"),
    "ovis2_whole": (112, 1, 1, "covering"),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    side, least, most, rule = CASES[name]
    return {
        "family": "ovis2",
        "image_token_id": 1,
        "tokens_per_tile": 16,
        "tile_size": side,
        "min_tiles": least,
        "max_tiles": most,
        "grid_rule": rule,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **CLIP,
        **keys,
    }


def processor(name: str):
    side, least, most, rule = CASES[name]
    return Both.of(
        "ovis2",
        "Ovis2ImageProcessor",
        size={"height": side, "width": side},
        crop_to_patches=most > 1,
        min_patches=least,
        max_patches=most,
        use_covering_area_grid=rule == "covering",
        **CLIP,
    )


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


def test_grids():
    from transformers.models.ovis2.image_processing_pil_ovis2 import get_min_tile_covering_grid

    choose = random.Random(8)
    for most, side in ((9, 448), (12, 112), (6, 224)):
        ours = mmcpp.ImageProcessor.from_spec(spec_of("ovis2", tile_size=side, max_tiles=most))
        sizes = [(int(2 ** choose.uniform(0, 13)), int(2 ** choose.uniform(0, 13))) for _ in range(700)]
        for height, width in [(1, 1), (448, 448), (1, 5000), (5000, 1), *sizes]:
            columns, rows = get_min_tile_covering_grid((height, width), side, most)
            assert ours.plan(height, width).grid[1:] == (rows, columns), (height, width, most, side)


@pytest.mark.parametrize("name", CASES)
def test_prompt(name):
    replace = processing("ovis2").Ovis2Processor.replace_image_token
    names = ["<image>", "<IMG_ATOM>", "<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>"]
    tokens = Tokens(*names)
    image, atom, start, whole, column, row, end = map(tokens.id, names)
    spec = spec_of(
        name,
        image_token_id=atom,
        placeholder_token_id=image,
        prefix_token_ids=[start],
        suffix_token_ids=[end],
        whole_token_ids=[whole],
        column_token_ids=[column],
        row_token_ids=[row],
    )
    rule = SimpleNamespace(image_seq_length=16)
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), processor(name))
