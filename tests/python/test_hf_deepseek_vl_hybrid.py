"""`deepseek_vl_hybrid` against the image processor of DeepSeek-VL 7B in transformers 5.24."""

from types import SimpleNamespace

import pytest

from hf import Both, Tokens, compare, compare_prompt, processing
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: sides, least side, mean and std of both, Pillow's numbers of both filters
    "deepseek_vl_hybrid": (96, 256, 14, CLIP, CLIP, (3, 3)),
    "deepseek_vl_hybrid_colors": (120, 160, 30, HALF, CLIP, (2, 3)),
    "deepseek_vl_hybrid_lower": (161, 127, 14, CLIP, HALF, (3, 2)),
}
PARTS = dict.fromkeys(CASES, ("pixel_values", "high_res_pixel_values"))
"""The tensors of a feature that is several."""
FILTERS = {2: "bilinear", 3: "bicubic"}


def high_res(channels: dict) -> dict:
    return {f"high_res_{key}": value for key, value in channels.items()}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    low, high, least, channels, channels_high, filters = CASES[name]
    return {
        "family": "deepseek_vl_hybrid",
        "image_token_id": 1,
        "tokens_per_image": 576,
        "size": low,
        "high_res_size": high,
        "min_padded_side": least,
        "filter": FILTERS[filters[0]],
        "high_res_filter": FILTERS[filters[1]],
        "high_res_background": [int(channel * 255) for channel in channels_high["image_mean"]],
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
        **high_res(channels_high),
        **keys,
    }


def processor(name: str):
    low, high, least, channels, channels_high, filters = CASES[name]
    return Both.of(
        "deepseek_vl_hybrid",
        "DeepseekVLHybridImageProcessor",
        size={"height": low, "width": low},
        high_res_size={"height": high, "width": high},
        min_size=least,
        resample=filters[0],
        high_res_resample=filters[1],
        do_convert_rgb=True,
        **channels,
        **high_res(channels_high),
    )


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


def test_prompt():
    replace = processing("deepseek_vl_hybrid").DeepseekVLHybridProcessor.replace_image_token
    tokens = Tokens("<image_placeholder>")
    rule = SimpleNamespace(image_token="<image_placeholder>", num_image_tokens=576)
    spec = spec_of("deepseek_vl_hybrid", image_token_id=tokens.id("<image_placeholder>"))
    theirs = processor("deepseek_vl_hybrid")
    compare_prompt(spec, tokens, "<image_placeholder>", lambda inputs, i: replace(rule, inputs, i), theirs)
