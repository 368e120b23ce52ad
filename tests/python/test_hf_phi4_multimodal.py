"""`phi4_multimodal` against the image processor of Phi-4-multimodal in transformers 5.24."""

import math
import random
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

import mmcpp
from hf import Tokens, compare, compare_prompt, processing, torchvision_only
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
torch = pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
# In place of those that are too thin.
MORE_SIZES = [(112, 112), (224, 113)]
CASES = {
    # name: side of a tile, of a patch, most tiles, mean and std
    "phi4_multimodal": (112, 14, 36, HALF),
    "phi4_multimodal_4": (112, 14, 4, CLIP),
    "phi4_multimodal_odd": (63, 9, 12, HALF),
    "phi4_multimodal_rest": (100, 23, 9, HALF),
    "phi4_multimodal_one": (126, 14, 1, HALF),
}


def spec_of(name: str, backend: str = "torchvision", **keys: object) -> dict:
    side, patch, most, channels = CASES[name]
    return {
        "family": "phi4_multimodal",
        "image_token_id": 1,
        "tile_size": side,
        "patch_size": patch,
        "max_tiles": most,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
        **keys,
    }


def processor(name: str):
    side, patch, most, channels = CASES[name]
    size = {"height": side, "width": side}
    return torchvision_only(
        "phi4_multimodal", "Phi4MultimodalImageProcessor", size=size, patch_size=patch, dynamic_hd=most, **channels
    )


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name), more_sizes=MORE_SIZES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_sizes_and_tokens(name):
    theirs, (side, patch, most, _) = processor(name).whole, CASES[name]
    ours = mmcpp.ImageProcessor.from_spec(spec_of(name))
    choose = random.Random(13)
    sizes = [(side * i + j, side * k - j) for i in range(1, 8) for k in range(1, 8) for j in (-1, 0, 1)]
    sizes += [(1, 1), (10, 300), (9, 300), (300, 9)]
    refused = 0
    for height, width in sizes + [(choose.randint(1, 900), choose.randint(1, 900)) for _ in range(300)]:
        pixels = torch.zeros(3, 1, 1, dtype=torch.uint8).expand(3, height, width)
        try:
            canvas, mask = planned(theirs, pixels, side, patch, most)
        except ValueError:
            refused += 1
            with pytest.raises(ValueError, match="which is less than 10 on a side"):
                ours.plan(height, width)
            continue
        plan = ours.plan(height, width)
        assert (plan.resized_height, plan.resized_width) == canvas, (height, width)
        assert plan.tokens == tokens_of(mask, side // patch), (height, width)
    assert refused


def planned(theirs, pixels, side, patch, most):
    """The canvas and the mask of dynamic_preprocess, without resampling."""
    made = []

    def pad(_image, padding, fill):
        made.append((padding, fill))
        return _image

    def resize(image, size):
        made.append(size)
        return image

    functions = SimpleNamespace(resize=resize, pad=pad)
    with mock.patch.dict(type(theirs).dynamic_preprocess.__globals__, {"tvF": functions}):
        _, mask = theirs.dynamic_preprocess(pixels, side, patch, side // patch, max_num=most)
    (height, width), ((_, _, right, below), fill) = made
    assert fill == [255, 255, 255]
    return (height + below, width + right), mask.numpy()


def tokens_of(mask, patches):
    """As _preprocess counts them."""
    rows, columns = (side // patches for side in mask.shape)
    tiles = mask.reshape(rows, patches, columns, patches).transpose(0, 2, 1, 3)[:, :, ::2, ::2]
    half = math.ceil(patches / 2)
    halved = tiles.transpose(0, 2, 1, 3).reshape(rows * half, columns * half)
    return 256 + 1 + int(halved.sum()) + int(halved[:, 0].sum()) + 16


@pytest.mark.parametrize("name", CASES)
def test_prompt(name):
    replace = processing("phi4_multimodal").Phi4MultimodalProcessor.replace_image_token
    tokens = Tokens("<|image|>")
    this = SimpleNamespace(image_token="<|image|>")
    spec = spec_of(name, image_token_id=tokens.id("<|image|>"))
    compare_prompt(spec, tokens, "<|image|>", lambda inputs, i: replace(this, inputs, i), processor(name))


def test_bytes_are_refused():
    with pytest.raises(mmcpp.UnsupportedError, match="no uint8"):
        mmcpp.ImageProcessor.from_spec(spec_of("phi4_multimodal"))(np.zeros((50, 50, 3), np.uint8), dtype="uint8")
