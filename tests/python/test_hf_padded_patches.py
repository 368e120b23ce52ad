"""`padded_patches` against the image processors of SigLIP 2 and Gemma 4 in transformers 5.24."""

import contextlib
import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Both, Tokens, compare, compare_prompt, processing

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

CASES = {
    # name: their arguments, our keys
    "siglip2": (
        {"patch_size": 16, "max_num_patches": 256, "image_mean": [0.5] * 3, "image_std": [0.5] * 3},
        {
            "size_rule": "siglip2", "patch_size": 16, "max_patches": 256, "filter": "bilinear",
            "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
        },
    ),
    "siglip2_colors": (
        {"patch_size": 14, "max_num_patches": 70, "image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.3, 0.25]},
        {
            "size_rule": "siglip2", "patch_size": 14, "max_patches": 70, "filter": "bilinear",
            "image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.3, 0.25],
        },
    ),
    "gemma4": (
        {"max_soft_tokens": 70},
        {"size_rule": "gemma4", "patch_size": 16, "max_patches": 630, "pooling": 3, "do_normalize": False},
    ),
    "gemma4_normalized": (
        {"max_soft_tokens": 140, "do_normalize": True},
        {
            "size_rule": "gemma4", "patch_size": 16, "max_patches": 1260, "pooling": 3,
            "image_mean": [0] * 3, "image_std": [1] * 3,
        },
    ),
}  # fmt: skip


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    return {
        "family": "padded_patches",
        "image_token_id": 1,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **CASES[name][1],
        **keys,
    }


def processor(name: str):
    model = name.partition("_")[0]
    return Both.of(model, f"{model.title()}ImageProcessor", do_convert_rgb=True, **CASES[name][0])


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


def sizes_to_try(seed: int) -> list[tuple[int, int]]:
    choose = random.Random(seed)
    sizes = [(1, n) for n in (1, 2, 47, 48, 100, 199, 200, 201, 3000, 5000, 100000)]
    sizes += [(n, 1) for _, n in sizes] + [(17, 65), (48, 48 * 70), (48, 48 * 71), (1, 1 << 20), (5, 4801)]
    return sizes + [(int(1.01 ** choose.randint(0, 900)), int(1.01 ** choose.randint(0, 900))) for _ in range(1500)]


@pytest.mark.parametrize(("patch", "most"), [(16, 256), (14, 70), (16, 1), (8, 1024)])
def test_siglip2_sizes(patch, most):
    from transformers.models.siglip2.image_processing_pil_siglip2 import get_image_size_for_max_num_patches as rule

    ours = mmcpp.ImageProcessor.from_spec(spec_of("siglip2", patch_size=patch, max_patches=most))
    for size in sizes_to_try(patch):
        expected = rule(*size, patch, most)
        if expected[0] * expected[1] > most * patch * patch:  # what their padding then drops
            with pytest.raises(ValueError, match="cannot be reduced"):
                ours.plan(*size)
            continue
        plan = ours.plan(*size)
        assert (plan.resized_height, plan.resized_width) == expected, size


@pytest.mark.parametrize("tokens", [70, 280, 1120])
def test_gemma4_sizes(tokens):
    from transformers.models.gemma4.image_processing_pil_gemma4 import get_aspect_ratio_preserving_size as rule

    ours = mmcpp.ImageProcessor.from_spec(spec_of("gemma4", max_patches=9 * tokens))
    for size in sizes_to_try(tokens):
        plan = ours.plan(*size)
        assert (plan.resized_height, plan.resized_width) == rule(*size, 16, 9 * tokens, 3), size


@pytest.mark.parametrize("size", [(1, 5), (500, 500), (16, 4000)])
def test_budgets_too_small_are_refused(size):
    from transformers.models.gemma4.image_processing_pil_gemma4 import get_aspect_ratio_preserving_size as rule

    ours = mmcpp.ImageProcessor.from_spec(spec_of("gemma4", max_patches=8))
    with contextlib.suppress(ValueError):
        assert 0 in rule(*size, 16, 8, 3)
    with pytest.raises(ValueError, match="patches: "):
        ours.plan(*size)


def test_gemma4_prompt():
    replace = processing("gemma4").Gemma4Processor.replace_image_token
    tokens = Tokens("<boi>", "<image>", "<eoi>")
    rule = SimpleNamespace(boi_token="<boi>", image_token="<image>", eoi_token="<eoi>")
    spec = spec_of(
        "gemma4",
        image_token_id=tokens.id("<image>"),
        prefix_token_ids=[tokens.id("<boi>")],
        suffix_token_ids=[tokens.id("<eoi>")],
    )
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), processor("gemma4"))
