"""PerceptionLM: the picture as a whole, then tiles of it.

Rules: ``PerceptionLMImageProcessor`` of transformers 5.24, which is there for torchvision alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import HALF

if TYPE_CHECKING:
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("PerceptionLMImageProcessor",)
"""The image processor class of transformers."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {"PerceptionLMImageProcessor": ("torchvision",)}
"""The backends of the classes that do not have both."""

MODEL_TYPES: Mapping[str, int] = {"perception_lm": 128002}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config, processor = checkpoint.image, checkpoint.processor
    config.require_plain_pipeline()
    config.require("resample", 3, "bicubic")
    tile = config.integer("tile_size", 448)
    patch = processor.integer("patch_size", 14)
    return {
        "family": "perception_lm",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "tile_size": tile,
        "max_tiles": config.integer("max_num_tiles", 36),
        "tiles": config.get("vision_input_type", "thumb+tile") == "thumb+tile",
        "tokens_per_tile": (tile // patch // processor.integer("pooling_ratio", 2)) ** 2,
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        "resample": checkpoint.arithmetic["resample"],
    }
