"""LLaVA-NeXT (1.6), pictures of LLaVA-NeXT-Video, Granite Vision, LLaVA-OneVision: the best of a list of resolutions,
cut into tiles.

Rules: ``LlavaNextImageProcessor`` and ``LlavaOnevisionImageProcessor`` of transformers 5.24, in both backends, for one
picture a sample.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("LlavaNextImageProcessor", "LlavaOnevisionImageProcessor")
"""The image processor classes of transformers, without the suffix of their backend."""

MODEL_TYPES: Mapping[str, int] = {
    "llava_next": 32000,
    "llava_next_video": 32001,
    "granite4_vision": 32000,
    "llava_onevision": 151646,
}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""

_NEXT = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
_ONEVISION = [[384 * rows, 384 * columns] for rows in range(1, 7) for columns in range(1, 7)]


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    onevision = checkpoint.class_name == "LlavaOnevisionImageProcessor"
    config.require_plain_pipeline(handled=("do_pad", "do_center_crop"))
    config.require("do_pad", True, "features of a batch have one shape")
    config.require("do_center_crop", None if onevision else True, "as the class does")
    config.require("resample", 3, "bicubic")
    if onevision:
        tile = config.edge("size", "height", 384)
    else:
        tile = config.edge("size", "shortest_edge", 224)
        if config.sides("crop_size", 224) != (tile, tile):
            raise config.unsupported("crop_size", f"that of size, {tile}")
    spec = {
        "family": "llava_next",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "tile_size": tile,
        "image_grid_pinpoints": config.get("image_grid_pinpoints", _ONEVISION if onevision else _NEXT),
        "image_mean": config.channels("image_mean", CLIP[0]),
        "image_std": config.channels("image_std", CLIP[1]),
        **checkpoint.arithmetic,
    }
    return spec | (_onevision_tokens(checkpoint) if onevision else _next_tokens(checkpoint, tile))


def _class_token(checkpoint: Checkpoint, default: str) -> int:
    """1 if the encoder's class token is dropped, which the counts of transformers take off."""
    strategy = checkpoint.model.get("vision_feature_select_strategy", default)
    return 1 if checkpoint.processor.get("vision_feature_select_strategy", strategy) == "default" else 0


def _next_tokens(checkpoint: Checkpoint, tile: int) -> dict[str, Any]:
    vision = checkpoint.model.mapping("vision_config", {})
    along = tile // checkpoint.processor.integer("patch_size", vision.integer("patch_size", 14))
    granite4 = checkpoint.model.text("model_type") == "granite4_vision"
    extra = checkpoint.processor.integer("num_additional_image_tokens", 0 if granite4 else 1)
    rate = checkpoint.processor.text("downsample_rate") if granite4 else None
    if rate is not None:
        try:
            along = int(along * Fraction(rate))
        except (ValueError, ZeroDivisionError):
            raise checkpoint.processor.unsupported("downsample_rate", 'a fraction such as "1/4"') from None
    return {"tile_tokens": along, "base_tokens": along * along + extra - _class_token(checkpoint, "default")}


def _onevision_tokens(checkpoint: Checkpoint) -> dict[str, Any]:
    tokens = checkpoint.processor.integer("num_image_tokens", 729)
    ratio = checkpoint.model.get("vision_aspect_ratio", "anyres_max_9")
    ratio = checkpoint.processor.get("vision_aspect_ratio", ratio)
    if not isinstance(ratio, str) or not ratio.removeprefix("anyres_max_").isdecimal():
        raise checkpoint.model.unsupported("vision_aspect_ratio", "anyres_max_N")
    return {
        "tile_tokens": math.isqrt(tokens),
        "base_tokens": tokens - _class_token(checkpoint, "full"),
        "anyres_max": int(ratio.removeprefix("anyres_max_")),
        "batch_num_images": True,
    }
