"""Idefics 3, SmolVLM: whole tiles of a picture, and behind them the picture as a whole.

Rules: the classes in ``CLASSES``, of transformers 5.24, in both backends, for one picture a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import FILTERS, HALF

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("Idefics3ImageProcessor", "SmolVLMImageProcessor")
"""The image processor classes of transformers, without the suffix of their backend."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the marks of tiles stand in no file but the tokenizer's."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    config.require_plain_pipeline(handled=("do_pad", "do_image_splitting"))
    config.require("do_pad", True, "features of a batch have one shape")
    tile = config.edge("max_image_size", "longest_edge", 364)
    model = checkpoint.model
    vision = model.mapping("vision_config", {})
    along = vision.integer("image_size", tile) // vision.integer("patch_size", 14)
    tokens = max(along**2 // model.integer("scale_factor", 2) ** 2, 1)
    return {
        "family": "idefics3",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "tokens_per_tile": checkpoint.processor.integer("image_seq_len", tokens),
        "longest_edge": config.edge("size", "longest_edge", 1456),
        "tile_size": tile,
        "split": config.get("do_image_splitting", True) is True,
        "filter": config.choice("resample", 1, FILTERS),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        **checkpoint.arithmetic,
    }
