"""Let the stock ``transformers.AutoImageProcessor``, and with it ``AutoProcessor``, hand out processors that mmcpp
works for; and take that back."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from mmcpp.hf.processor import Unsupported, accelerate

__all__ = ["patch_transformers", "patched_transformers", "unpatch_transformers"]

_LOCK = threading.Lock()
_STOCK: list[Any] = []
"""The class method that was replaced, while it is."""


def patch_transformers(*, unsupported: Unsupported = "warn") -> None:
    """Replace ``transformers.AutoImageProcessor.from_pretrained``, for the whole process.

    Processors of all kinds get their image processors there. Those that exist already stay as they are; so do
    classes that are asked themselves, such as ``CLIPImageProcessor.from_pretrained``. May be called again.

    Args:
        unsupported: as for ``accelerate``.

    Raises:
        ImportError: transformers is not installed.
        ValueError: another ``unsupported``.
    """
    if unsupported not in ("warn", "error"):
        raise ValueError(f'unsupported: expected "warn" or "error", got {unsupported!r}')
    from transformers import AutoImageProcessor

    with _LOCK:
        if not _STOCK:
            _STOCK.append(AutoImageProcessor.__dict__["from_pretrained"])
        stock = _STOCK[0]

        def from_pretrained(cls: Any, *inputs: Any, **kwargs: Any) -> Any:
            result = stock.__get__(None, cls)(*inputs, **kwargs)
            if isinstance(result, tuple):  # return_unused_kwargs
                return accelerate(result[0], unsupported=unsupported), *result[1:]
            return accelerate(result, unsupported=unsupported)

        from_pretrained.__doc__ = stock.__func__.__doc__
        AutoImageProcessor.from_pretrained = classmethod(from_pretrained)


def unpatch_transformers() -> None:
    """Take ``patch_transformers`` back. Processors that were handed out stay as they are."""
    with _LOCK:
        if _STOCK:
            from transformers import AutoImageProcessor

            AutoImageProcessor.from_pretrained = _STOCK.pop()


@contextlib.contextmanager
def patched_transformers(*, unsupported: Unsupported = "warn") -> Iterator[None]:
    """Patch for the time of a ``with`` block, in all threads; what was patched before stays so.

    Args:
        unsupported: as for ``accelerate``.

    Raises:
        ImportError, ValueError: as ``patch_transformers``.
    """
    before = bool(_STOCK)
    if not before:
        patch_transformers(unsupported=unsupported)
    try:
        yield
    finally:
        if not before:
            unpatch_transformers()
