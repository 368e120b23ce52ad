"""Inkling's class of transformers: the picture scaled by a fraction, in square patches whose channels stay interleaved.

Rule: ``InklingImageProcessor`` of transformers 5.24, which is there for torchvision alone. Checkpoints are read as
sglang reads them, see ``mmcpp.families.by_model``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP, FILTERS

if TYPE_CHECKING:
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("InklingImageProcessor",)
"""The image processor class of transformers."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {"InklingImageProcessor": ("torchvision",)}
"""The backends of the classes that do not have both."""

MODEL_TYPES: Mapping[str, int] = {}
"""None here: those of ``mmcpp.families.by_model``."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    config.require_plain_pipeline()
    height, width = config.sides("size", 40)
    if height != width:
        raise config.unsupported("size", "squares")
    fraction = config.number("rescale_image_frac", None)
    # Null is no cap to the class, other than an absent key.
    named = "rescale_image_max_upscaled_long_edge" in config.names()
    cap = config.integer("rescale_image_max_upscaled_long_edge", None if named else 2048)
    scaling: dict[str, Any] = {}
    if fraction is not None:
        scaling = {"rescale_image_frac": fraction}
        if fraction > 1 and cap is not None:  # the cap limits growth alone
            scaling["rescale_image_max_upscaled_long_edge"] = cap
    return {
        "family": "inkling",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "patch_size": height,
        **scaling,
        "filter": config.choice("resample", 1, FILTERS),
        "image_mean": config.channels("image_mean", CLIP[0]),
        "image_std": config.channels("image_std", CLIP[1]),
        "resample": checkpoint.arithmetic["resample"],
    }
