"""Phi-4-multimodal: a grid of tiles under the picture at its own ratio, and the whole of it.

Rules: ``Phi4MultimodalImageProcessor`` of transformers 5.24, which is there for torchvision alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import HALF

if TYPE_CHECKING:
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MODEL_TYPES", "read_spec"]

CLASSES = ("Phi4MultimodalImageProcessor",)
"""The image processor class of transformers."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {"Phi4MultimodalImageProcessor": ("torchvision",)}
"""The backends of the classes that do not have both."""

MODEL_TYPES: Mapping[str, int] = {"phi4_multimodal": 200010}
"""The model types whose prompts can be expanded from the files alone, and the image token where config.json names
none."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    # The class resizes whatever the file says, and the picture on its grid with a filter of its own.
    config.require_plain_pipeline(handled=("do_resize",))
    config.require("resample", 3, "bicubic, of the picture as a whole")
    height, width = config.sides("size", 448)
    if height != width:
        raise config.unsupported("size", "squares")
    return {
        "family": "phi4_multimodal",
        "image_token_id": _image_token(checkpoint),
        "tile_size": height,
        "patch_size": config.integer("patch_size", 14),
        "max_tiles": config.integer("dynamic_hd", 36),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        "resample": checkpoint.arithmetic["resample"],
    }


def _image_token(checkpoint: Checkpoint) -> int:
    """It stands among the settings of the vision model."""
    token = checkpoint.image_token(MODEL_TYPES)
    if token != MODEL_TYPES["phi4_multimodal"]:
        return token
    return checkpoint.model.mapping("vision_config", {}).integer("image_token_id", token)
