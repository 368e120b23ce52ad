"""InternVL 1.5 to 3.5, Aya Vision, GOT-OCR2, Qianfan-OCR, Command A Vision: tiles of one size, and the picture as a
whole.

Rules: ``GotOcr2ImageProcessor`` and ``GotOcr2ImageProcessorPil`` of transformers 5.24, and the processors of those
models, which ask it for tiles whatever the file says; ``Cohere2VisionImageProcessor``. Checkpoints in InternVL's own
format name an image processor of CLIP that nobody uses: their rule is their own code, and stands in config.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP, IMAGENET
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Backend, Checkpoint

__all__ = ["BACKENDS", "CLASSES", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES = ("GotOcr2ImageProcessor", "Cohere2VisionImageProcessor", "InternVLChatImageProcessor")
"""The image processor classes of transformers, without the suffix of their backend, and a name for InternVL's own
code."""

BACKENDS: Mapping[str, tuple[Backend, ...]] = {
    "Cohere2VisionImageProcessor": ("torchvision",),
    "InternVLChatImageProcessor": ("pil",),
}
"""The backends of the classes that do not have both."""

MODEL_TYPES: Mapping[str, int] = {"got_ocr2": 151859}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""

_INTERNVL: Marks = {
    "image_token_id": Mark("<IMG_CONTEXT>", "context_image_token"),
    "prefix_token_ids": [Mark("<img>", "start_image_token")],
    "suffix_token_ids": [Mark("</img>", "end_image_token")],
}

MARKS: Mapping[str, Marks] = {
    "internvl": _INTERNVL,
    "internvl_chat": _INTERNVL,
    "qianfan_ocr": {**_INTERNVL, "placeholder_token_id": Mark("<image>", "image_placeholder_token")},
    "aya_vision": {
        "image_token_id": Mark("<|IMG_PATCH|>", "img_patch_token"),
        "placeholder_token_id": Mark("<image>", "image_token"),
        "prefix_token_ids": [Mark("<|START_OF_IMG|>", "start_of_img_token")],
        "suffix_token_ids": [Mark("<|END_OF_IMG|>", "end_of_img_token")],
        "thumbnail_token_ids": [Mark("TILE_GLOBAL", "tile_global_token")],
    },
    "cohere2_vision": {
        "image_token_id": Mark("<|IMG_PATCH|>", "image_token"),
        "prefix_token_ids": [Mark("<|START_OF_IMG|>", "boi_token")],
        "suffix_token_ids": [Mark("<|END_OF_IMG|>", "eoi_token")],
        "tile_end_token_ids": [Mark("<|IMG_LINE_BREAK|>", "img_line_break_token")],
    },
}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    if checkpoint.class_name == "InternVLChatImageProcessor":
        return _chat(checkpoint)
    config = checkpoint.image
    config.require_plain_pipeline()
    config.require("resample", 3, "bicubic")
    cohere2 = checkpoint.class_name == "Cohere2VisionImageProcessor"
    height, width = config.sides("size", 512 if cohere2 else 384)
    crops = config.get("crop_to_patches", cohere2) is True
    if checkpoint.model.text("model_type") in ("internvl", "aya_vision", "qianfan_ocr"):
        crops = True
    tiles = config.integer("max_patches", 12) if crops else 1
    spec = {
        "family": "internvl",
        **checkpoint.tokens(MODEL_TYPES, _marks(tiles)),
        "tokens_per_tile": _tokens(checkpoint, height),
        "tile_height": height,
        "tile_width": width,
        "min_tiles": config.integer("min_patches", 1) if crops else 1,
        "max_tiles": tiles,
        "image_mean": config.channels("image_mean", CLIP[0]),
        "image_std": config.channels("image_std", CLIP[1]),
        **checkpoint.arithmetic,
    }
    if cohere2:  # min_patches is not looked at there
        spec |= {"grid_rule": "least_enlargement", "min_tiles": 1}
    return spec


def _marks(tiles: int) -> Mapping[str, Marks]:
    """Aya Vision numbers its tiles."""
    numbered = [Mark("TILE", "tile_token", f"_{i}") for i in range(1, tiles + 1)]
    return {**MARKS, "aya_vision": {**MARKS["aya_vision"], "tile_token_ids": numbered}}


def _chat(checkpoint: Checkpoint) -> dict[str, Any]:
    """What InternVL's own code reads: nothing of the image processor."""
    model = checkpoint.model
    vision = model.mapping("vision_config", {})
    side = model.integer("force_image_size", vision.integer("image_size", 448))
    ratio = model.get("downsample_ratio", 0.5)
    if not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
        raise model.unsupported("downsample_ratio", "a number above 0, 1 at most")
    model.require("use_msac", False, "one pass of tiles")
    dynamic = model.get("dynamic_image_size", True) is True
    return {
        "family": "internvl",
        **checkpoint.tokens(MODEL_TYPES, MARKS),
        "tokens_per_tile": int((side // vision.integer("patch_size", 14)) ** 2 * ratio**2),
        "tile_height": side,
        "tile_width": side,
        "min_tiles": model.integer("min_dynamic_patch", 1) if dynamic else 1,
        "max_tiles": model.integer("max_dynamic_patch", 12) if dynamic else 1,
        "use_thumbnail": model.get("use_thumbnail", True) is True,
        "image_mean": IMAGENET[0],
        "image_std": IMAGENET[1],
        **checkpoint.arithmetic,
    }


def _tokens(checkpoint: Checkpoint, side: int) -> int:
    if checkpoint.class_name == "Cohere2VisionImageProcessor":
        return checkpoint.image.integer("patch_size", 16) ** 2  # that many along a side, says its processor
    if checkpoint.model.text("model_type") == "aya_vision":
        patch = checkpoint.processor.integer("patch_size", 28)
        factor = checkpoint.processor.integer("downsample_factor", 1)
        return (side // (patch * factor)) ** 2
    if checkpoint.model.text("model_type") == "got_ocr2":
        return 256
    length = checkpoint.processor.integer("image_seq_length", None)
    return checkpoint.model.integer("image_seq_length", 256) if length is None else length
