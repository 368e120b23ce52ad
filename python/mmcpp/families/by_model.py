"""Checkpoints whose files name no image processor of transformers: the model type says which family they are.

They are those of the reference crate; what is read of their files, and what stands for an absent key, is as sglang
0.5.23 has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mmcpp.families import CLIP
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.config_reader import ConfigReader
    from mmcpp.spec import Checkpoint

__all__ = ["FAMILIES", "MARKS", "MODEL_TYPES", "reader_of"]

Reader = Callable[["Checkpoint"], dict[str, Any]]

_MIMO_ARCHITECTURE = "MiMoV2ForCausalLM"  # its model type is also that of models without vision


def reader_of(model: ConfigReader) -> Reader | None:
    """Give what makes the spec of a checkpoint; None if the image processor's class does.

    Args:
        model: its ``config.json``.
    """
    if model.get("architectures") == [_MIMO_ARCHITECTURE]:
        return _mimo_v2
    model_type = model.get("model_type")
    return _READERS.get(model_type) if isinstance(model_type, str) else None


def _dsv41(checkpoint: Checkpoint) -> dict[str, Any]:
    model, vision = checkpoint.model, checkpoint.model.mapping("vision_config", {})

    spec: dict[str, Any] = {"family": "dsv41", "image_token_id": checkpoint.image_token(MODEL_TYPES)}
    for flat, nested in _DSV41.items():
        spec[flat] = model.integer(flat, vision.integer(nested, None))
        if spec[flat] is None:
            raise model.unsupported(flat, "a number; this is a model without vision")
    ratio = model.number("vision_max_wh_ratio", vision.number("max_wh_ratio", None))
    if ratio is not None:
        spec["vision_max_wh_ratio"] = ratio
    return {**spec, "pillow_generation": checkpoint.arithmetic["pillow_generation"]}


_DSV41 = {
    "vision_patch_size": "patch_size",
    "vision_downsample_ratio": "downsample_ratio",
    "vision_min_pixels": "min_pixels",
    "vision_max_n_token": "max_image_tokens",
}


def _kimi_k3(checkpoint: Checkpoint) -> dict[str, Any]:
    config = checkpoint.image.mapping("media_proc_cfg", {})
    spec: dict[str, Any] = {"family": "kimi_k3", **checkpoint.tokens(MODEL_TYPES, MARKS)}
    for key in ("patch_size", "merge_kernel_size", "in_patch_limit", "patch_limit_on_one_side"):
        spec[key] = config.integer(key, None)
        if spec[key] is None:
            raise config.unsupported(key, "a number")
    fixed = config.integer("fixed_output_tokens", None)
    if fixed is not None:
        spec["fixed_output_tokens"] = fixed
    half = (0.5, 0.5, 0.5)
    spec |= {"image_mean": config.channels("image_mean", half), "image_std": config.channels("image_std", half)}
    if config.get("transparent_bg_config") is not None:
        spec |= _background(config.mapping("transparent_bg_config", {}))
    return {**spec, "pillow_generation": checkpoint.arithmetic["pillow_generation"]}


def _background(config: ConfigReader) -> dict[str, Any]:
    config.require("transparent_bg_fill_stage", "after_resize", "the picture is resized with its alpha")
    chessboard = {key: config.get(key) for key in config.names() if key.startswith("chessboard_")}
    return {"background": config.text("pattern") or "black", **{k: v for k, v in chessboard.items() if v is not None}}


def _mimo_v2(checkpoint: Checkpoint) -> dict[str, Any]:
    model = checkpoint.model
    scaling = model.mapping("rope_scaling", {})
    if scaling.get("type") == "default" and scaling.get("mrope_section") is not None:
        raise model.unsupported("rope_scaling", "plain positions, without mrope_section")
    vision, config = model.mapping("vision_config", {}), model.mapping("processor_config", {})
    token = config.integer("image_token_id", None)
    if vision.get("patch_size") is None or token is None:
        raise model.unsupported("vision_config", "patch_size there and image_token_id in processor_config")
    side = vision.integer("patch_size", 14) * vision.integer("spatial_merge_size", 2)
    return {
        "family": "mimo_v2",
        "image_token_id": token,
        "patch_size": vision.integer("patch_size", 14),
        "merge_size": vision.integer("spatial_merge_size", 2),
        "temporal_patch_size": vision.integer("temporal_patch_size", 2),
        "min_pixels": config.integer("image_min_pixels", 4 * side**2),
        "max_pixels": config.integer("image_max_pixels", 4096 * side**2),
        "image_mean": _of_bytes(CLIP[0]),
        "image_std": _of_bytes(CLIP[1]),
    }


def _of_bytes(channels: tuple[float, float, float]) -> list[float]:
    return [float(value) for value in np.array(channels, np.float32) * np.float32(255)]


def _inkling(checkpoint: Checkpoint) -> dict[str, Any]:
    vision = checkpoint.model.mapping("vision_config", {})
    if vision.get("decoder_dmodel") is None:
        raise vision.unsupported("decoder_dmodel", "a number; this is a model without vision")
    return {
        "family": "inkling",
        "image_token_id": checkpoint.image_token(MODEL_TYPES),
        "patch_size": vision.integer("patch_size", 16),
        "rescale_image_frac": 2.0,
        "rescale_image_max_upscaled_long_edge": 2048,
        "pillow_generation": checkpoint.arithmetic["pillow_generation"],
    }


_READERS: Mapping[str, Reader] = {
    "deepseek_v41": _dsv41,
    "kimi_k3": _kimi_k3,
    "inkling_mm_model": _inkling,
}

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "inkling": ("inkling_mm_model",),
    "dsv41": ("deepseek_v41",),
    "kimi_k3": ("kimi_k3",),
    "mimo_v2": ("mimo_v2",),
    "intern_vl": (),
}
"""Families of the reference crate, and the model types whose prompts each expands from the files alone."""

MODEL_TYPES: Mapping[str, int] = {"deepseek_v41": -1, "inkling_mm_model": -101}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""

MARKS: Mapping[str, Marks] = {"kimi_k3": {"image_token_id": Mark("<|media_pad|>")}}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them.
What stands around a picture of Kimi K3, its size among it, is the prompt's own."""
