"""Granite-Docling of its own class: tiles of a page, and the page as a whole.

Rules: ``GraniteDoclingImageProcessor`` of transformers 5.24, in both backends, for one picture a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("GraniteDoclingImageProcessor",)
"""The image processor class of transformers, without the suffix of its backend."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the marks of tiles stand in no file but the tokenizer's."""

MARKS: Mapping[str, Marks] = {
    "granite_docling": {
        "image_token_id": Mark("<image>", "image_token"),
        "fake_token_ids": [Mark("<fake_token_around_image>")],
        "global_token_ids": [Mark("<global-img>")],
        "row_end_token_ids": [Mark("\n")],
        "last_row_end_token_ids": [Mark("\n\n")],
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
    config.require("resample", 3, "bicubic")
    config.require("fine_route", False, "the coarse path")
    config.require("dense_max_patches", 0, "pages are all alike")
    height, width = config.sides("size", 512)
    most = config.integer("max_patches", 32) if config.get("crop_to_patches", True) is True else 1
    return {
        "family": "granite_docling",
        **checkpoint.tokens(MODEL_TYPES, MARKS),
        **(checkpoint.tokenizer.places(max(most, 1)) if checkpoint.for_prompts else {}),
        "tokens_per_tile": checkpoint.processor.integer("image_seq_len", 64),
        "tile_height": height,
        "tile_width": width,
        "min_tiles": min(config.integer("min_patches", 1), max(most, 1)),
        "max_tiles": max(most, 1),
        "image_mean": config.channels("image_mean", CLIP[0]),
        "image_std": config.channels("image_std", CLIP[1]),
        **checkpoint.arithmetic,
    }
