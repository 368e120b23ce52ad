"""`inkling` against the image processor of Inkling in transformers 5.24."""

from types import SimpleNamespace

import numpy as np
import pytest

import mmcpp
import mmcpp.hf
from hf import (
    SIZES,
    Tokens,
    assert_equal,
    compare,
    compare_prompt,
    picture_in,
    processing,
    run,
    torchvision_only,
    torchvision_stand_in,
)
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: side of a patch, mean and std, fraction, cap
    "inkling": (40, CLIP, None, None),
    "inkling_larger": (16, CLIP, 2.0, 300),
    "inkling_smaller": (28, HALF, 0.75, None),
}


def spec_of(name: str, backend: str = "torchvision", **keys: object) -> dict:
    side, channels, fraction, cap = CASES[name]
    scaling = {"rescale_image_frac": fraction, "rescale_image_max_upscaled_long_edge": cap}
    return {
        "family": "inkling",
        "image_token_id": 1,
        "patch_size": side,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **{key: value for key, value in scaling.items() if value is not None},
        **channels,
        **keys,
    }


def processor(name: str):
    side, channels, fraction, cap = CASES[name]
    scaling = {"rescale_image_frac": fraction, "rescale_image_max_upscaled_long_edge": cap}
    size = {"height": side, "width": side}
    return torchvision_only("inkling", "InklingImageProcessor", size=size, **scaling, **channels)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize("fraction", [0.6, 1.0, 1.37, 3.0])
def test_no_cap(fraction, tmp_path):
    """None is no cap: in a call, and as null in a file."""
    theirs = processor("inkling_larger")
    theirs.whole.rescale_image_frac, theirs.whole.rescale_image_max_upscaled_long_edge = fraction, None
    theirs.whole.save_pretrained(tmp_path)
    ours = mmcpp.ImageProcessor.from_pretrained(tmp_path)
    with torchvision_stand_in():
        accelerated = mmcpp.hf.accelerate(theirs.whole, unsupported="error")
    for size in [*SIZES, (800, 300), (90, 1100)]:
        image = picture_in("RGB", *size)
        expected = run(theirs, "torchvision", image)
        assert_equal(ours(image), expected)
        with torchvision_stand_in():
            given = accelerated(image, return_tensors="pt")
        assert_equal({name: value.numpy() for name, value in given.items()}, expected)


@pytest.mark.parametrize("resample", ["bilinear", "bicubic"])
def test_other_filters(resample):
    theirs = processor("inkling_larger")
    theirs.whole.resample = {"bilinear": 2, "bicubic": 3}[resample]
    ours = mmcpp.ImageProcessor.from_spec(spec_of("inkling_larger", filter=resample))
    for size in SIZES:
        image = picture_in("RGB", *size)
        assert_equal(ours(image), run(theirs, "torchvision", image))


def test_what_vanishes_is_refused_by_both():
    theirs, image = processor("inkling_smaller"), picture_in("RGB", 1, 90)
    theirs.whole.rescale_image_frac = 0.25
    with pytest.raises(ValueError, match="Size must contain"):
        run(theirs, "torchvision", image)
    with pytest.raises(ValueError, match="leaves nothing of a side"):
        mmcpp.ImageProcessor.from_spec(spec_of("inkling_smaller", rescale_image_frac=0.25))(image)


def test_prompt():
    replace = processing("inkling").InklingProcessor.replace_image_token
    tokens = Tokens("<|unused_200054|>")
    rule = SimpleNamespace(image_token="<|unused_200054|>")
    spec = spec_of("inkling_larger", image_token_id=tokens.id("<|unused_200054|>"))
    theirs = processor("inkling_larger")
    compare_prompt(
        spec,
        tokens,
        "<|unused_200054|>",
        lambda inputs, i: replace(rule, {"num_patches": np.asarray(inputs["num_patches"])}, i),
        theirs,
    )
