"""MiniCPM-V 2.6 to 4.7: the picture as a whole and slices of it.

Rules: ``MiniCPMV4_6ImageProcessor`` and ``MiniCPMV4_6ImageProcessorPil`` of transformers 5.24;
``MiniCPMVImageProcessor``, MiniCPM-V 2.6's own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import HALF

if TYPE_CHECKING:
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("MiniCPMV4_6ImageProcessor", "MiniCPMVImageProcessor")
"""The image processor classes, without the suffix of their backend."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {"MiniCPMVImageProcessor": ("pil",)}
"""Those of the classes that have one alone."""

MODEL_TYPES: Mapping[str, int] = {}
"""None: the tokens around slices stand in no file but the tokenizer's."""


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
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
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
