"""Qwen2-VL, 2.5-VL, 3-VL and 3.5, pictures only, and what reuses their mechanism: the spec, and how a
checkpoint's files give it.

Rules: the classes in ``CLASSES``, of transformers 5.24; those of Kimi-VL and Keye-VL are the models' own code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mmcpp.families import CLIP, FILTERS, HALF, Channels
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.config_reader import ConfigReader
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["CLASSES", "MARKS", "MODEL_TYPES", "PRESETS", "QwenVLSpec", "read_spec", "seen_image"]


SizeRule = Literal["transformers", "glm", "paddleocr", "keye", "navit", "kimi_vl", "glm5_next", "muse"]
PatchOrder = Literal["block", "raster", "raster_4d"]


class _Class(NamedTuple):
    """What an image processor class of transformers does, and takes where its file is silent."""

    min_pixels: int
    max_pixels: int
    temporal_patch_size: int = 2
    smart_resize: SizeRule = "transformers"
    patch_order: PatchOrder = "block"
    merge_size: int = 2
    image_merge_sizes: bool = False
    channels: Channels = CLIP
    patch_size: int = 14
    resample_counts: bool = True
    """Whether the class looks at the file's ``resample``."""
    resample: int = 3
    """Where another filter than bicubic is taken too, the one that holds where the file has none."""
    copies_first: bool = False


_HUNYUAN = _Class(512 * 512, 2048 * 2048, 1, patch_order="raster", patch_size=16, resample_counts=False)

CLASSES: Mapping[str, _Class] = {
    "Qwen2VLImageProcessor": _Class(56 * 56, 28 * 28 * 1280),
    "Glm4vImageProcessor": _Class(112 * 112, 28 * 28 * 15000, smart_resize="glm"),
    "Glm46VImageProcessor": _Class(112 * 112, 28 * 28 * 15000, smart_resize="glm"),
    "PaddleOCRVLImageProcessor": _Class(384 * 384, 1536 * 1536, 1, "paddleocr", "raster_4d"),
    "Ernie4_5_VLMoeImageProcessor": _Class(56 * 56, 28 * 28 * 6177, 1),
    "VideoLlama3ImageProcessor": _Class(
        56 * 56, 28 * 28 * 1280, 1, merge_size=1, image_merge_sizes=True, channels=HALF
    ),
    "HunYuanVLImageProcessor": _HUNYUAN,
    "HYV4VLImageProcessor": _HUNYUAN,
    "MiniMaxM3VLImageProcessor": _Class(56 * 56, 451584),
    "Kimi_K25ImageProcessor": _Class(0, 0, 1, "navit", "raster_4d", channels=HALF),
    "KimiVLImageProcessor": _Class(0, 0, 1, "kimi_vl", "raster_4d"),
    "KeyeImageProcessor": _Class(28 * 28 * 130, 28 * 28 * 1280, 1, "keye", "raster_4d"),
    "Glm5NextImageProcessor": _Class(0, 0, smart_resize="glm5_next"),
    "MuseGlimmerImageProcessor": _Class(
        0, 0, smart_resize="muse", patch_order="raster", channels=HALF, resample=1, copies_first=True
    ),
}
"""The image processor classes, without the suffix of their backend."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {
    "MiniMaxM3VLImageProcessor": ("torchvision",),
    "Kimi_K25ImageProcessor": ("torchvision",),
    "MuseGlimmerImageProcessor": ("torchvision",),
    "KimiVLImageProcessor": ("pil",),
    "KeyeImageProcessor": ("pil",),
}
"""Those of the classes that have one alone."""

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
    "ernie4_5_vl_moe": 100295,
    "cosmos3_omni": 151655,
    "qwen4_exp": 248056,
    "hunyuan_vl": 120120,
    "hy_v4_vl": 120120,
    "kimi_k25": 163605,
    "kimi_vl": 163605,
    "glm5_next": 154854,
    "exaone4_5": 67,
    "hyperclovax_vision_v2": 128060,
    "lfm3_vl": 125030,
}
"""``model_type`` of the checkpoints whose prompts and positions follow this family, and the image
token that transformers' configuration class takes where config.json names none."""

MARKS: Mapping[str, Marks] = {
    "muse_glimmer": {
        "image_token_id": Mark("<|patch|>"),
        "prefix_token_ids": [Mark("<|image_start|>")],
        "suffix_token_ids": [Mark("<|image_end|>")],
    },
    "muse_spark": {
        "image_token_id": Mark("<|patch|>", "image_token"),
        "prefix_token_ids": [Mark("<|image_start|>", "image_start_token")],
        "suffix_token_ids": [Mark("<|image_end|>", "image_end_token")],
    },
}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""

_PLAIN = (*MARKS, "video_llama_3", "kimi_k25", "kimi_vl", "glm5_next", "exaone4_5", "hyperclovax_vision_v2", "lfm3_vl")
"""Model types whose positions are plain."""

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
    min_pixels: int | None
    """Of the picture that the model sees, at least; of the size rules that count patches, None."""
    max_pixels: int | None
    """At most."""
    image_mean: tuple[float, float, float]
    """Per channel, of values from 0 to 1."""
    image_std: tuple[float, float, float]
    """Per channel."""
    resample: Literal["aten_u8", "pil"] = "aten_u8"
    """Arithmetic of the torchvision backend (torch's uint8 kernel), or of the PIL backend."""
    pillow_generation: Literal[12, 13] = 13
    """For ``"pil"``: 13 is Pillow 13 and later, 12 what came before."""
    smart_resize: SizeRule = "transformers"
    """Whose size rule. That of ``"navit"`` and ``"kimi_vl"`` counts patches in place of pixels."""
    patch_order: PatchOrder = "block"
    """Patches by merge blocks, or row by row; ``"raster_4d"`` gives each its sides."""
    positions: Literal["mrope", "plain", "xdrope"] = "mrope"
    """M-RoPE, one number a token, or XD-RoPE."""
    image_merge_sizes: bool = False
    """Whether that tensor is made too."""
    family: Literal["qwen_vl"] = "qwen_vl"
    """Of the core."""
    max_patches: int | None = None
    """Of a picture, for size rules that count patches."""
    max_patches_per_side: int | None = None
    """Likewise, of a side."""
    row_tokens: int | None = None
    """Tokens after each row of a picture's tokens, all the same: 0 or 1."""
    extra_tokens: int | None = None
    """Tokens before and after a picture's tokens, in all."""
    position_axes: int | None = None
    """Of XD-RoPE."""
    wrapper_token_ids: tuple[int, int] | None = None
    """Tokens that must stand around a placeholder."""
    grid: Literal["thw", "hws"] | None = None
    """``"hws"``: the tensor ``image_grid_hws`` in place of ``image_grid_thw``."""
    filter: Literal["bicubic", "bilinear", "lanczos"] | None = None
    """Bicubic unless set."""
    copies_first: bool | None = None
    """Whether the copies of a patch stand one behind another, each with its three channels."""

    def to_dict(self) -> dict[str, Any]:
        """Give the keys that are set."""
        return {key: value for key, value in dataclasses.asdict(self).items() if value is not None}


PRESETS: Mapping[str, QwenVLSpec] = {
    "qwen2_vl": QwenVLSpec(151655, 14, 2, 2, 56 * 56, 12845056, _CLIP_MEAN, _CLIP_STD),
    "qwen2_5_vl": QwenVLSpec(151655, 14, 2, 2, 56 * 56, 12845056, _CLIP_MEAN, _CLIP_STD),
    "qwen3_vl": QwenVLSpec(151655, 16, 2, 2, 65536, 16777216, _HALF, _HALF),
    "qwen3_5": QwenVLSpec(248056, 16, 2, 2, 65536, 16777216, _HALF, _HALF),
}
"""The values that the released checkpoints of these names carry."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config, defaults = checkpoint.image, CLASSES[checkpoint.class_name]
    config.require_plain_pipeline()
    if defaults.resample_counts and defaults.resample == 3:
        config.require("resample", 3, "bicubic")
    patch = config.integer("patch_size", defaults.patch_size)
    merge = config.integer("merge_size", defaults.merge_size)
    if defaults.smart_resize == "kimi_vl":
        merge = _square(config, "merge_kernel_size", merge)
    tokens = checkpoint.tokens(MODEL_TYPES, MARKS)
    spec = QwenVLSpec(
        image_token_id=tokens["image_token_id"],
        patch_size=patch,
        merge_size=merge,
        temporal_patch_size=config.integer("temporal_patch_size", defaults.temporal_patch_size),
        min_pixels=None,
        max_pixels=None,
        image_mean=config.channels("image_mean", defaults.channels[0]),
        image_std=config.channels("image_std", defaults.channels[1]),
        smart_resize=defaults.smart_resize,
        patch_order=defaults.patch_order,
        positions="plain" if checkpoint.model.text("model_type") in _PLAIN else "mrope",
        image_merge_sizes=defaults.image_merge_sizes,
    )
    layout: dict[str, Any] = {"copies_first": True} if defaults.copies_first else {}
    if defaults.resample != 3:
        layout |= {"filter": config.choice("resample", defaults.resample, FILTERS)}
    return {
        **spec.to_dict(),
        **layout,
        **_bounds(checkpoint, spec),
        **tokens,
        **_tokens(checkpoint),
        **checkpoint.arithmetic,
    }


def _bounds(checkpoint: Checkpoint, spec: QwenVLSpec) -> dict[str, int]:
    """What limits a picture's size."""
    config, defaults = checkpoint.image, CLASSES[checkpoint.class_name]
    if defaults.smart_resize == "navit":
        size = config.mapping("size", {"max_height": 512, "max_width": 512})
        side = size.integer("max_height", None)
        if not side or side != size.integer("max_width", None):
            raise config.unsupported("size", "max_height and max_width, the same above 0")
        return {"max_patches": config.integer("max_patches", 16384), "max_patches_per_side": side}
    if defaults.smart_resize == "kimi_vl":
        config.require("pad_input", True, "a picture is padded")
        return {"max_patches": config.integer("in_token_limit", 4096), "max_patches_per_side": 512}
    if defaults.smart_resize == "glm5_next":
        pixels = spec.temporal_patch_size * (spec.patch_size * spec.merge_size) ** 2
        least, most = config.integer("min_image_tokens", 16), config.integer("max_image_tokens", 8000)
        return {"min_pixels": least * pixels, "max_pixels": most * pixels}
    if defaults.smart_resize == "muse":
        most = config.integer("max_image_tokens", 4096)
        return {"min_pixels": 0, "max_pixels": most * (spec.patch_size * spec.merge_size) ** 2}
    default = {"shortest_edge": defaults.min_pixels, "longest_edge": defaults.max_pixels}
    # The class of MiniMax-M3-VL takes the released file's size for none.
    none = checkpoint.class_name == "MiniMaxM3VLImageProcessor" and config.get("size") == [672, 672]
    size = config.mapping("no size" if none else "size", default)
    # As the class: the old keys win over `size`, null counts as absent.
    min_pixels = config.integer("min_pixels", size.integer("shortest_edge", None))
    max_pixels = config.integer("max_pixels", size.integer("longest_edge", None))
    if not min_pixels or not max_pixels:
        raise config.unsupported("size", "shortest_edge and longest_edge above 0 (or min_pixels and max_pixels)")
    return {"min_pixels": min_pixels, "max_pixels": max_pixels}


def _tokens(checkpoint: Checkpoint) -> dict[str, Any]:
    """What a model's tokens have beyond one for each merged patch."""
    model = checkpoint.model
    if checkpoint.class_name == "KimiVLImageProcessor":
        token = {"image_token_id": model.integer("media_placeholder_token_id", None)}
        return {"grid": "hws"} | (token if token["image_token_id"] is not None else {})
    if model.text("model_type") == "hy_v4_vl":
        return {"row_tokens": 1}
    if model.text("model_type") != "hunyuan_vl":
        return {}
    extra = checkpoint.processor.get("cat_extra_token", True)
    text = model.mapping("text_config", {})
    rope: Any = text.get("rope_parameters", text.get("rope_scaling", model.get("rope_scaling", {})))
    sections = rope.get("mrope_section", rope.get("xdrope_section")) if isinstance(rope, Mapping) else None
    if not isinstance(sections, list):
        raise model.unsupported("text_config", "rope_parameters with mrope_section")
    wrapper = (model.integer("im_start_id", 120118), model.integer("im_end_id", 120119))
    return {
        "positions": "xdrope",
        "position_axes": len(sections),
        "row_tokens": 1,
        "extra_tokens": 2 if extra else 0,
        "wrapper_token_ids": wrapper,
    }


def _square(config: ConfigReader, key: str, default: int) -> int:
    sides: Any = config.get(key, [default, default])
    if not isinstance(sides, list) or len(sides) != 2 or sides[0] != sides[1] or not isinstance(sides[0], int):
        raise config.unsupported(key, "two equal sides")
    return sides[0]


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
    planes = (3, spec["temporal_patch_size"])
    first = spec.get("copies_first", False)
    blocks = feature.reshape(
        rows // merge, columns // merge, merge, merge, *(reversed(planes) if first else planes), patch, patch
    )
    picture = (blocks[:, :, :, :, 0] if first else blocks[:, :, :, :, :, 0]).transpose(0, 2, 5, 1, 3, 6, 4)
    return np.ascontiguousarray(picture).reshape(rows * patch, columns * patch, 3)
