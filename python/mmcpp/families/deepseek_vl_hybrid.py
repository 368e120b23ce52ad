"""DeepSeek-VL with two encoders (7B): every picture at a high and a low resolution.

Rules: ``DeepseekVLHybridImageProcessor`` of transformers 5.24, in both backends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP, FILTERS

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("DeepseekVLHybridImageProcessor",)
"""The image processor class of transformers, without the suffix of its backend."""

MODEL_TYPES: Mapping[str, int] = {"deepseek_vl_hybrid": 100015}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    config.require_plain_pipeline(handled=("do_pad",))
    config.require("do_pad", True, "as the class does")
    sizes = {}
    for key, default in (("size", 384), ("high_res_size", 1024)):
        height, sizes[key] = config.sides(key, default)
        if height != sizes[key]:
            raise config.unsupported(key, "squares")
    high_res_mean = config.channels("high_res_image_mean", CLIP[0])
    return {
        "family": "deepseek_vl_hybrid",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "tokens_per_image": checkpoint.processor.integer("num_image_tokens", 576),
        **sizes,
        "min_padded_side": config.integer("min_size", 14),
        "filter": config.choice("resample", 3, FILTERS),
        "image_mean": config.channels("image_mean", CLIP[0]),
        "image_std": config.channels("image_std", CLIP[1]),
        "high_res_filter": config.choice("high_res_resample", 3, FILTERS),
        "high_res_image_mean": high_res_mean,
        "high_res_image_std": config.channels("high_res_image_std", CLIP[1]),
        "high_res_background": [int(channel * 255) for channel in high_res_mean],
        **checkpoint.arithmetic,
    }
