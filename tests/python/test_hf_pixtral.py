"""`pixtral` against `PixtralImageProcessor` of transformers 5.24."""

from types import SimpleNamespace

import pytest

import mmcpp
from hf import Tokens, compare, compare_prompt, processing
from samples import CLIP

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

CASES = {"pixtral": (256, 16), "mistral3": (385, 28)}  # name: longest edge, pixels of a token along a side


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    edge, patch = CASES[name]
    return {
        "family": "pixtral",
        "image_token_id": 1,
        "longest_edge": edge,
        "patch_size": patch,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **CLIP,
        **keys,
    }


def processor(name: str):
    edge, patch = CASES[name]
    return transformers.PixtralImageProcessorPil(size={"longest_edge": edge}, patch_size=patch, **CLIP)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize(("name", "merge"), [("pixtral", 1), ("mistral3", 2)])
def test_prompt(name, merge):
    replace = processing("pixtral").PixtralProcessor.replace_image_token
    tokens = Tokens("[IMG]", "[IMG_BREAK]", "[IMG_END]")
    rule = SimpleNamespace(
        patch_size=CASES[name][1] // merge,
        spatial_merge_size=merge,
        image_token="[IMG]",
        image_break_token="[IMG_BREAK]",
        image_end_token="[IMG_END]",
    )
    spec = spec_of(
        name,
        image_token_id=tokens.id("[IMG]"),
        row_end_token_ids=[tokens.id("[IMG_BREAK]")],
        end_token_ids=[tokens.id("[IMG_END]")],
    )
    compare_prompt(spec, tokens, "[IMG]", lambda inputs, i: replace(rule, inputs, i), processor(name))


def test_lighton_ocr_prompt():
    replace = processing("lighton_ocr").LightOnOcrProcessor.replace_image_token
    tokens = Tokens("<|image_pad|>")
    rule = SimpleNamespace(effective_patch_size=28, image_token="<|image_pad|>")
    spec = spec_of("mistral3", image_token_id=tokens.id("<|image_pad|>"))
    theirs = processor("mistral3")
    compare_prompt(spec, tokens, "<|image_pad|>", lambda inputs, i: replace(rule, inputs, i), theirs)
    finer = mmcpp.ImageProcessor.from_spec({**spec, "patch_size": 14, "token_size": 28})
    for height in range(15, 300, 17):
        plan = finer.plan(height, 100)
        sizes = {"image_sizes": [(plan.resized_height, plan.resized_width)]}
        assert plan.tokens == replace(rule, sizes, 0).count("<|image_pad|>"), height
    with pytest.raises(ValueError, match="14x100 is less than one token of 28 pixels"):
        finer.plan(14, 100)


def test_what_vanishes_is_refused():
    with pytest.raises(ValueError, match="degenerates to 0x256"):
        mmcpp.ImageProcessor.from_spec(spec_of("pixtral")).plan(1, 300)
