"""A whole multimodal request through any Hugging Face processor, or through a native family.

    processor = MultiModalProcessor(transformers.AutoProcessor.from_pretrained(folder), cache=ItemCache())
    request = processor.process("What is in <image>?", {"image": [picture]})
    request.ids, request.placeholders["image"], request.tensors()

Media are processed apart from the prompt, so that each is processed once, whatever it stands beside,
and can be cached. What the processor makes of a placeholder then goes into the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mmcpp.budget import check_counts
from mmcpp.cache import CacheMissError, ItemCache
from mmcpp.errors import UnsupportedError
from mmcpp.fields import FieldItem, merge_items
from mmcpp.identity import ItemScope, check_uuids, parse_uuids
from mmcpp.options import for_modality, leave_normalisation_out, merge_options, resolve_options
from mmcpp.parse import MediaItems, parse_media
from mmcpp.pipeline import ImageProcessor
from mmcpp.placeholder import PlaceholderRange
from mmcpp.processing_hf import HfMedia, ProcessedItem, ProcessorRules, from_tree, to_tree, whole
from mmcpp.processing_prompt import Form, ItemPlacer, Prompt
from mmcpp.results import feature_tensors

__all__ = ["Form", "MultiModalProcessor", "ProcessedItem", "ProcessedRequest", "from_tree", "to_tree"]

Media: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class ProcessedRequest:
    """What a request becomes."""

    ids: npt.NDArray[np.int64] | None
    """int64 [n]: the expanded prompt; None where only media were given."""
    placeholders: dict[str, list[PlaceholderRange]]
    """Modality -> where each item stands in the prompt, in item order."""
    items: dict[str, list[ProcessedItem]]
    """Modality -> items, in the order given."""
    keys: dict[str, list[str]]
    """Modality -> what each item is known by."""

    def tensors(self, *, return_tensors: Literal["np", "pt"] | None = None) -> dict[str, Any]:
        """Give all media as the processor gives them for the whole request.

        Args:
            return_tensors: numpy or torch; None leaves them as they are.
        """
        merged: dict[str, Any] = {}
        for items in self.items.values():
            if items:
                merged.update(merge_items([item.tensors for item in items]))
        if return_tensors == "pt":
            import torch

            return {
                name: [torch.as_tensor(part) for part in data] if isinstance(data, list) else torch.as_tensor(data)
                for name, data in merged.items()
            }
        return merged if return_tensors is None else {name: np.asarray(data) for name, data in merged.items()}

    def device_bytes(self) -> dict[str, list[int]]:
        """Give how many bytes of each item go to the device: modality -> a number per item.

        What is for the host alone, such as grids, does not count.
        """
        return {modality: [_device_bytes(item.tensors) for item in items] for modality, items in self.items.items()}


@dataclass(frozen=True, eq=False)
class _Request:
    """Items of all modalities in one row, with their keys."""

    names: list[tuple[str, int]] = field(default_factory=list)
    """Modality and index."""
    items: list[Any] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    """What is seen of an item that a client names, so that the name is not used for another; else empty."""
    embedded: set[int] = field(default_factory=set)
    """Which are embeddings already."""


class MultiModalProcessor:
    """A processor of transformers behind prompt updates, an item cache and limits.

    As thread-safe as the processor is; without media that have to be processed it is not called.
    """

    def __init__(
        self,
        processor: Any,
        *,
        rules: ProcessorRules | None = None,
        native: ImageProcessor | None = None,
        cache: ItemCache[ProcessedItem] | None = None,
        model_id: str = "",
        tenant: str = "",
        options: Mapping[str, Any] | None = None,
        limits: Mapping[str, int | Mapping[str, int]] | None = None,
        device_normalize: bool | None = False,
        still_frames: Literal["all", "one"] = "all",
        hidden_size: int | None = None,
        surplus: Literal["refuse", "allow"] = "refuse",
    ) -> None:
        """Wrap a processor.

        Args:
            processor: a ``transformers.ProcessorMixin`` with a tokenizer.
            rules: what has to be known of its class; looked up by default.
            native: makes the images' tensors instead, where a request sets no options for them. Must be
                of the same checkpoint.
            cache: of items; of this model alone, unless ``model_id`` tells models apart. Shared levels
                need ``encode=to_tree`` and ``decode=from_tree``.
            model_id: the checkpoint, tokenizer included.
            tenant: whose items these are, where clients must not see each other's.
            options: of the processor, which a request's are merged with.
            limits: modality -> items of a request at most.
            device_normalize: have pixels left as they are, whatever a request says, for
                ``mmcpp.torch.FusedInputNorm``. None does so for the classes for which vLLM does by default.
            still_frames: send one of the equal frames that a still picture is repeated to, to be repeated
                on the device (``FusedInputNorm``'s ``frames``); for Qwen-VL.
            hidden_size: of the model's embeddings, which requests may give instead of media then.
            surplus: what becomes of placeholders that no item is for, such as one that a user typed:
                refused, or left as text.

        Raises:
            ValueError: one frame of a processor that repeats none.
        """
        self.media = HfMedia(processor, rules)
        self._native = native
        self._cache: ItemCache[ProcessedItem] = ItemCache(0) if cache is None else cache
        self._model = (model_id or type(processor).__name__, processor.to_json_string())
        self._tenant = tenant
        self._options = dict(options or {})
        self._limits = dict(limits or {})
        self._device_normalize = self.media.rules.device_normalize if device_normalize is None else device_normalize
        self._frames = self.media.rules.still_frames if still_frames == "one" else 1
        if still_frames == "one" and self._frames == 1:
            raise ValueError(f"processing: {type(processor).__name__} repeats no frames")
        if native is not None and native.pack_axis != 0:
            raise UnsupportedError(f"processing: native: {native.family} makes one tensor of all items")
        if native is not None and self._frames > 1:
            self._native = ImageProcessor.from_spec({**native.spec, "temporal_patch_size": 1})
        self._hidden_size = hidden_size
        self._placer = ItemPlacer(self.media, surplus)

    def process(
        self,
        prompt: Prompt | None = None,
        media: Media | None = None,
        *,
        form: Form = "detect",
        options: Mapping[str, Any] | None = None,
        uuids: Mapping[str, str | Sequence[str | None] | None] | None = None,
        max_tokens: int | None = None,
    ) -> ProcessedRequest:
        """Process a request.

        Args:
            prompt: a text or token ids; None processes the media alone.
            media: modality -> an item or items, as ``mmcpp.parse.parse_media`` reads them. An item that is None
                stands for one that is cached under its uuid. Embeddings stand for themselves and are not
                cached; where a family needs more than them, a mapping with all of it, such as Qwen-VL's
                ``{"image_embeds": [tokens, hidden], "image_grid_thw": [items, 3]}``.
            form: ``"plain"`` with one placeholder per item, ``"expanded"`` with what becomes of them
                already there. By default ids are looked at, and texts are plain.
            options: of the processor, for this request.
            uuids: modality -> a client's name per item, or None; named items are not hashed.
            max_tokens: of the expanded prompt.

        Returns:
            The expanded prompt and where the items stand, and the items. For a text both equal what the
            processor gives when it is called with text and media together. For ids too, except where
            the tokenizer joins what stands for an item with the text beside it, as Gemma 3's may with
            line breaks: ids are not encoded again.

        Raises:
            ValueError: items and placeholders do not match, a prompt that is expanded in part or in a
                way that may mean both, uuids or embeddings that do not fit, or the processor fails.
            LimitError: too many items or tokens.
            CacheMissError: an item is given by uuid alone and not cached.
        """
        merged = merge_options(self._options, options or {})
        if self._device_normalize:
            merged = leave_normalisation_out(merged)
        merged = resolve_options(merged)
        for modality in [modality for modality, items in (media or {}).items() if items is not None]:
            self.media.placeholder(modality)
        given = self._parse(media or {})
        check_counts({modality: len(parsed.items) for modality, parsed in given.items()}, self._limits)
        request = self._named(given, parse_uuids(uuids), merged)
        made = self._make_all(request, merged)
        items: dict[str, list[ProcessedItem]] = {modality: [] for modality in given}
        keys: dict[str, list[str]] = {modality: [] for modality in given}
        for (modality, _), item, key in zip(request.names, made, request.keys, strict=True):
            items[modality].append(item)
            keys[modality].append(key)
        if prompt is None:
            return ProcessedRequest(None, {}, items, keys)
        ids, placeholders = self._placer.place(prompt, items, form, merged, max_tokens)
        return ProcessedRequest(ids, placeholders, items, keys)

    def clean_text(self, text: str, *, on_placeholder: Literal["escape", "refuse"] = "escape") -> str:
        """Give a user's text without anything that would be read as a placeholder.

        Args:
            text: what a user wrote, before it goes into a prompt.
            on_placeholder: put an invisible character (U+2060) into it, or refuse the text.

        Raises:
            ValueError: there is one, and it is to be refused.
        """
        for modality in self.media.modalities:
            placeholder = self.media.placeholder(modality)
            if placeholder in text and on_placeholder == "refuse":
                raise ValueError(f"prompt: a text with {placeholder!r}, which stands for {modality} items")
            text = text.replace(placeholder, placeholder[0] + "\u2060" + placeholder[1:])
        return text

    def dummy_request(self, counts: Mapping[str, int], *, height: int, width: int) -> tuple[str, dict[str, list[Any]]]:
        """Give a prompt and pictures to measure memory with: one picture of pure red, many times.

        Args:
            counts: modality -> items; only images can be made.
            height: of the picture, in pixels.
            width: of the picture, in pixels.

        Raises:
            ValueError: another modality.
        """
        if set(counts) - {"image"}:
            raise ValueError(f"processing: no dummies for {', '.join(set(counts) - {'image'})}")
        picture = np.zeros((height, width, 3), np.uint8)
        picture[:, :, 0] = 255
        count = counts.get("image", 0)
        return self.media.placeholder("image") * count, {"image": [picture] * count}

    def _parse(self, media: Media) -> dict[str, MediaItems]:
        given: dict[str, MediaItems] = {}
        for modality, data in media.items():
            if isinstance(data, Mapping):
                given[modality] = MediaItems(modality, "embeddings", self.media.split_embeddings(modality, data))
            else:
                given.update(parse_media({modality: data}))
        for modality in [modality for modality, parsed in given.items() if parsed.kind == "embeddings"]:
            if self._hidden_size is None:
                raise ValueError(
                    f"processing: {modality} items are given as embeddings, for which no hidden_size is set"
                )
        return given

    def _named(
        self,
        given: Mapping[str, MediaItems],
        uuids: Mapping[str, Sequence[str | None] | None],
        options: Mapping[str, Any],
    ) -> _Request:
        check_uuids({modality: parsed.items for modality, parsed in given.items()}, uuids)
        request = _Request()
        for modality, parsed in given.items():
            form = f"{parsed.kind}, {'bytes' if self._device_normalize and self._native else 'floats'}, {self._frames}"
            applying = for_modality(options, modality)
            scope = ItemScope(*self._model, dtype=form, options=applying, tenant=self._tenant)
            named = uuids.get(modality) or [None] * len(parsed.items)
            for i, (item, uuid) in enumerate(zip(parsed.items, named, strict=True)):
                if parsed.kind == "embeddings":
                    request.embedded.add(len(request.items))
                request.names.append((modality, i))
                request.items.append(item)
                content = _content(item) if uuid is None else None
                if parsed.metadata and parsed.metadata[i] is not None:
                    content = [content, parsed.metadata[i]]
                request.marks.append("" if uuid is None else _mark(item))
                request.keys.append(
                    scope.key(content, modality=modality) if uuid is None else scope.uuid_key(uuid, modality=modality)
                )
        return request

    def _make_all(self, request: _Request, options: Mapping[str, Any]) -> list[ProcessedItem]:
        """Give all items: embeddings as they are, others from the cache or processed."""
        raw = [i for i in range(len(request.items)) if i not in request.embedded]
        keys = [request.keys[i] for i in raw]
        made = self._cache.get_or_process(
            keys,
            lambda missing: self._make(request, [raw[i] for i in missing], options),
            contents=[request.marks[i] for i in raw],
        )
        items = dict(zip(raw, made, strict=True))
        for i in request.embedded:
            items[i] = self.media.embedded(request.names[i][0], request.items[i], self._hidden_size)
        return [items[i] for i in range(len(request.items))]

    def _make(self, request: _Request, missing: list[int], options: Mapping[str, Any]) -> list[ProcessedItem]:
        """Process what nobody has, all items of a modality in one go."""
        lost = [request.keys[i] for i in missing if request.items[i] is None]
        if lost:
            raise CacheMissError(lost)
        made: dict[int, ProcessedItem] = {}
        for modality in dict.fromkeys(request.names[i][0] for i in missing):
            own = [i for i in missing if request.names[i][0] == modality]
            items = [request.items[i] for i in own]
            made.update(zip(own, self._process(modality, items, for_modality(options, modality)), strict=True))
        return [made[i] for i in missing]

    def _process(self, modality: str, items: list[Any], options: Mapping[str, Any]) -> list[ProcessedItem]:
        plain = leave_normalisation_out({}) if self._device_normalize else {}
        if modality != "image" or self._native is None or options != plain:
            theirs = self.media.process(modality, items, options)
            one_frame = modality == "image" and self._frames > 1
            return [self.media.with_one_frame(item) for item in theirs] if one_frame else theirs
        batch = self._native.process_items(items, dtype="uint8" if self._device_normalize else "float32")
        placeholder = self.media.placeholder(modality)
        made: list[ProcessedItem] = []
        row = 0
        joined_aux = self._native.joined_aux
        for item in batch.items:
            rows = item.plan.feature_shape[0]
            feature = batch.features[row : row + rows]
            data = feature_tensors(self._native.feature_name, item.plan, feature)
            data.update({name: value if name in joined_aux else value[None] for name, value in item.aux.items()})
            row += rows
            tensors = FieldItem(modality, data, {name: whole(modality, name) for name in data})
            made.append(self.media.item(modality, tensors, placeholder * item.plan.tokens))
        return made


def _device_bytes(tensors: FieldItem) -> int:
    return sum(int(data.nbytes) for name, data in tensors.data.items() if not tensors.fields[name].keep_on_cpu)


def _mark(item: Any) -> str:
    """Give the form and size of an item without reading it; nothing for one that is not here."""
    if item is None:
        return ""
    if hasattr(item, "shape"):
        return f"{item.dtype} {tuple(item.shape)}"
    if hasattr(item, "mode"):
        return f"{item.mode} {item.size}"
    return f"{len(_content(item))} bytes" if isinstance(_content(item), (bytes, bytearray, memoryview)) else ""


def _content(item: Any) -> Any:
    """Give what an item is known by: the bytes of a file rather than its path."""
    from mmcpp.inputs import to_media

    return to_media(item) if hasattr(item, "__fspath__") else item
