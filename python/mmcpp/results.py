"""What requests and batches become: carriers of the core's results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mmcpp.image import ImageInfo

__all__ = [
    "Item",
    "ItemBatch",
    "ItemPlan",
    "ItemTimes",
    "PlannedRequest",
    "RequestCounters",
    "Response",
    "ResponseTimes",
]


@dataclass(frozen=True)
class ItemPlan:
    """What a picture of some size becomes, known without pixels."""

    feature_shape: tuple[int, ...]
    """Of the picture's part of the feature, in elements."""
    grid: tuple[int, int, int]
    """``(t, h, w)`` in patches, before any merge; of families that cut tiles ``(tiles, rows,
    columns)``, where tiles counts the thumbnail too."""
    tokens: int
    """Prompt tokens that take the placeholder's place."""
    resized_height: int
    """Pixels of the picture that the model sees."""
    resized_width: int
    """Pixels, as ``resized_height``."""
    feature_parts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Name and shape of each tensor, of pictures that become several of different sides; the feature is flat then
    and holds one behind another. Else none."""


@dataclass(frozen=True)
class ItemTimes:
    """Where a picture's time went, in milliseconds."""

    hash_ms: float
    """Of the content hash."""
    decode_ms: float
    """From bytes to pixels."""
    process_ms: float
    """From pixels to the feature; without ``decode_ms``, though rows may be taken as they are decoded."""


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class Item:
    """One picture of a result."""

    plan: ItemPlan
    """What its size decides."""
    feature: npt.NDArray[Any] | None
    """Of shape ``plan.feature_shape`` and the call's ``dtype``; None in an ItemBatch, whose features are packed."""
    aux: dict[str, npt.NDArray[Any]]
    """Small tensors beside it, such as ``image_grid_thw`` ``int64 [3]``."""
    content_hash: int
    """``mmcpp.content_hash`` of the encoded bytes; for given pixels, of their size and values."""
    info: ImageInfo | None
    """What the file's header says; None for given pixels."""
    times: ItemTimes
    """Where the time went."""


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class ItemBatch:
    """The pictures of an ``ImageProcessor`` call."""

    features: npt.NDArray[Any]
    """All features, of the call's ``dtype``, along the processor's ``pack_axis``."""
    items: list[Item]
    """In the order given; their own ``feature`` is None."""


@dataclass(frozen=True)
class ResponseTimes:
    """Where a request's time went besides its pictures, in milliseconds."""

    layout_ms: float
    """Of expanding the prompt."""
    positions_ms: float
    """Of the position ids."""
    tokenize_ms: float = 0.0
    """Of the tokenizer; 0 where ids were given."""


@dataclass(frozen=True)
class RequestCounters:
    """What a request came to, as a server's metrics count it."""

    items: int
    """Pictures of the request."""
    duplicates: int
    """Of these, equal to an earlier picture and not processed again."""
    bytes_in: int
    """Encoded bytes and given pixels, of all pictures."""
    pixels: int
    """Height times width, of all pictures but duplicates."""
    bytes_out: int
    """Of features and the tensors beside them."""
    tokens_in: int
    """Of the prompt."""
    tokens_out: int
    """Of the expanded prompt."""


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class Response:
    """What a request becomes."""

    input_ids: npt.NDArray[np.int64]
    """Expanded, ``int64 [length]``."""
    items: list[Item]
    """In the order of the request's pictures."""
    offsets: list[tuple[int, int]]
    """``offsets[i]``: first and last token of item i, both inside."""
    positions: npt.NDArray[np.int64] | None
    """M-RoPE position ids, ``int64 [3, length]``, XD-RoPE's, ``[axes, length]``, as transformers 5.24's model makes
    them (``get_rope_index``); None where positions are plain."""
    position_delta: int | None
    """Largest position + 1 - length; None where positions are plain."""
    times: ResponseTimes
    """Where the time besides the pictures went."""
    counters: RequestCounters
    """For a server's metrics."""


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class PlannedRequest:
    """What a request becomes, without its pixels; the members are those of a ``Response``."""

    input_ids: npt.NDArray[np.int64]
    """Expanded, ``int64 [length]``."""
    items: list[ItemPlan]
    """In the order of the sizes."""
    offsets: list[tuple[int, int]]
    """First and last token of each item, both inside."""
    positions: npt.NDArray[np.int64] | None
    """As those of a ``Response``."""
    position_delta: int | None
    """Largest position + 1 - length; None where positions are plain."""


def to_plan(fields: dict[str, Any]) -> ItemPlan:
    """Give the plan that the core says."""
    return ItemPlan(**fields)


def to_item(fields: dict[str, Any]) -> Item:
    """Give the item that the core says."""
    info = fields["info"]
    return Item(
        plan=to_plan(fields["plan"]),
        feature=fields["feature"],
        aux=fields["aux"],
        content_hash=fields["content_hash"],
        info=None if info is None else ImageInfo(**info),
        times=ItemTimes(*fields["times"]),
    )


def feature_tensors(name: str, plan: ItemPlan, feature: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Give the tensors that a picture's feature is, by name; they share its memory.

    Args:
        name: of the feature, where it is one tensor.
        plan: the picture's.
        feature: the picture's.
    """
    if not plan.feature_parts:
        return {name: feature}
    tensors = {}
    end = 0
    for part, shape in plan.feature_parts:
        begin, end = end, end + math.prod(shape)
        tensors[part] = feature[begin:end].reshape(shape)
    return tensors


def batch_tensors(name: str, batch: ItemBatch) -> dict[str, npt.NDArray[Any]]:
    """Give the tensors that the features of a batch are, by name: one for all pictures, copied where each picture
    has several.

    Args:
        name: of the feature, where it is one tensor.
        batch: of an ``ImageProcessor``.
    """
    plans = [item.plan for item in batch.items]
    if not plans[0].feature_parts:
        return {name: batch.features}
    ends = np.cumsum([plan.feature_shape[0] for plan in plans])[:-1]
    each = [feature_tensors(name, plan, own) for plan, own in zip(plans, np.split(batch.features, ends), strict=True)]
    if len(each) == 1:
        return each[0]
    names = dict.fromkeys(part for tensors in each for part in tensors)
    return {part: np.concatenate([tensors[part] for tensors in each if part in tensors]) for part in names}


def aux_of(
    items: Sequence[Item], joined_aux: Sequence[str], ones_aux: Sequence[str] = ()
) -> dict[str, npt.NDArray[Any]]:
    """Give what stands beside the features of a batch: ``joined_aux`` along their first side, others ``stacked``."""

    def together(name: str) -> npt.NDArray[Any]:
        arrays = [item.aux[name] for item in items]
        return np.concatenate(arrays) if name in joined_aux else stacked(arrays, int(name in ones_aux))

    return {name: together(name) for name in items[0].aux}


def stacked(arrays: Sequence[npt.NDArray[Any]], fill: int = 0) -> npt.NDArray[Any]:
    """Stack arrays along a new first side, with ``fill`` where one is smaller."""
    shape = tuple(map(max, zip(*(array.shape for array in arrays), strict=True)))
    result = np.full((len(arrays), *shape), fill, arrays[0].dtype)
    for i, array in enumerate(arrays):
        corner: tuple[int | slice, ...] = (i, *(slice(side) for side in array.shape))
        result[corner] = array
    return result


def joined(features: Sequence[npt.NDArray[Any]], axis: int = 0) -> npt.NDArray[Any]:
    """Put features behind each other along a side; where they differ in others, zeros fill the smaller ones."""
    sides = np.max([feature.shape for feature in features], axis=0)
    sides[axis] = sum(feature.shape[axis] for feature in features)
    result = np.zeros(sides, features[0].dtype)
    end = 0
    for feature in features:
        begin, end = end, end + feature.shape[axis]
        head = [slice(side) for side in feature.shape]
        head[axis] = slice(begin, end)
        result[tuple(head)] = feature
    return result
