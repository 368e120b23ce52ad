"""MiniCPM-V 2.6 to 4.7: the picture as a whole and slices of it.

Rules: ``MiniCPMV4_6ImageProcessor`` and ``MiniCPMV4_6ImageProcessorPil`` of transformers 5.24;
``MiniCPMVImageProcessor``, MiniCPM-V 2.6's own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import HALF
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.config_reader import ConfigReader
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("MiniCPMV4_6ImageProcessor", "MiniCPMVImageProcessor")
"""The image processor classes, without the suffix of their backend."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {"MiniCPMVImageProcessor": ("pil",)}
"""Those of the classes that have one alone."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the tokens around slices stand in no file but the tokenizer's."""

_MARKS: Marks = {
    "image_start_token_ids": [Mark("<image>", "image_start_token")],
    "image_end_token_ids": [Mark("</image>", "image_end_token")],
    "slice_start_token_ids": [Mark("<slice>", "slice_start_token")],
    "slice_end_token_ids": [Mark("</slice>", "slice_end_token")],
    "row_end_token_ids": [Mark("\n")],
    "image_id_token_ids": [
        Mark("<image_id>", "image_id_start_token"),
        Mark("</image_id>", "image_id_end_token"),
        *map(Mark, "0123456789"),
    ],
}

MARKS: Mapping[str, Marks] = {
    # A picture of 2.6's prompts is one unknown token, where its own code has `(<image>./</image>)`.
    "minicpmv": {"image_token_id": Mark("<unk>", "unk_token"), **_MARKS},
    "minicpmv4_6": {"image_token_id": Mark("<|image_pad|>", "image_token"), **_MARKS},
    "minicpmv4_7": {"image_token_id": Mark("<|image_pad|>", "image_token"), **_MARKS},
}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""


_CANVAS = {
    "image_start_token_ids": "image_start_id",
    "image_end_token_ids": "image_end_id",
    "slice_start_token_ids": "slice_start_id",
    "slice_end_token_ids": "slice_end_id",
    "row_end_token_ids": "newline_id",
}
"""Marks, and the keys by which 4.7's ``config.json`` has their ids for its positions."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    config.require_plain_pipeline()
    config.require("resample", 3, "bicubic")
    spec: dict[str, Any] = {
        "family": "minicpmv",
        **_tokens(checkpoint),
        "patch_size": config.integer("patch_size", 14),
        "scale_resolution": config.integer("scale_resolution", 448),
        "max_slices": config.integer("max_slice_nums", 9) if config.get("slice_mode", True) is True else 1,
    }
    if checkpoint.class_name == "MiniCPMVImageProcessor":
        spec |= {"merge_size": 1, "tokens_per_slice": config.integer("image_feature_size", 64), "sizes": "tgt_sizes"}
        mean, std = config.channels("norm_mean", HALF[0]), config.channels("norm_std", HALF[1])
    else:
        mode = config.get("downsample_mode", "16x")
        if mode not in ("4x", "16x"):
            raise config.unsupported("downsample_mode", "4x and 16x")
        spec["merge_size"] = 2 if mode == "4x" else 4
        mean, std = config.channels("image_mean", HALF[0]), config.channels("image_std", HALF[1])
    return {**spec, "image_mean": mean, "image_std": std, **checkpoint.arithmetic}


def _tokens(checkpoint: Checkpoint) -> dict[str, Any]:
    """The tokens around pictures, and where positions are not plain, those."""
    model = checkpoint.model
    tokens = checkpoint.tokens(MODEL_TYPES, _marks(checkpoint.image))
    if model.text("model_type") != "minicpmv4_7" or not checkpoint.for_prompts:
        return tokens
    for mark, key in _CANVAS.items():
        if [model.integer(key, None)] != tokens[mark]:
            raise model.unsupported(key, f"the tokenizer's, which is {tokens[mark][0]}")
    mode = checkpoint.image.get("downsample_mode", "16x")
    if model.get("downsample_mode", "16x") != mode:
        raise model.unsupported("downsample_mode", f"that of the image processor, {mode}")
    return {**tokens, "positions": "canvas"}


def _marks(config: ConfigReader) -> Mapping[str, Marks]:
    """Without the number of a picture where it is not asked for."""
    if config.get("use_image_id", True) is True:
        return MARKS
    return {name: {k: m for k, m in marks.items() if k != "image_id_token_ids"} for name, marks in MARKS.items()}
