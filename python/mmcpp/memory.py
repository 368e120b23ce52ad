"""Memory that waits for its next use."""

from __future__ import annotations

from mmcpp import _mmcpp

__all__ = ["free_waiting_buffers"]


def free_waiting_buffers() -> int:
    """Free the memory that large results and pictures left behind; give how many bytes it was.

    Freed buffers of 4 MiB and more wait for the next of their size, 128 MiB in all, and are freed
    once they have waited for a second and another is allocated or freed. A process that has
    nothing more to do may end their wait.

    >>> free_waiting_buffers() >= 0
    True
    """
    return _mmcpp.free_waiting_buffers()
