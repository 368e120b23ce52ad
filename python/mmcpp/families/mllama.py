"""Llama 3.2 Vision: tiles of a canvas, for cross attention.

Rules: ``MllamaImageProcessor`` and ``MllamaImageProcessorPil`` of transformers 5.24, for one picture a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import FILTERS, HALF

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("MllamaImageProcessor",)
"""The image processor class of transformers, without the suffix of its backend."""

MODEL_TYPES: Mapping[str, int] = {"mllama": 128256}
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
    height, width = config.sides("size", 224)
    if height != width:
        raise config.unsupported("size", "squares")
    return {
        "family": "mllama",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "tile_size": height,
        "max_tiles": config.integer("max_image_tiles", 4),
        "filter": config.choice("resample", 2, FILTERS),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        **checkpoint.arithmetic,
    }
