"""Qwen2-VL, 2.5-VL, 3-VL and 3.5, pictures only, and what reuses their mechanism: the spec, and how a
checkpoint's files give it.

Rules: the classes in ``CLASSES``, of transformers 5.24, in both backends.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mmcpp.families import CLIP, HALF, Channels

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "MODEL_TYPES", "PRESETS", "QwenVLSpec", "read_spec", "seen_image"]


class _Class(NamedTuple):
    """What an image processor class of transformers does, and takes where its file is silent."""

    min_pixels: int
    max_pixels: int
    temporal_patch_size: int = 2
    smart_resize: Literal["transformers", "glm", "paddleocr"] = "transformers"
    patch_order: Literal["block", "raster_4d"] = "block"
    merge_size: int = 2
    image_merge_sizes: bool = False
    channels: Channels = CLIP


CLASSES: Mapping[str, _Class] = {
    "Qwen2VLImageProcessor": _Class(56 * 56, 28 * 28 * 1280),
    "Glm4vImageProcessor": _Class(112 * 112, 28 * 28 * 15000, smart_resize="glm"),
    "Glm46VImageProcessor": _Class(112 * 112, 28 * 28 * 15000, smart_resize="glm"),
    "PaddleOCRVLImageProcessor": _Class(384 * 384, 1536 * 1536, 1, "paddleocr", "raster_4d"),
    "Ernie4_5_VLMoeImageProcessor": _Class(56 * 56, 28 * 28 * 6177, 1),
    "VideoLlama3ImageProcessor": _Class(
        56 * 56, 28 * 28 * 1280, 1, merge_size=1, image_merge_sizes=True, channels=HALF
    ),
}
"""The image processor classes of transformers, without the suffix of their backend."""

MODEL_TYPES: Mapping[str, int] = {
    "qwen2_vl": 151655,
    "qwen2_5_vl": 151655,
    "qwen3_vl": 151655,
    "qwen3_vl_moe": 151655,
    "qwen3_5": 248056,
    "qwen3_5_moe": 248056,
    "glm4v": 151343,
    "glm4v_moe": 151363,
    "glm46v": 151343,
    "glm_ocr": 59280,
    "paddleocr_vl": 100295,
    "video_llama_3": 151655,
}
"""``model_type`` of the checkpoints whose prompts and positions follow this family, and the image
token that transformers' configuration class takes where config.json names none."""

_CLIP_MEAN, _CLIP_STD = CLIP
_HALF = HALF[0]


@dataclass(frozen=True)
class QwenVLSpec:
    """Everything that decides a result, as the core's spec takes it."""

    image_token_id: int
    """The placeholder in the prompt that a picture replaces."""
    patch_size: int
    """Pixels."""
    merge_size: int
    """Patches per side that one prompt token stands for."""
    temporal_patch_size: int
    """Copies of a still picture along time."""
    min_pixels: int
    max_pixels: int
    image_mean: tuple[float, float, float]
    image_std: tuple[float, float, float]
    resample: Literal["aten_u8", "pil"] = "aten_u8"
    """Arithmetic of the torchvision backend (torch's uint8 kernel), or of the PIL backend."""
    pillow_generation: Literal[12, 13] = 13
    """For ``"pil"``: 13 is Pillow 13 and later, 12 what came before."""
    smart_resize: Literal["transformers", "glm", "paddleocr"] = "transformers"
    """Whose size rule."""
    patch_order: Literal["block", "raster", "raster_4d"] = "block"
    """Patches by merge blocks, or row by row; ``"raster_4d"`` gives each its sides."""
    positions: Literal["mrope", "plain"] = "mrope"
    image_merge_sizes: bool = False
    """Whether that tensor is made too."""
    family: Literal["qwen_vl"] = "qwen_vl"


PRESETS: Mapping[str, QwenVLSpec] = {
    "qwen2_vl": QwenVLSpec(151655, 14, 2, 2, 56 * 56, 12845056, _CLIP_MEAN, _CLIP_STD),
    "qwen2_5_vl": QwenVLSpec(151655, 14, 2, 2, 56 * 56, 12845056, _CLIP_MEAN, _CLIP_STD),
    "qwen3_vl": QwenVLSpec(151655, 16, 2, 2, 65536, 16777216, _HALF, _HALF),
    "qwen3_5": QwenVLSpec(248056, 16, 2, 2, 65536, 16777216, _HALF, _HALF),
}
"""The values that the released checkpoints of these names carry."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec from an image processor's JSON, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config, defaults = checkpoint.image, CLASSES[checkpoint.class_name]
    config.require_plain_pipeline()
    config.require("resample", 3, "bicubic")
    size = config.mapping("size", {"shortest_edge": defaults.min_pixels, "longest_edge": defaults.max_pixels})
    # As the class: the old keys win over `size`, null counts as absent.
    min_pixels = config.integer("min_pixels", size.integer("shortest_edge", None))
    max_pixels = config.integer("max_pixels", size.integer("longest_edge", None))
    if not min_pixels or not max_pixels:
        raise config.unsupported("size", "shortest_edge and longest_edge above 0 (or min_pixels and max_pixels)")
    spec = QwenVLSpec(
        image_token_id=checkpoint.image_token(MODEL_TYPES),
        patch_size=config.integer("patch_size", 14),
        merge_size=config.integer("merge_size", defaults.merge_size),
        temporal_patch_size=config.integer("temporal_patch_size", defaults.temporal_patch_size),
        min_pixels=min_pixels,
        max_pixels=max_pixels,
        image_mean=config.channels("image_mean", defaults.channels[0]),
        image_std=config.channels("image_std", defaults.channels[1]),
        smart_resize=defaults.smart_resize,
        patch_order=defaults.patch_order,
        positions="plain" if checkpoint.model.text("model_type") == "video_llama_3" else "mrope",
        image_merge_sizes=defaults.image_merge_sizes,
    )
    return {**dataclasses.asdict(spec), **checkpoint.arithmetic}


def seen_image(
    spec: Mapping[str, Any], grid: tuple[int, int, int], feature: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """Put a ``uint8`` feature's patches back into the picture that the model sees.

    Args:
        spec: of the processor.
        grid: of the item, ``(t, h, w)`` in patches.
        feature: ``[h * w, 3 * temporal_patch_size * patch_size**2]``.

    Returns:
        ``uint8 [h * patch_size, w * patch_size, 3]``.
    """
    patch = spec["patch_size"]
    merge = spec["merge_size"] if spec.get("patch_order", "block") == "block" else 1
    _, rows, columns = grid
    blocks = feature.reshape(
        rows // merge, columns // merge, merge, merge, 3, spec["temporal_patch_size"], patch, patch
    )
    picture = blocks[:, :, :, :, :, 0].transpose(0, 2, 5, 1, 3, 6, 4)
    return np.ascontiguousarray(picture).reshape(rows * patch, columns * patch, 3)
