"""Ovis2: the picture as a whole, then tiles of it.

Rules: ``Ovis2ImageProcessor`` and ``Ovis2ImageProcessorPil`` of transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP, FILTERS
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("Ovis2ImageProcessor",)
"""The image processor class of transformers, without the suffix of its backend."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the marks of tiles stand in no file but the tokenizer's."""

MARKS: Mapping[str, Marks] = {
    "ovis2": {
        "image_token_id": Mark("<IMG_ATOM>"),
        "placeholder_token_id": Mark("<image>"),
        "prefix_token_ids": [Mark("<IMG_START>")],
        "suffix_token_ids": [Mark("<IMG_END>")],
        "whole_token_ids": [Mark("<IMG_GRID>")],
        "column_token_ids": [Mark("<IMG_COL>")],
        "row_token_ids": [Mark("<IMG_ROW>")],
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
    height, width = config.sides("size", 384)
    if height != width:
        raise config.unsupported("size", "squares")
    covering = config.get("use_covering_area_grid", True) is True
    tiles = config.integer("max_patches", 12) if config.get("crop_to_patches", False) is True else 1
    return {
        "family": "ovis2",
        **checkpoint.tokens(MODEL_TYPES, MARKS),
        "tokens_per_tile": checkpoint.processor.integer("image_seq_length", 256),
        "tile_size": height,
        "grid_rule": "covering" if covering else "closest_ratio",
        "min_tiles": 1 if covering or tiles == 1 else config.integer("min_patches", 1),
        "max_tiles": tiles,
        "filter": config.choice("resample", 3, FILTERS),
        "image_mean": config.channels("image_mean", CLIP[0]),
        "image_std": config.channels("image_std", CLIP[1]),
        **checkpoint.arithmetic,
    }
