"""`perception_lm` against the image processor of PerceptionLM in transformers 5.24."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

import mmcpp
from hf import Tokens, compare, compare_prompt, processing, torchvision_only
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: side of a tile, most tiles, mean and std, whether there are tiles
    "perception_lm": (84, 36, HALF, True),
    "perception_lm_7": (56, 7, CLIP, True),
    "perception_lm_whole": (112, 36, HALF, False),
}


def spec_of(name: str, backend: str = "torchvision", **keys: object) -> dict:
    side, most, channels, tiles = CASES[name]
    return {
        "family": "perception_lm",
        "image_token_id": 1,
        "tile_size": side,
        "max_tiles": most,
        "tiles": tiles,
        "tokens_per_tile": (side // 28) ** 2,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
        **keys,
    }


class Padded:
    """Theirs, which makes no batch of different tiles, picture by picture; a batch has zero tiles behind."""

    def __init__(self, theirs) -> None:
        self.whole, self.backend = theirs, theirs.backend

    def __call__(self, images, return_tensors):
        images = images if isinstance(images, list) else [images]
        each = [self.whole(image, return_tensors=return_tensors)["pixel_values"] for image in images]
        values = np.zeros((len(each), max(one.shape[1] for one in each), *each[0].shape[2:]), np.float32)
        for i, one in enumerate(each):
            values[i, : one.shape[1]] = one[0]
        return {"pixel_values": values}

    def __getattr__(self, name):
        return getattr(self.whole, name)


def processor(name: str):
    side, most, channels, tiles = CASES[name]
    kind = "thumb+tile" if tiles else "vanilla"
    arguments = {"tile_size": side, "max_num_tiles": most, "vision_input_type": kind, **channels}
    return Padded(torchvision_only("perception_lm", "PerceptionLMImageProcessor", **arguments))


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize("name", ["perception_lm", "perception_lm_7"])
def test_grids(name):
    theirs, side = processor(name).whole.whole, CASES[name][0]
    ours = mmcpp.ImageProcessor.from_spec(spec_of(name))
    choose = random.Random(8)
    sizes = [(side * i, side * k) for i in range(1, 40) for k in range(1, 8)] + [(1, 1), (1, 5000), (5000, 1)]
    for height, width in sizes + [(choose.randint(1, 3000), choose.randint(1, 3000)) for _ in range(700)]:
        grid = theirs._fit_image_to_canvas(width, height, side) or theirs._find_closest_aspect_ratio(
            width, height, side
        )
        assert ours.plan(height, width).grid[1:] == grid[::-1], (height, width)


def test_prompt():
    replace = processing("perception_lm").PerceptionLMProcessor.replace_image_token
    tokens = Tokens("<|image|>")
    rule = SimpleNamespace(patch_size=14, pooling_ratio=2, image_token="<|image|>")

    def one(inputs, i):
        """Without the tiles that are there for the batch's sake."""
        values = inputs["pixel_values"][i]
        return replace(rule, {"pixel_values": [values[values.any(axis=(1, 2, 3))]]}, 0)

    spec = spec_of("perception_lm", image_token_id=tokens.id("<|image|>"))
    compare_prompt(spec, tokens, "<|image|>", one, processor("perception_lm"))
