"""The form of a result: what transformers gives where no ``return_tensors`` is asked for, which each of its classes
decides for itself, is learned from one of its results and given to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mmcpp.errors import UnsupportedError

__all__ = ["Form", "difference", "form_of", "in_form"]

Form: TypeAlias = tuple[Any, ...]
"""``("array",)``, ``("tensor",)`` or ``("int",)``; or ``("list", form)``, ``("tuple", form)`` or ``("size", form)`` of
what stands in one; or ``("kept", form)`` of what no ``return_tensors`` converts."""


def form_of(value: Any) -> Form:
    """Learn a value's form.

    Raises:
        UnsupportedError: a type that no result of arrays has, or a sequence of several forms.
    """
    if isinstance(value, np.ndarray):
        return ("array",)
    if _is_tensor(value):
        return ("tensor",)
    if isinstance(value, (int, np.integer)):
        return ("int",)
    if isinstance(value, (list, tuple)) and value:
        inner = {form_of(member) for member in value}
        if len(inner) == 1:
            kind = "list" if isinstance(value, list) else "tuple" if type(value) is tuple else "size"
            return (kind, *inner)
    raise UnsupportedError(f"a result of type {type(value).__name__} is not supported")


def in_form(form: Form, array: npt.NDArray[Any]) -> Any:
    """Give an array in a form. Nothing is copied but numbers."""
    if form[0] == "kept":
        form = form[1]
    kind = form[0]
    if kind == "array":
        return array
    if kind == "int":
        return int(array)
    if kind == "list":
        return [in_form(form[1], part) for part in array]
    if kind == "tuple":
        return tuple(in_form(form[1], part) for part in array)
    import torch

    if kind == "tensor":
        return torch.from_numpy(array)
    return torch.Size(int(part) for part in array)


def difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str | None:
    """Say how ``ours`` differs from ``theirs``: in keys, types, shapes, dtypes or bytes. None if it does not."""
    if list(ours) != list(theirs):
        return f"keys {list(ours)} instead of {list(theirs)}"
    for name in ours:
        if not _equal(ours[name], theirs[name]):
            return f"another {name}"
    return None


def _equal(ours: Any, theirs: Any) -> bool:
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, (list, tuple)):
        return len(ours) == len(theirs) and all(map(_equal, ours, theirs))
    if _is_tensor(ours):
        ours, theirs = ours.numpy(), theirs.numpy()
    if isinstance(ours, np.ndarray):
        return (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape) and ours.tobytes() == theirs.tobytes()
    return bool(ours == theirs)


def _is_tensor(value: Any) -> bool:
    # By the class's name, so that torch is not imported on behalf of those who do not use it.
    return any(c.__module__ == "torch" and c.__name__ == "Tensor" for c in type(value).__mro__)
