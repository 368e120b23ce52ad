"""`idefics3` against the image processors of Idefics 3 and SmolVLM in transformers 5.24, one picture a sample."""

import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Both, Tokens, compare, compare_prompt, processing

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: their module and class, longest edge, side of a tile, whether tiles are cut, tokens of a tile
    "idefics3": ("idefics3", "Idefics3ImageProcessor", 364, 91, True, 9),
    "smolvlm": ("smolvlm", "SmolVLMImageProcessor", 384, 128, True, 16),
    "smolvlm_whole": ("smolvlm", "SmolVLMImageProcessor", 300, 128, False, 16),
    "idefics3_odd": ("idefics3", "Idefics3ImageProcessor", 155, 100, True, 4),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    _, _, edge, tile, split, tokens = CASES[name]
    return {
        "family": "idefics3",
        "image_token_id": 1,
        "tokens_per_tile": tokens,
        "longest_edge": edge,
        "tile_size": tile,
        "split": split,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **HALF,
        **keys,
    }


def processor(name: str, **keys: object):
    model, cls, edge, tile, split, _ = CASES[name]
    sizes = {"size": {"longest_edge": edge}, "max_image_size": {"longest_edge": tile}}
    return Both.of(model, cls, nested=True, do_image_splitting=split, **sizes, **keys)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize("name", CASES)
def test_grids(name):
    from transformers.models.idefics3.image_processing_pil_idefics3 import get_resize_output_image_size as first

    _, _, edge, tile, split, _ = CASES[name]
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of(name)), processor(name).pil
    choose = random.Random(edge)
    sizes = [(1, n) for n in (1, 2, 99, 100, 200, 3000)] + [(n, 1) for n in (2, 49, 100, 103, 200, 3000)]
    for size in sizes + [(choose.randint(1, 3000), choose.randint(1, 3000)) for _ in range(1000)]:
        resized = first(SimpleNamespace(shape=(3, *size)), edge)
        theirs.resize = lambda image, size, resample: size
        if split:
            after = theirs.resize_for_vision_encoder(SimpleNamespace(shape=(3, *resized)), tile)
            resized = (after["height"], after["width"])
        else:
            resized = (tile, tile)
        if 0 in resized:
            with pytest.raises(ValueError, match="vanishes"):
                ours.plan(*size)
            continue
        plan = ours.plan(*size)
        assert (plan.resized_height, plan.resized_width) == resized, size
        assert plan.grid[0] == plan.feature_shape[1] == plan.grid[1] * plan.grid[2] + (resized != (tile, tile))


@pytest.mark.parametrize("name", CASES)
def test_prompt(name):
    cells = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    tokens = Tokens("<image>", "<fake>", "<global>", "\n", "\n\n", *cells)
    model = CASES[name][0]
    fields = {"image_token": "<image>", "fake_image_token": "<fake>", "image_seq_len": CASES[name][5]}
    rule = SimpleNamespace(global_image_tag="<global>", global_image_token="<global>", **fields)
    cls = processing(model).Idefics3Processor if model == "idefics3" else processing(model).SmolVLMProcessor
    spec = spec_of(
        name,
        image_token_id=tokens.id("<image>"),
        fake_token_ids=[tokens.id("<fake>")],
        global_token_ids=[tokens.id("<global>")],
        row_column_token_ids=list(map(tokens.id, cells)),
        mark_columns=6,
        row_end_token_ids=[tokens.id("\n")],
        last_row_end_token_ids=[tokens.id("\n\n")],
    )
    theirs = processor(name, return_row_col_info=True)
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: cls.replace_image_token(rule, inputs, i), theirs)


def test_more_tiles_than_marks_are_refused():
    spec = spec_of("idefics3", row_column_token_ids=[1, 2, 3, 4], mark_columns=2)
    with pytest.raises(ValueError, match="tiles: 4x4 are more than there are marks"):
        mmcpp.ImageProcessor.from_spec(spec).plan(500, 500)
