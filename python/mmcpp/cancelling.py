"""Requests that end early: at a time, or when another thread says so."""

from __future__ import annotations

import math
import time

from mmcpp import _mmcpp

__all__ = ["CancelFlag"]


class CancelFlag:
    """Ends the calls that it is given to, from any thread and for good.

    >>> import numpy as np
    >>> from mmcpp import CancelledError, ImageProcessor
    >>> from mmcpp.spec import preset_spec
    >>> flag = CancelFlag()
    >>> flag.cancel()
    >>> try:
    ...     ImageProcessor.from_spec(preset_spec("qwen2_vl"))(np.zeros((56, 56, 3), np.uint8), cancel=flag)
    ... except CancelledError as error:
    ...     print(error)
    header: the request was cancelled
    """

    def __init__(self) -> None:
        """Make one that is not set."""
        self._flag = _mmcpp.CancelFlag()

    def cancel(self) -> None:
        """Set it."""
        self._flag.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether it is set."""
        return self._flag.cancelled


class Stop:
    """When a call is to end: the arguments ``timeout``, counted from now, and ``cancel``."""

    def __init__(self, timeout: float | None, cancel: CancelFlag | None) -> None:
        """Check them.

        Raises:
            TypeError: no number of seconds, or no flag.
            ValueError: less than none, or not a number.
        """
        if timeout is not None:
            if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
                raise TypeError(f"timeout: expected seconds or None, got {type(timeout).__name__}")
            if not timeout >= 0:
                raise ValueError(f"timeout: expected seconds from 0, got {timeout}")
        if cancel is not None and not isinstance(cancel, CancelFlag):
            raise TypeError(f"cancel: expected a CancelFlag or None, got {type(cancel).__name__}")
        self._end = None if timeout is None or math.isinf(timeout) else time.monotonic() + timeout
        self._cancel = cancel

    @property
    def cancelled(self) -> bool:
        """Whether the flag is set."""
        return self._cancel is not None and self._cancel.cancelled

    def left(self) -> float | None:
        """Seconds from now; None where there is no end."""
        return None if self._end is None else min(max(0.0, self._end - time.monotonic()), 1e9)

    def native(self) -> tuple[float | None, _mmcpp.CancelFlag | None] | None:
        """As the core takes it."""
        if self._end is None and self._cancel is None:
            return None
        return self.left(), None if self._cancel is None else self._cancel._flag
