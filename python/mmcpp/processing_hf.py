"""A Hugging Face processor seen as a maker of items: one item's tensors, and the text that stands for it.

Works with the processors of transformers 5.24 and later, whose placeholders are the attributes
``image_token``, ``video_token`` and ``audio_token``, and which can say what each was replaced with.
What a class does otherwise than most is in ``RULES``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.fields import Field, FieldItem, batched, flat, flat_from_sizes
from mmcpp.fields import split as split_fields
from mmcpp.inputs import to_media
from mmcpp.torch import one_frame

__all__ = ["RULES", "HfMedia", "ProcessedItem", "ProcessorRules", "from_tree", "rules_for", "to_tree"]

_ARGUMENTS = {"image": "images", "video": "videos", "audio": "audio"}

# What belongs to the text; everything else that a processor gives belongs to its media.
_OF_TEXT = {
    "input_ids",
    "attention_mask",
    "token_type_ids",
    "mm_token_type_ids",
    "special_tokens_mask",
    "offset_mapping",
    "text_replacement_offsets",
    "cross_attention_mask",
}


def _token_id(processor: Any, modality: str) -> int:
    return int(getattr(processor, f"{modality}_token_id"))


def whole(modality: str, name: str, *, dim: int = 0) -> Field:
    """Give the field of an output that is all of one item's; vLLM keeps grids on the host."""
    return flat(modality, dim=dim, keep_on_cpu=name.endswith("_grid_thw"))


@dataclass(frozen=True, eq=False)
class ProcessedItem:
    """One item as a model takes it; what the cache keeps."""

    tensors: FieldItem
    """The processor's outputs for this item."""
    text: str
    """What stands for the item in an expanded text."""
    ids: npt.NDArray[np.int64]
    """int64 [n]: the same in an expanded prompt of token ids."""
    is_embed: npt.NDArray[np.bool_] | None
    """bool [n]: which of the ids receive embeddings; None means all."""


@dataclass(frozen=True, eq=False)
class ProcessorRules:
    """What has to be known of a class of processors."""

    dim: int = 0
    """Along which dimension of the outputs the items lie. 1 where the first counts prompts."""
    split: Callable[[Mapping[str, Any], str], dict[str, Field]] | None = None
    """From the outputs for several items, and their modality, to the fields that split them. None where
    an item's output depends on those beside it, such as by padding; items are processed one by one then."""
    embed_token: Callable[[Any, str], int] = field(default=_token_id)
    """From processor and modality to the token that receives embeddings."""
    embedding_text: Callable[[Any, str, int], str] | None = None
    """From processor, modality and a number of embeddings to the text that stands for them. None where
    embeddings cannot be given instead of media: a picture's size would have to be known too."""
    embedding_fields: Callable[[Any, Mapping[str, Any], str], dict[str, Field]] | None = None
    """From processor, what is given for several items as embeddings, and modality to the fields that split
    it: all of them are needed. None where the embeddings are all that is."""
    device_normalize: bool = False
    """Whether vLLM 0.33 leaves normalisation to the device for this class unless it is told otherwise."""
    still_frames: int = 1
    """How many equal frames a still picture's patches hold."""


def _qwen_fields(outputs: Mapping[str, Any], modality: str) -> dict[str, Field]:
    grid, pixels = f"{modality}_grid_thw", "pixel_values" if modality == "image" else "pixel_values_videos"
    fields = {name: flat_from_sizes(modality, [1] * len(outputs[grid])) for name in outputs}
    fields[grid] = flat_from_sizes(modality, [1] * len(outputs[grid]), keep_on_cpu=True)
    fields[pixels] = flat_from_sizes(modality, np.asarray(outputs[grid]).prod(axis=1))
    return fields


def _qwen_embeddings(processor: Any, data: Mapping[str, Any], modality: str) -> dict[str, Field]:
    embeddings, grid = f"{modality}_embeds", f"{modality}_grid_thw"
    if set(data) != {embeddings, grid}:
        raise ValueError(f"{embeddings} and {grid} are needed")
    sides = np.asarray(data[grid])
    if sides.ndim != 2 or sides.shape[1] != 3 or sides.dtype.kind not in "iu" or (sides <= 0).any():
        raise ValueError(f"{grid} must be positive integers [items, 3], got {sides.dtype} {sides.shape}")
    merge = int(getattr(processor, f"{modality}_processor").merge_size)
    return {
        embeddings: flat_from_sizes(modality, sides.prod(axis=1) // merge**2),
        grid: flat_from_sizes(modality, [1] * len(sides), keep_on_cpu=True),
    }


def _repeated(processor: Any, modality: str, count: int) -> str:
    return str(getattr(processor, f"{modality}_token")) * count


def _internvl_text(processor: Any, modality: str, count: int) -> str:
    return f"{processor.start_image_token}{_repeated(processor, modality, count)}{processor.end_image_token}"


def _one_each(outputs: Mapping[str, Any], modality: str) -> dict[str, Field]:
    return {name: flat_from_sizes(modality, [1] * len(data)) for name, data in outputs.items()}


_QWEN_2 = ProcessorRules(
    split=_qwen_fields,
    embedding_text=_repeated,
    embedding_fields=_qwen_embeddings,
    device_normalize=True,
    still_frames=2,
)

RULES: dict[str, ProcessorRules] = {
    "Gemma3Processor": ProcessorRules(embed_token=lambda processor, _: int(processor.tokenizer.image_token_id)),
    "Glm4vProcessor": ProcessorRules(device_normalize=True, still_frames=2),
    "Idefics3Processor": ProcessorRules(dim=1),
    "InternVLProcessor": ProcessorRules(embedding_text=_internvl_text),
    "LlavaNextProcessor": ProcessorRules(embedding_text=_repeated),
    "LlavaProcessor": ProcessorRules(split=_one_each, embedding_text=_repeated),
    "MllamaProcessor": ProcessorRules(dim=1),
    "Qwen2VLProcessor": _QWEN_2,
    "Qwen2_5_VLProcessor": _QWEN_2,
    "Qwen3VLProcessor": ProcessorRules(device_normalize=True, still_frames=2),
    "SmolVLMProcessor": ProcessorRules(dim=1),
}
"""Name of a processor's class -> its rules; ``ProcessorRules()`` for those that are not here."""


def rules_for(processor: object) -> ProcessorRules:
    """Give the rules of a processor's class or of the nearest class that it derives from."""
    for base in type(processor).__mro__:
        if base.__name__ in RULES:
            return RULES[base.__name__]
    return ProcessorRules()


class HfMedia:
    """The media half of a Hugging Face processor. As thread-safe as the processor is."""

    def __init__(self, processor: Any, rules: ProcessorRules | None = None) -> None:
        """Wrap ``processor``; ``rules`` are looked up by its class if they are not given."""
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.rules = rules_for(processor) if rules is None else rules

    @property
    def modalities(self) -> list[str]:
        """The modalities that the processor has placeholders for."""
        return [modality for modality in _ARGUMENTS if getattr(self.processor, f"{modality}_token", None) is not None]

    def placeholder(self, modality: str) -> str:
        """Give the text that stands for an item before it is expanded.

        Raises:
            ValueError: the processor has none for that modality.
        """
        token = getattr(self.processor, f"{modality}_token", None) if modality in _ARGUMENTS else None
        if token is None:
            known = ", ".join(self.modalities) or "no media"
            raise ValueError(f"processing: {type(self.processor).__name__} takes {known}, not {modality}")
        return str(token)

    def process(self, modality: str, items: Sequence[Any], options: Mapping[str, Any]) -> list[ProcessedItem]:
        """Process items of one modality.

        Args:
            modality: of the items.
            items: for images: PIL images, encoded bytes, paths or uint8 arrays [height, width, 3]; for
                others what the processor takes.
            options: of the processor, in scopes or flat.

        Raises:
            ValueError: the processor fails, or its outputs do not fit the items.
            DecodeError, UnsupportedError, LimitError: encoded bytes that cannot be decoded.
        """
        media = [_to_pil(item) for item in items] if modality == "image" else list(items)
        if self.rules.split is None or len(media) == 1:
            return [self._one(modality, item, options) for item in media]
        outputs, texts = self._call(modality, media, options)
        parts = split_fields(outputs, self.rules.split(outputs, modality)).get(modality, [])
        if len(parts) != len(media):
            raise ValueError(f"processing: outputs of {len(parts)} items for {len(media)} {modality} item(s)")
        return [self.item(modality, part, text) for part, text in zip(parts, texts, strict=True)]

    def layout(self, text: str) -> str:
        """Give a text as the processor would encode it: some put a token before it."""
        laid_out = self.processor.prepare_inputs_layout(images=None, text=text)[1]
        return laid_out if isinstance(laid_out, str) else str(laid_out[0])

    def _one(self, modality: str, item: Any, options: Mapping[str, Any]) -> ProcessedItem:
        outputs, texts = self._call(modality, [item], options)
        kinds = {name: whole(modality, name, dim=self.rules.dim) for name in outputs}
        return self.item(modality, FieldItem(modality, outputs, kinds), texts[0])

    def split_embeddings(self, modality: str, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Give each item's part of embeddings that come with what else the family needs.

        Args:
            modality: of the items.
            data: name -> what is given for all of them.

        Raises:
            ValueError: too little or too much is given, or its sizes do not fit.
        """
        fields = self.rules.embedding_fields
        if fields is None:
            raise ValueError(f"processing: {type(self.processor).__name__} takes no {modality} items as a mapping")
        try:
            parts = split_fields(data, fields(self.processor, data, modality)).get(modality, [])
        except ValueError as error:
            raise ValueError(f"processing: {modality} items as embeddings: {error}") from None
        return [part.data for part in parts]

    def embedded(self, modality: str, data: Any, hidden_size: int | None) -> ProcessedItem:
        """Give the item of what a model would compute of it.

        Args:
            modality: of the item.
            data: ``[tokens, hidden]`` of a float type, or an item's part of a mapping.
            hidden_size: what ``hidden`` must be; None does not check it.

        Raises:
            ValueError: a shape or type that does not fit, or the family needs more than embeddings.
        """
        name = type(self.processor).__name__
        if self.rules.embedding_text is None:
            raise ValueError(f"processing: {name} takes no {modality} items as embeddings")
        in_mapping = isinstance(data, Mapping)
        if not in_mapping and self.rules.embedding_fields is not None:
            raise ValueError(f"processing: {name} takes {modality} embeddings in a mapping, with their grid")
        parts = dict(data) if in_mapping else {f"{modality}_embeds": data}
        rows = parts[f"{modality}_embeds"]
        if rows.ndim != 2 or rows.shape[0] == 0 or (hidden_size is not None and rows.shape[1] != hidden_size):
            raise ValueError(
                f"processing: {modality} embeddings of shape {tuple(rows.shape)}, expected [tokens, {hidden_size}]"
            )
        if not (rows.is_floating_point() if hasattr(rows, "is_floating_point") else rows.dtype.kind == "f"):
            raise ValueError(f"processing: {modality} embeddings of {rows.dtype}")
        kinds = {part: whole(modality, part) if in_mapping else batched(modality) for part in parts}
        tensors = FieldItem(modality, parts, kinds)
        return self.item(modality, tensors, self.rules.embedding_text(self.processor, modality, rows.shape[0]))

    def with_one_frame(self, item: ProcessedItem) -> ProcessedItem:
        """Leave out what the still picture of ``item`` is repeated to: patches ``[rows, channels * frames * side]``."""
        data = dict(item.tensors.data)
        data["pixel_values"] = one_frame(data["pixel_values"], self.rules.still_frames)
        return replace(item, tensors=FieldItem(item.tensors.modality, data, item.tensors.fields))

    def item(self, modality: str, tensors: FieldItem, text: str) -> ProcessedItem:
        """Give the item of ``modality`` that has these tensors and that ``text`` stands for.

        Raises:
            ValueError: no token of the text receives embeddings.
        """
        ids = _mmcpp.token_ids(self.tokenizer.encode(text, add_special_tokens=False))
        token = self.rules.embed_token(self.processor, modality)
        is_embed = ids == token
        if not is_embed.any():
            raise ValueError(
                f"processing: token {token} receives embeddings but is not in what stands for a {modality}"
            )
        return ProcessedItem(tensors, text, ids, None if is_embed.all() else is_embed)

    def _call(self, modality: str, media: list[Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Give the media's outputs, and the text that stands for each.

        The processor is given a text of nothing but placeholders: some insist on one, and only with
        one does it say what it makes of them.
        """
        placeholder = self.placeholder(modality)
        arguments = {_ARGUMENTS[modality]: [media] if self.rules.dim == 1 else media}
        try:
            outputs = self.processor(
                text=[placeholder * len(media)],
                add_special_tokens=False,
                return_text_replacement_offsets=True,
                **arguments,
                **{name: value for name, value in options.items() if name != "text_kwargs"},
            )
            texts = _replacements(outputs, placeholder, len(media))
        except Exception as error:
            name = type(self.processor).__name__
            raise ValueError(f"processing: {name} fails on {len(media)} {modality} item(s): {error}") from error
        return {name: _to_tensor(data) for name, data in outputs.items() if name not in _OF_TEXT}, texts


def to_tree(item: ProcessedItem) -> dict[str, Any]:
    """Give an item in the form that shared levels of a cache store."""
    fields = {name: [kind.kind, kind.dim, kind.keep_on_cpu] for name, kind in item.tensors.fields.items()}
    return {
        "modality": item.tensors.modality,
        "data": item.tensors.data,
        "fields": fields,
        "text": item.text,
        "ids": item.ids,
        "is_embed": item.is_embed,
    }


def from_tree(tree: dict[str, Any]) -> ProcessedItem:
    """Give the item of the ``tree`` that ``to_tree`` made."""
    modality = tree["modality"]
    fields = {
        name: Field(modality, kind, dim, keep_on_cpu=on_cpu) for name, (kind, dim, on_cpu) in tree["fields"].items()
    }
    tensors = FieldItem(modality, tree["data"], fields)
    return ProcessedItem(tensors, tree["text"], tree["ids"], tree["is_embed"])


def _replacements(outputs: Mapping[str, Any], placeholder: str, count: int) -> list[str]:
    """Give what each placeholder was replaced with; those that say nothing leave it as it is."""
    offsets = outputs.get("text_replacement_offsets")
    if offsets is None:
        return [placeholder] * count
    texts = [str(entry["replacement"]) for entry in offsets[0]]
    if len(texts) != count:
        raise ValueError(f"{len(texts)} of {count} placeholders were replaced")
    return texts


def _to_tensor(data: Any) -> Any:
    """Give arrays or tensors for what may be lists of them, as ``return_tensors`` would."""
    if isinstance(data, np.ndarray) or hasattr(data, "untyped_storage"):
        return data
    if isinstance(data, (list, tuple)) and data and hasattr(data[0], "untyped_storage"):
        import torch

        return torch.stack(list(data))
    return np.asarray(data)


def _to_pil(item: Any) -> Any:
    """Give a PIL image for what may be a picture's bytes, its path or its pixels.

    transformers guesses which side of an array is the channels; of a PIL image it knows.
    """
    pil = sys.modules.get("PIL.Image")
    if pil is not None and isinstance(item, pil.Image):
        return item
    if isinstance(item, (bytes, bytearray, memoryview, os.PathLike)):
        from mmcpp.image import decode_image

        item = decode_image(to_media(item), profile="hf")
    if isinstance(item, np.ndarray) and item.dtype == np.uint8 and item.ndim == 3 and item.shape[2] == 3:
        from PIL import Image

        return Image.fromarray(item)
    return item
