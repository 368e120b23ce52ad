"""LFM2-VL: patches of the picture as a whole or, of a large one, of its tiles too.

Rules: ``Lfm2VlImageProcessor`` of transformers 5.24, which is there for torchvision alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import FILTERS, HALF
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("Lfm2VlImageProcessor",)
"""The image processor class of transformers."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {"Lfm2VlImageProcessor": ("torchvision",)}
"""The backends of the classes that do not have both."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the marks of tiles stand in no file but the tokenizer's."""

MARKS: Mapping[str, Marks] = {
    "lfm2_vl": {
        "image_token_id": Mark("<image>", "image_token"),
        "prefix_token_ids": [Mark("<|image_start|>", "image_start_token")],
        "suffix_token_ids": [Mark("<|image_end|>", "image_end_token")],
        "thumbnail_token_ids": [Mark("<|img_thumbnail|>", "image_thumbnail_token")],
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
    # The class resizes whatever the file says.
    config.require_plain_pipeline(handled=("do_pad", "do_image_splitting", "do_resize"))
    config.require("do_pad", True, "features of a batch have one shape")
    config.require("return_row_col_info", False, "the processor's own use")
    tolerance = config.get("max_pixels_tolerance", 2.0)
    if not isinstance(tolerance, (int, float)) or isinstance(tolerance, bool):
        raise config.unsupported("max_pixels_tolerance", "numbers")
    splits = config.get("do_image_splitting", True) is True
    most = config.integer("max_tiles", 10) if splits else 1
    return {
        "family": "lfm2_vl",
        **_tokens(checkpoint, most if most > 1 else 0),
        "patch_size": config.integer("encoder_patch_size", 16),
        "downsample_factor": config.integer("downsample_factor", 2),
        "min_image_tokens": config.integer("min_image_tokens", 64),
        "max_image_tokens": config.integer("max_image_tokens", 256),
        "max_pixels_tolerance": tolerance,
        "tile_size": config.integer("tile_size", 512),
        "min_tiles": config.integer("min_tiles", 2) if splits else 1,
        "max_tiles": most,
        "pads_to_tile": splits,
        "use_thumbnail": config.get("use_thumbnail", True) is True,
        "filter": config.choice("resample", 2, FILTERS),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        "resample": checkpoint.arithmetic["resample"],
    }


def _tokens(checkpoint: Checkpoint, tiles: int) -> dict[str, Any]:
    """Of prompts, with marks for places up to ``tiles`` along a side."""
    tokens = checkpoint.tokens(MODEL_TYPES, MARKS)
    if not checkpoint.for_prompts:
        return tokens
    checkpoint.processor.require("use_image_special_tokens", True, "marks around pictures")
    return tokens | checkpoint.tokenizer.places(tiles, "<|img_row_{}_col_{}|>")
