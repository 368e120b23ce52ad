"""Pixtral, Mistral Small 3.1 and later, LightOnOCR: every picture at its own size, in whole patches.

Rules: ``PixtralImageProcessor`` and ``PixtralImageProcessorPil`` of transformers 5.24, and the processor, whose patch
and merge sizes win over the image processor's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("PixtralImageProcessor",)
"""The image processor class of transformers, without the suffix of its backend."""

MODEL_TYPES: Mapping[str, int] = {"lighton_ocr": 151655}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""

_MARKS: Marks = {
    "image_token_id": Mark("[IMG]", "image_token"),
    "row_end_token_ids": [Mark("[IMG_BREAK]", "image_break_token")],
    "end_token_ids": [Mark("[IMG_END]", "image_end_token")],
}

MARKS: Mapping[str, Marks] = {"llava": _MARKS, "mistral3": _MARKS}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    config.require_plain_pipeline(handled=("do_pad",))
    config.require("do_pad", True, "features of a batch have one shape")
    config.require("resample", 3, "bicubic")
    height, width = config.sides("patch_size", 16)
    if height != width:
        raise config.unsupported("patch_size", "squares")
    lighton = checkpoint.model.text("model_type") == "lighton_ocr"
    merge = checkpoint.model.integer("spatial_merge_size", 2 if lighton else 1)
    patch = checkpoint.processor.integer("patch_size", 14 if lighton else height)
    cell = patch * checkpoint.processor.integer("spatial_merge_size", merge)
    return {
        "family": "pixtral",
        **checkpoint.tokens(MODEL_TYPES, MARKS),
        "longest_edge": config.edge("size", "longest_edge", 1024),
        # LightOnOCR's processor counts in its own patches, but leaves the image processor its one.
        **({"patch_size": height, "token_size": cell} if lighton else {"patch_size": cell}),
        "image_mean": config.channels("image_mean", CLIP[0]),
        "image_std": config.channels("image_std", CLIP[1]),
        **checkpoint.arithmetic,
    }
