"""Idefics 3, SmolVLM: whole tiles of a picture, and behind them the picture as a whole.

Rules: the classes in ``CLASSES``, of transformers 5.24, in both backends, for one picture a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import FILTERS, HALF
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("Idefics3ImageProcessor", "SmolVLMImageProcessor")
"""The image processor classes of transformers, without the suffix of their backend."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the marks of tiles stand in no file but the tokenizer's."""

_MARKS: Marks = {
    "image_token_id": Mark("<image>", "image_token"),
    "fake_token_ids": [Mark("<fake_token_around_image>", "fake_image_token")],
    "global_token_ids": [Mark("<global-img>", "global_image_token")],
    "row_end_token_ids": [Mark("\n")],
    "last_row_end_token_ids": [Mark("\n\n")],
}

MARKS: Mapping[str, Marks] = {"idefics3": _MARKS, "smolvlm": _MARKS}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""


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
    longest, splits = config.edge("size", "longest_edge", 1456), config.get("do_image_splitting", True) is True
    places = -(-longest // tile) if splits and tile > 0 else 0
    return {
        "family": "idefics3",
        **checkpoint.tokens(MODEL_TYPES, MARKS),
        **(checkpoint.tokenizer.places(places) if checkpoint.for_prompts else {}),
        "tokens_per_tile": checkpoint.processor.integer("image_seq_len", tokens),
        "longest_edge": longest,
        "tile_size": tile,
        "split": splits,
        "filter": config.choice("resample", 1, FILTERS),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        **checkpoint.arithmetic,
    }
