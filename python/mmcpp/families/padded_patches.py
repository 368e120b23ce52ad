"""SigLIP 2 (NaFlex) and Gemma 4: every picture at its own ratio, in as many patches, the rest of them zero.

Rules: the classes in ``CLASSES``, of transformers 5.24, in both backends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import FILTERS, HALF

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("Siglip2ImageProcessor", "Gemma4ImageProcessor")
"""The image processor classes of transformers, without the suffix of their backend."""

MODEL_TYPES: Mapping[str, int] = {"gemma4": 258880}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""

_SOFT_TOKENS = (70, 140, 280, 560, 1120)


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    gemma4 = checkpoint.class_name == "Gemma4ImageProcessor"
    config = checkpoint.image
    config.require_plain_pipeline(handled=("do_normalize",) if gemma4 else ())
    spec = {
        "family": "padded_patches",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "patch_size": config.integer("patch_size", 16),
        "filter": config.choice("resample", 3 if gemma4 else 2, FILTERS),
        **checkpoint.arithmetic,
    }
    return spec | (_gemma4(checkpoint) if gemma4 else _siglip2(checkpoint))


def _siglip2(checkpoint: Checkpoint) -> dict[str, Any]:
    config = checkpoint.image
    return {
        "size_rule": "siglip2",
        "max_patches": config.integer("max_num_patches", 256),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
    }


def _gemma4(checkpoint: Checkpoint) -> dict[str, Any]:
    config, model = checkpoint.image, checkpoint.model
    tokens, pooling = config.integer("max_soft_tokens", 280), config.integer("pooling_kernel_size", 3)
    if tokens not in _SOFT_TOKENS:
        raise config.unsupported("max_soft_tokens", ", ".join(map(str, _SOFT_TOKENS)))
    spec: dict[str, Any] = {"size_rule": "gemma4", "max_patches": tokens * pooling**2, "pooling": pooling}
    if config.get("do_normalize", False) is True:
        spec["image_mean"] = config.channels("image_mean", (0.0, 0.0, 0.0))
        spec["image_std"] = config.channels("image_std", (1.0, 1.0, 1.0))
    else:
        spec["do_normalize"] = False
    if checkpoint.for_prompts:
        spec["prefix_token_ids"] = [model.integer("boi_token_id", 255999)]
        spec["suffix_token_ids"] = [model.integer("eoi_token_id", 258882)]
    return spec
