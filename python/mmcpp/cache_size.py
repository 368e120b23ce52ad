"""What a value costs in memory, and how a view of something large comes to cost only itself."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["item_bytes", "own_memory"]

T = TypeVar("T")

# A view keeps its whole storage alive. Below this share of waste it is left as it is.
_WASTE = 1 / 8


def item_bytes(value: object, *, compat: Literal["vllm"] | None = None) -> int:
    """Count the bytes that a value keeps alive.

    Arrays and tensors count with their whole storage, even where they are views of a part of it,
    and each storage once; PIL images with their pixels; everything else with ``sys.getsizeof``,
    containers included.

    Args:
        value: numpy arrays, torch tensors, PIL images, buffers, and lists, tuples, mappings and
            dataclasses of them and of plain values.
        compat: ``"vllm"`` counts as vLLM 0.33: views as if they stood alone, containers not at all.
    """
    if compat == "vllm":
        return _vllm_bytes(value)
    return _count(value, set())


def own_memory(value: T) -> T:
    """Give ``value`` with a copy of each array in it that is a view of something much larger.

    Items of a batch are views of the batch's memory; cached as they are, each would keep all of it
    alive. Where nothing has to be copied the value itself is given.
    """
    copied: T = _own(value)
    return copied


def _children(value: object) -> list[object] | None:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name) for f in dataclasses.fields(value)]
    return None


def _storage(value: object) -> tuple[object, int] | None:
    """Give what an array-like value's memory is known by, and its size."""
    torch = sys.modules.get("torch")
    pil = sys.modules.get("PIL.Image")
    if isinstance(value, np.ndarray):
        return _array_storage(value)
    if torch is not None and isinstance(value, torch.Tensor):
        storage = value.untyped_storage()
        return ("torch", storage.data_ptr()), storage.nbytes()
    if pil is not None and isinstance(value, pil.Image):
        width, height = value.size
        # Pillow keeps one byte per pixel, or four.
        return ("pil", id(value)), width * height * (1 if value.mode in {"1", "L", "P"} else 4)
    if isinstance(value, (bytes, bytearray)):
        return ("buffer", id(value)), sys.getsizeof(value)
    if isinstance(value, memoryview):
        return ("buffer", id(value.obj)), memoryview(value.obj).nbytes
    return None


def _array_storage(array: npt.NDArray[Any]) -> tuple[object, int]:
    owner: npt.NDArray[Any] = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if owner.base is None:
        return ("array", owner.__array_interface__["data"][0]), owner.nbytes
    try:
        with memoryview(owner.base) as memory:
            return ("buffer", id(owner.base)), max(memory.nbytes, owner.nbytes)
    except TypeError:  # a capsule, whose array covers all of it
        return ("array", owner.__array_interface__["data"][0]), owner.nbytes


def _count(value: object, seen: set[object]) -> int:
    storage = _storage(value)
    if storage is not None:
        name, size = storage
        if name in seen:
            return 0
        seen.add(name)
        return size
    if ("object", id(value)) in seen:
        return 0
    seen.add(("object", id(value)))
    size = sys.getsizeof(value)
    for child in _children(value) or ():
        size += _count(child, seen)
    return size


def _vllm_bytes(value: object) -> int:
    nbytes = getattr(value, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    if isinstance(value, Mapping):
        return sum(_vllm_bytes(element) for element in value.values())
    if isinstance(value, (list, tuple)):
        return sum(_vllm_bytes(element) for element in value)
    return sys.getsizeof(value)


def _own(value: Any) -> Any:
    torch = sys.modules.get("torch")
    if isinstance(value, np.ndarray):
        return value.copy() if _wasteful(value.nbytes, _array_storage(value)[1]) else value
    if torch is not None and isinstance(value, torch.Tensor):
        return value.clone() if _wasteful(value.nbytes, value.untyped_storage().nbytes()) else value
    if type(value) is dict:
        return _same_or_new(value, value.values(), lambda made: dict(zip(value, made, strict=True)))
    if type(value) in (list, tuple):
        return _same_or_new(value, value, type(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.init]
        return _same_or_new(
            value,
            [getattr(value, name) for name in names],
            lambda made: dataclasses.replace(value, **dict(zip(names, made, strict=True))),
        )
    return value


def _same_or_new(value: Any, children: Any, build: Any) -> Any:
    before = list(children)
    after = [_own(child) for child in before]
    return value if all(a is b for a, b in zip(before, after, strict=True)) else build(after)


def _wasteful(used: int, storage: int) -> bool:
    return storage - used > storage * _WASTE
