"""Llama 4: tiles of a canvas, and behind them the picture as a whole.

Rules: ``Llama4ImageProcessor`` of transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import FILTERS, HALF
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("Llama4ImageProcessor",)
"""The image processor class of transformers, without the suffix of its backend."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {"Llama4ImageProcessor": ("torchvision",)}
"""The backends of the classes that do not have both."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the separators of tiles stand in no file but the tokenizer's."""

MARKS: Mapping[str, Marks] = {
    "llama4": {
        "image_token_id": Mark("<|patch|>"),
        "placeholder_token_id": Mark("<|image|>", "fake_image_token"),
        "prefix_token_ids": [Mark("<|image_start|>")],
        "suffix_token_ids": [Mark("<|image_end|>")],
        "column_token_ids": [Mark("<|tile_x_separator|>")],
        "row_token_ids": [Mark("<|tile_y_separator|>")],
        "global_token_ids": [Mark("<|image|>")],
    }
}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    config.require_plain_pipeline()
    config.require("resize_to_max_canvas", False, "the default")
    height, width = config.sides("size", 336)
    if height != width:
        raise config.unsupported("size", "squares")
    vision = checkpoint.model.mapping("vision_config", {})
    patch = checkpoint.processor.integer("patch_size", vision.integer("patch_size", 14))
    ratio = checkpoint.processor.get("pixel_shuffle_ratio", vision.get("pixel_shuffle_ratio", 0.5))
    return {
        "family": "llama4",
        **checkpoint.tokens(MODEL_TYPES, MARKS),
        "tokens_per_tile": max((height // patch) ** 2 // round(1 / float(ratio) ** 2), 1),
        "tile_size": height,
        "max_tiles": config.integer("max_patches", 16),
        "filter": config.choice("resample", 2, FILTERS),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        **checkpoint.arithmetic,
    }
