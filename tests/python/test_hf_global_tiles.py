"""`global_tiles` against the image processors of DeepSeek-OCR 2 and Unlimited-OCR in transformers 5.24, and against the
rules of DeepSeek-VL2 and DeepSeek-OCR."""

import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Both, Tokens, compare, compare_prompt, processing, torchvision_only
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")
hf_rules = pytest.importorskip("hf_rules")  # imports transformers

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
RESOLUTIONS = [[1, 1], [1, 2], [2, 1], [1, 3], [3, 1], [1, 4], [4, 1], [2, 2], [2, 3], [3, 2], [1, 9], [9, 1], [3, 3]]
CASES = {
    # name: side of the whole, of a tile, least and most tiles, mean and std, background
    "deepseek_vl2": (84, 84, 1, 9, HALF, [127] * 3),
    "deepseek_vl2_colors": (98, 98, 1, 9, CLIP, [122, 116, 104]),
    "deepseek_ocr": (128, 80, 2, 6, HALF, [127] * 3),
    "deepseek_ocr2": (128, 96, 2, 6, HALF, [127] * 3),
    "deepseek_ocr2_colors": (97, 64, 3, 9, CLIP, [1, 200, 99]),
    "unlimited_ocr": (112, 64, 2, 32, HALF, [127] * 3),
}
PARTS = {
    name: ("pixel_values", "pixel_values_local", "images_crop") for name in CASES if not name.startswith("deepseek_vl2")
}
"""The tensors of a feature that is several."""


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    whole, tile, least, most, channels, background = CASES[name]
    layout = name.removesuffix("_colors")
    spec = {
        "family": "global_tiles",
        "layout": layout,
        "image_token_id": 1,
        "tile_size": tile,
        "tile_tokens": -(-tile // 32),
        "background": background,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
    }
    if layout == "deepseek_vl2":
        spec["image_grid_pinpoints"] = [[tile * rows, tile * columns] for rows, columns in RESOLUTIONS]
    else:
        spec |= {"global_size": whole, "global_tokens": -(-whole // 32), "min_tiles": least, "max_tiles": most}
    return {**spec, **keys}


def processor(name: str):
    whole, tile, least, most, channels, background = CASES[name]
    if name.startswith("deepseek_vl2"):
        resolutions = [(tile * columns, tile * rows) for rows, columns in RESOLUTIONS]
        colors = channels["image_mean"]
        return hf_rules.DeepseekVL2(**channels, colors=colors, tile_size=tile, candidate_resolutions=resolutions)
    if name == "deepseek_ocr":
        colors = channels["image_mean"]
        return hf_rules.DeepseekOCR(**channels, colors=colors, base_size=whole, tile_size=tile, crops=(least, most))
    arguments = {
        "size": {"height": whole, "width": whole},
        "tile_size": tile,
        "min_patches": least,
        "max_patches": most,
        "background_color": background,
        **channels,
    }
    if name == "unlimited_ocr":
        return torchvision_only("unlimited_ocr", "UnlimitedOcrImageProcessor", **arguments)
    return Both.of("deepseek_ocr2", "DeepseekOcr2ImageProcessor", **arguments)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


def test_resolutions_and_grids():
    choose = random.Random(7)
    sizes = [(1, 5000), (5000, 1), (84, 84), (80, 80), (81, 80), (80, 81), (160, 160), (240, 160), (160, 240)]
    sizes += [(choose.randint(1, 3000), choose.randint(1, 3000)) for _ in range(2000)]
    vl2, ocr = (mmcpp.ImageProcessor.from_spec(spec_of(name)) for name in ("deepseek_vl2", "deepseek_ocr"))
    for height, width in sizes:
        if 84 / max(height, width) * min(height, width) > 0.5:
            columns, rows = processor("deepseek_vl2").best(width, height)
            assert vl2.plan(height, width).grid[1:] == (rows // 84, columns // 84), (height, width)
        if 128 / max(height, width) * min(height, width) > 0.5:
            columns, rows = hf_rules.closest_grid(width, height, 80, 2, 6) if max(height, width) > 80 else (1, 1)
            assert ocr.plan(height, width).grid[1:] == (rows, columns), (height, width)


@pytest.mark.parametrize("name", CASES)
def test_pictures_that_vanish_are_refused(name):
    with pytest.raises(ValueError, match="1x3000 vanishes"):
        mmcpp.ImageProcessor.from_spec(spec_of(name)).plan(1, 3000)


def test_tokens_of_released_checkpoints():
    """Counts by the model's own code, for sizes whose grids are known."""
    pairs = [[384 * rows, 384 * columns] for rows, columns in RESOLUTIONS]
    vl2 = spec_of("deepseek_vl2", tile_size=384, tile_tokens=14, image_grid_pinpoints=pairs)
    ours = mmcpp.ImageProcessor.from_spec(vl2)
    assert [ours.count_tokens(*size) for size in ((384, 384), (1152, 768), (1152, 1152))] == [421, 1429, 2017]
    ocr = spec_of("deepseek_ocr", global_size=1024, global_tokens=16, tile_size=640, tile_tokens=10)
    ours = mmcpp.ImageProcessor.from_spec(ocr)
    assert ours.count_tokens(640, 640) == 16 * 17 + 1
    assert ours.count_tokens(1280, 1920) == 16 * 17 + 1 + 20 * 31


def test_deepseek_ocr2_prompt():
    replace = processing("deepseek_ocr2").DeepseekOcr2Processor.replace_image_token
    tokens = Tokens("<image>")
    images = SimpleNamespace(size={"height": 128, "width": 128}, tile_size=96)
    rule = SimpleNamespace(image_token="<image>", patch_size=8, downsample_ratio=4, image_processor=images)
    spec = spec_of("deepseek_ocr2", image_token_id=tokens.id("<image>"))
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), processor("deepseek_ocr2"))


def test_unlimited_ocr_prompt():
    replace = processing("unlimited_ocr").UnlimitedOcrProcessor.replace_image_token
    tokens = Tokens("<image>")
    images = SimpleNamespace(size={"height": 112, "width": 112}, tile_size=64)
    rule = SimpleNamespace(image_token="<image>", patch_size=8, downsample_ratio=4, image_processor=images)
    spec = spec_of("unlimited_ocr", "torchvision", image_token_id=tokens.id("<image>"))
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), processor("unlimited_ocr"))


@pytest.mark.parametrize("name", ["deepseek_vl2", "deepseek_ocr"])
def test_prompt_by_rule(name):
    tokens = Tokens("<image>")
    spec = spec_of(name, image_token_id=tokens.id("<image>"))
    along, local = -(-CASES[name][0] // 32), spec["tile_tokens"]

    def replace(inputs, i):
        columns, rows = inputs["images_spatial_crop"][i]
        count = along * (along + 1) + 1
        if name == "deepseek_vl2" or columns * rows > 1:
            count += rows * local * (columns * local + 1)
        return "<image>" * count

    compare_prompt(spec, tokens, "<image>", replace, processor(name))


def test_tensors_in_other_types():
    """A flat feature in each type is the same one in another."""
    import numpy as np

    ours = mmcpp.ImageProcessor.from_spec(spec_of("deepseek_ocr2"))
    picture = np.zeros((200, 130, 3), np.uint8)
    small = np.zeros((50, 50, 3), np.uint8)
    batch = ours.process_items([picture, small], dtype="uint8")
    assert [item.plan.feature_shape for item in batch.items] == [(3 * (128**2 + 6 * 96**2),), (3 * 128**2,)]
    assert batch.features.dtype == np.uint8
    assert len(batch.features) == 3 * (2 * 128**2 + 6 * 96**2)
    halves = ours([picture, small], dtype="float16")
    assert {name: value.shape for name, value in halves.items()} == {
        "pixel_values": (2, 3, 128, 128),
        "pixel_values_local": (6, 3, 96, 96),
        "num_local_patches": (2,),
    }
