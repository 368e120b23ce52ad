"""Which part of a processor's output belongs to which item: splitting a batch, merging items back.

A field says how one named output of a processor relates to the items of its modality:

- batched: element i is ``data[i]``;
- flat: the items' elements lie one behind the other along a dimension;
- shared: every item has the whole.

Outputs are numpy arrays, torch tensors or lists. Elements are views of the batch; a cache that keeps
them gives them memory of their own (``mmcpp.cache.own_memory``).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Field", "FieldItem", "batched", "flat", "flat_from_sizes", "group_items", "merge_items", "shared", "split"]


@dataclass(frozen=True)
class Field:
    """How one output of a processor relates to its items; made by ``batched``, ``flat`` and so on."""

    modality: str
    """Of the items."""
    kind: Literal["batched", "flat", "shared"]
    """One entry an item; a stretch of entries an item; the same for all."""
    dim: int = 0
    """Of flat fields: along which dimension the elements lie; negative ones count from the last."""
    slices: tuple[slice, ...] = field(default=(), compare=False)
    """Of flat fields that are to be split: an item's part each."""
    count: int = field(default=0, compare=False)
    """Of shared fields that are to be split: the number of items."""
    keep_on_cpu: bool = False
    """Whether the output is for the host only, such as grids that positions are computed from."""

    def split(self, data: Any) -> list[Any]:
        """Give each item's element of ``data``, an array, a tensor or a list.

        Raises:
            ValueError: the slices do not cover what there is.
        """
        if self.kind == "shared":
            return [data] * self.count
        if self.kind == "batched":
            return [data[i] for i in range(len(data))]
        length = data.shape[self.dim] if _is_array(data) else len(data)
        behind = max((part.stop for part in self.slices), default=0)
        if behind != length:
            raise ValueError(f"fields: items take {behind} of {length} entries along dimension {self.dim}")
        return [_slice(data, part, self.dim) for part in self.slices]

    def merge(self, elements: Sequence[Any]) -> Any:
        """Give what the processor would give for these items.

        Batched arrays of one shape are stacked, others stay a list. Flat arrays are joined along
        the dimension; where their other sides differ, each is put at the origin of its part of
        zeros. A single flat element is given as it is.

        Raises:
            ValueError: no elements, or flat lists along another dimension than the first.
        """
        if not elements:
            raise ValueError("fields: no items to merge")
        if self.kind == "shared":
            return elements[0]
        if self.kind == "batched":
            return _stack(elements)
        if not _is_array(elements[0]):
            if self.dim != 0:
                raise ValueError(f"fields: lists have no dimension {self.dim}")
            return list(itertools.chain.from_iterable(elements))
        return elements[0] if len(elements) == 1 else _join(elements, self.dim)


def batched(modality: str, *, keep_on_cpu: bool = False) -> Field:
    """Let element i be ``data[i]``; ``modality`` and ``keep_on_cpu`` as in ``Field``."""
    return Field(modality, "batched", keep_on_cpu=keep_on_cpu)


def flat(modality: str, slices: Sequence[slice] = (), *, dim: int = 0, keep_on_cpu: bool = False) -> Field:
    """Let the elements lie along ``dim``, each item's at its slice; merging needs no slices.

    Args:
        modality: of the items.
        slices: an item's part each.
        dim: along which the elements lie.
        keep_on_cpu: see ``Field``.
    """
    return Field(modality, "flat", dim, slices=tuple(slices), keep_on_cpu=keep_on_cpu)


def flat_from_sizes(modality: str, sizes: npt.ArrayLike, *, dim: int = 0, keep_on_cpu: bool = False) -> Field:
    """Let the elements lie one behind the other along ``dim``, each item's ``sizes[i]`` long.

    Args:
        modality: of the items.
        sizes: one per item; an array or tensor of integers.
        dim: along which the elements lie.
        keep_on_cpu: see ``Field``.

    Raises:
        ValueError: sizes in more than one dimension, or negative ones.
    """
    given = np.asarray(sizes)
    if given.ndim != 1 or (given < 0).any():
        raise ValueError(f"fields: expected one size per item, got an array of shape {given.shape}")
    ends = [0, *(int(end) for end in np.cumsum(given))]
    slices = [slice(begin, end) for begin, end in itertools.pairwise(ends)]
    return flat(modality, slices, dim=dim, keep_on_cpu=keep_on_cpu)


def shared(modality: str, count: int, *, keep_on_cpu: bool = False) -> Field:
    """Let each of ``count`` items have the whole; ``modality`` and ``keep_on_cpu`` as in ``Field``."""
    return Field(modality, "shared", count=count, keep_on_cpu=keep_on_cpu)


@dataclass(frozen=True, eq=False)
class FieldItem:
    """One item of a processor's outputs."""

    modality: str
    """Of the item."""
    data: dict[str, Any]
    """Output name -> the item's element."""
    fields: dict[str, Field]
    """Output name -> how elements of it are merged."""


def split(outputs: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, list[FieldItem]]:
    """Split a processor's outputs into items.

    Args:
        outputs: name -> data; those that no field is for, that are None or empty are left out.
        fields: name -> field.

    Returns:
        Modality -> items.

    Raises:
        ValueError: outputs of one modality that hold different numbers of items.
    """
    elements: dict[str, dict[str, list[Any]]] = {}
    for name, one in fields.items():
        data = outputs.get(name)
        if data is None or len(data) == 0:
            continue
        elements.setdefault(one.modality, {})[name] = one.split(data)
    items: dict[str, list[FieldItem]] = {}
    for modality, by_name in elements.items():
        counts = {name: len(parts) for name, parts in by_name.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"fields: {modality} outputs hold different numbers of items: {counts}")
        kinds = {name: fields[name] for name in by_name}
        items[modality] = [
            FieldItem(modality, {name: parts[i] for name, parts in by_name.items()}, kinds)
            for i in range(next(iter(counts.values())))
        ]
    return items


def group_items(items: Sequence[FieldItem]) -> list[list[FieldItem]]:
    """Group consecutive items that can be merged.

    Those are of one modality, with the same outputs in the same kinds of fields and equal shared
    data (in type and value).
    """
    groups: list[list[FieldItem]] = []
    for item in items:
        if groups and _mergeable(groups[-1][0], item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def merge_items(items: Sequence[FieldItem]) -> dict[str, Any]:
    """Give the outputs that the processor would give for these items.

    Raises:
        ValueError: no items, or items that do not fit together (see ``group_items``).
    """
    if not items:
        raise ValueError("fields: no items to merge")
    groups = len(group_items(items))
    if groups != 1:
        raise ValueError(f"fields: {len(items)} items of {groups} kinds cannot be merged")
    return {name: kind.merge([item.data[name] for item in items]) for name, kind in items[0].fields.items()}


def _mergeable(one: FieldItem, other: FieldItem) -> bool:
    if one.modality != other.modality or one.fields != other.fields:
        return False
    return all(_equal(one.data[name], other.data[name]) for name, kind in one.fields.items() if kind.kind == "shared")


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or _is_tensor(value)


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_equal, one, other))
    if _is_array(one) and type(one) is type(other):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    return type(one) is type(other) and bool(one == other)


def _slice(data: Any, part: slice, dim: int) -> Any:
    if not _is_array(data):
        return data[part]
    index: list[Any] = [slice(None)] * data.ndim
    index[dim] = part
    return data[tuple(index)]


def _stack(elements: Sequence[Any]) -> Any:
    if not all(_is_array(element) for element in elements):
        return list(elements)
    if len(elements) == 1:
        return elements[0][None]
    if any(element.shape != elements[0].shape for element in elements):
        return list(elements)
    if _is_tensor(elements[0]):
        import torch

        return torch.stack(list(elements))
    return np.stack(elements)


def _join(elements: Sequence[Any], dim: int) -> Any:
    dim %= elements[0].ndim
    sides = [max(sizes) for sizes in zip(*(element.shape for element in elements), strict=True)]
    sides[dim] = sum(element.shape[dim] for element in elements)
    result = elements[0].new_zeros(sides) if _is_tensor(elements[0]) else np.zeros(sides, elements[0].dtype)
    begin = 0
    for element in elements:
        index = [slice(0, side) for side in element.shape]
        index[dim] = slice(begin, begin + element.shape[dim])
        result[tuple(index)] = element
        begin += element.shape[dim]
    return result
