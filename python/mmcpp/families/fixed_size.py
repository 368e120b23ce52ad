"""CLIP, SigLIP, DINOv2, LLaVA-1.5, VipLLaVA, Gemma 3 and 3n, PaliGemma, ColPali, Janus, DeepSeek-VL: every picture at
one size.

Rules: the classes in ``CLASSES``, of transformers 5.24, in both backends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mmcpp.families import CLIP, FILTERS, HALF, Channels
from mmcpp.families.tokens import Mark, Marks

if TYPE_CHECKING:
    from mmcpp.spec import Checkpoint

__all__ = ["CLASSES", "CONSTANTS", "MARKS", "MODEL_TYPES", "read_spec"]

CLASSES: Mapping[str, tuple[bool, int, Channels]] = {
    "CLIPImageProcessor": (True, 3, CLIP),
    "LlavaImageProcessor": (True, 3, CLIP),
    "BitImageProcessor": (True, 3, CLIP),
    "SiglipImageProcessor": (False, 3, HALF),
    "Gemma3ImageProcessor": (False, 2, HALF),
    "JanusImageProcessor": (False, 3, CLIP),
    "DeepseekVLImageProcessor": (False, 3, CLIP),
}
"""The image processor classes of transformers: whether they cut out the middle, their filter's number in Pillow, mean
and deviation."""

MODEL_TYPES: Mapping[str, int] = {
    "llava": 32000,
    "vipllava": 32000,
    "paligemma": 256000,
    "colpali": 256000,
    "deepseek_vl": 100015,
}
"""``model_type`` of the checkpoints whose prompts can be expanded from their files alone, and the image token where
config.json names none."""

_GEMMA: Marks = {
    "image_token_id": Mark("<image_soft_token>", "image_token"),
    "prefix_token_ids": [Mark("\n\n"), Mark("<start_of_image>", "boi_token")],
    "suffix_token_ids": [Mark("<end_of_image>", "eoi_token"), Mark("\n\n")],
}

MARKS: Mapping[str, Marks] = {
    "gemma3": {**_GEMMA, "placeholder_token_id": Mark("<start_of_image>", "boi_token")},
    "gemma3n": _GEMMA,
    "janus": {
        "image_token_id": Mark("<image_placeholder>", "image_token"),
        "prefix_token_ids": [Mark("<begin_of_image>", "boi_token")],
        "suffix_token_ids": [Mark("<end_of_image>", "eoi_token")],
    },
}
"""``model_type`` of the checkpoints whose tokens stand in the tokenizer's files alone, and the spec's keys of them."""

CONSTANTS: Mapping[str, Mapping[str, int]] = {"Gemma3ImageProcessor": {"num_crops": 0}}
"""Further keys of a class's result, with each picture's number: no picture is cut where there is no pan and scan."""

_PADS = ("JanusImageProcessor", "DeepseekVLImageProcessor")


def read_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the spec of a ``checkpoint``, where absent keys have the class's defaults.

    Raises:
        UnsupportedError: a flag asks for something that this family does not do.
        ValueError: a value of the wrong type or out of range.
    """
    config = checkpoint.image
    crops, resample, (mean, std) = CLASSES[checkpoint.class_name]
    pads = checkpoint.class_name in _PADS
    config.require_plain_pipeline(handled=("do_center_crop", "do_normalize", *(("do_pad",) if pads else ())))
    config.require("do_center_crop", crops, "as the class does")
    height, width = config.sides("crop_size" if crops else "size", 384 if pads else 224)
    spec: dict[str, Any] = {
        "family": "fixed_size",
        **_tokens_of_prompts(checkpoint),
        "tokens_per_image": _tokens(checkpoint, height, width),
        "height": height,
        "width": width,
        "filter": config.choice("resample", resample, FILTERS),
        **checkpoint.arithmetic,
    }
    if config.get("do_normalize", True) is True:
        spec["image_mean"] = config.channels("image_mean", mean)
        spec["image_std"] = config.channels("image_std", std)
    else:
        spec["do_normalize"] = False
    if pads:
        config.require("do_pad", True, "as the class does")
        spec["min_padded_side"] = config.integer("min_size", 14)
        spec["background"] = [int(channel * 255) for channel in config.channels("image_mean", mean)]
    if crops:
        spec["shortest_edge"] = config.edge("size", "shortest_edge", 224)
    return spec


def _tokens_of_prompts(checkpoint: Checkpoint) -> dict[str, Any]:
    tokens = checkpoint.tokens(MODEL_TYPES, MARKS)
    if checkpoint.for_prompts and checkpoint.model.text("model_type") in ("gemma3", "gemma3n"):
        return tokens | checkpoint.tokenizer.line_breaks()
    if checkpoint.model.text("model_type") == "colpali":
        vlm = checkpoint.model.mapping("vlm_config", {})
        old = vlm.integer("image_token_index", tokens["image_token_id"])
        return {"image_token_id": vlm.integer("image_token_id", old)}
    return tokens


def _tokens(checkpoint: Checkpoint, height: int, width: int) -> int:
    """The tokens of a picture; 1 for encoders, which have no prompt."""
    image, model, processor = checkpoint.image, checkpoint.model, checkpoint.processor
    vision = model.mapping("vision_config", {})
    patch = vision.integer("patch_size", 14)
    counts: Mapping[str, Callable[[], int]] = {
        "llava": lambda: _llava_tokens(checkpoint, height, width, patch),
        "vipllava": lambda: _llava_tokens(checkpoint, height, width, patch),
        "paligemma": lambda: (height // patch) * (width // patch),
        "colpali": lambda: image.integer("image_seq_length", (height // 14) * (width // 14)),
        "deepseek_vl": lambda: processor.integer("num_image_tokens", 576),
        "janus": lambda: vision.integer("num_image_tokens", 576),
        "gemma3": lambda: processor.integer("image_seq_length", model.integer("mm_tokens_per_image", 256)),
        "gemma3n": lambda: processor.integer("image_seq_length", model.integer("vision_soft_tokens_per_image", 256)),
    }
    count = counts.get(model.text("model_type") or "")
    return 1 if count is None else count()


def _llava_tokens(checkpoint: Checkpoint, height: int, width: int, patch: int) -> int:
    model, processor = checkpoint.model, checkpoint.processor
    patch = processor.integer("patch_size", patch)
    strategy = processor.get("vision_feature_select_strategy", model.get("vision_feature_select_strategy", "default"))
    extra = processor.integer("num_additional_image_tokens", 1)
    return (height // patch) * (width // patch) + extra - (1 if strategy == "default" else 0)
