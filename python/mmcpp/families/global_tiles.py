"""DeepSeek-VL2, DeepSeek-OCR, DeepSeek-OCR 2, Unlimited-OCR: the picture as a whole on a square, then tiles of it.

Rules: ``DeepseekOcr2ImageProcessor`` in both backends and ``UnlimitedOcrImageProcessor`` of transformers 5.24; the code
of DeepSeek-VL2 and DeepSeek-OCR, whose settings stand in ``processor_config.json`` itself. Of DeepSeek-VL2 a prompt of
more than two pictures has no tiles: such a one needs a spec with the one resolution ``[tile_size, tile_size]``, and is
refused otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mmcpp.families import HALF
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.config_reader import ConfigReader
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]


class _Class(NamedTuple):
    layout: str
    max_tiles: int = 6
    tile_size: int = 640


CLASSES: Mapping[str, _Class] = {
    "DeepseekOcr2ImageProcessor": _Class("deepseek_ocr2", tile_size=768),
    "UnlimitedOcrImageProcessor": _Class("unlimited_ocr", max_tiles=32),
    "DeepseekVLV2Processor": _Class("deepseek_vl2"),
    "DeepseekOCRProcessor": _Class("deepseek_ocr"),
}
"""The image processor classes of transformers, without the suffix of their backend, and the processors of the models'
own code."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {
    "UnlimitedOcrImageProcessor": ("torchvision",),
    "DeepseekVLV2Processor": ("pil",),
    "DeepseekOCRProcessor": ("pil",),
}
"""The backends of the classes that do not have both."""

MODEL_TYPES: Mapping[str, int] = {"deepseek_ocr2": 128815, "unlimited_ocr": 128815}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""

MARKS: Mapping[str, Marks] = {"deepseek_vl_v2": {"image_token_id": Mark("<image>", "image_token")}}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config, defaults = checkpoint.image, CLASSES[checkpoint.class_name]
    config.require_plain_pipeline()
    config.require("resample", 3, "bicubic")
    mean = config.channels("image_mean", HALF[0])
    spec = {
        "family": "global_tiles",
        "layout": defaults.layout,
        **checkpoint.tokens(MODEL_TYPES, MARKS),
        "image_mean": mean,
        "image_std": config.channels("image_std", HALF[1]),
        **checkpoint.arithmetic,
    }
    if checkpoint.class_name == "DeepseekVLV2Processor":
        background = {"background": [int(channel * 255) for channel in mean]}
        return spec | _vl2(config) | {**background, "max_tiled_items": 2}
    if checkpoint.class_name == "DeepseekOCRProcessor":
        return spec | _ocr(config, 1024, 640) | _tiles(2, 6) | {"background": [int(channel * 255) for channel in mean]}
    config.require("crop_to_patches", True, "as the processor asks for")
    height, width = config.sides("size", 1024)
    tile = config.integer("tile_size", defaults.tile_size)
    if height != width:
        raise config.unsupported("size", "squares")
    return (
        spec
        | _ocr(checkpoint.processor, height, tile, whole_patches=defaults.layout == "unlimited_ocr")
        | _tiles(config.integer("min_patches", 2), config.integer("max_patches", defaults.max_tiles))
        | {"background": config.get("background_color", [127, 127, 127])}
    )


def _vl2(config: ConfigReader) -> dict[str, Any]:
    """Its resolutions are pairs of width and height."""
    config.require("normalize", True, "the step cannot be left out")
    given = config.get("candidate_resolutions")
    pairs = given if isinstance(given, list) else []
    if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise config.unsupported("candidate_resolutions", "pairs of width and height")
    tile = pairs[0][0]
    tokens = _along(tile, config.integer("patch_size", 14), config.integer("downsample_ratio", 2))
    pinpoints = [[height, width] for width, height in pairs]
    return {"tile_size": tile, "tile_tokens": tokens, "image_grid_pinpoints": pinpoints}


def _ocr(config: ConfigReader, size: int, tile: int, *, whole_patches: bool = True) -> dict[str, Any]:
    patch, ratio = config.integer("patch_size", 16), config.integer("downsample_ratio", 4)
    return {
        "global_size": size,
        "global_tokens": _along(size, patch, ratio, whole_patches),
        "tile_size": tile,
        "tile_tokens": _along(tile, patch, ratio, whole_patches),
    }


def _along(side: int, patch: int, ratio: int, whole_patches: bool = True) -> int:
    """The tokens along a side."""
    return math.ceil((side // patch if whole_patches else side / patch) / ratio)


def _tiles(least: int, most: int) -> dict[str, int]:
    return {"min_tiles": least, "max_tiles": most}
