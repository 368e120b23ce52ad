"""Llama 3.2 Vision: tiles of a canvas, for cross attention.

Rules: ``MllamaImageProcessor`` and ``MllamaImageProcessorPil`` of transformers 5.24, for one picture a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mmcpp.families import FILTERS, HALF

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MODEL_TYPES", "cross_attention_mask", "read_spec"]

CLASSES = ("MllamaImageProcessor",)
"""The image processor class of transformers, without the suffix of its backend."""

MODEL_TYPES: Mapping[str, int] = {"mllama": 128256}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    config.require_plain_pipeline(handled=("do_pad",))
    config.require("do_pad", True, "as the class does")
    height, width = config.sides("size", 224)
    if height != width:
        raise config.unsupported("size", "squares")
    return {
        "family": "mllama",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "tile_size": height,
        "max_tiles": config.integer("max_image_tiles", 4),
        "filter": config.choice("resample", 2, FILTERS),
        "image_mean": config.channels("image_mean", HALF[0]),
        "image_std": config.channels("image_std", HALF[1]),
        **checkpoint.arithmetic,
    }


def cross_attention_mask(
    input_ids: Sequence[int] | npt.NDArray[Any], num_tiles: Sequence[int], *, image_token_id: int, max_tiles: int
) -> npt.NDArray[np.int64]:
    """Say which tiles each token of a prompt looks at: those of the pictures before it, up to the next one; pictures
    that stand directly behind each other share what follows.

    Args:
        input_ids: the prompt, with one image token a picture.
        num_tiles: of each picture, ``aux["num_tiles"]``.
        image_token_id: of the spec.
        max_tiles: of the spec.

    Returns:
        ``int64 [length, pictures, max_tiles]``, 1 where a token looks. Equals a row of ``cross_attention_mask`` of
        transformers 5.24's ``MllamaProcessor``, before the rows of a batch are padded to one length.

    Raises:
        ValueError: not as many image tokens as pictures.

    >>> cross_attention_mask([7, 7, 1, 7, 2], [1, 2, 1], image_token_id=7, max_tiles=2)[:, :, 0].tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]]
    """
    ids = np.asarray(input_ids)
    starts = np.flatnonzero(ids == image_token_id).tolist()
    if len(starts) != len(num_tiles):
        raise ValueError(f"input_ids: {len(starts)} image tokens for {len(num_tiles)} pictures")
    mask = np.zeros((len(ids), len(starts), max_tiles), np.int64)
    end = len(ids)
    for i in reversed(range(len(starts))):
        if i + 1 < len(starts) and starts[i + 1] != starts[i] + 1:
            end = starts[i + 1]
        mask[starts[i] : end, i, : num_tiles[i]] = 1
    return mask
