"""M-RoPE positions of a prompt whose pictures and videos are known by their grids alone.

A pipeline gives the positions of its own requests, which hold pictures. This is for prompts that
something else expands, with videos too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp

__all__ = ["MropeItem", "mrope_positions"]


@dataclass(frozen=True)
class MropeItem:
    """A picture or a video of a prompt."""

    first: int
    """Its first token in the expanded prompt."""
    last: int
    """Its last token."""
    grid: tuple[int, int, int]
    """``(t, h, w)`` in patches: a row of ``image_grid_thw`` or ``video_grid_thw``."""
    temporal_merge: int = 1
    """Steps of the grid's ``t`` that one step of tokens stands for."""
    time_step: float = 1.0
    """Positions from one step of tokens to the next, in float32."""


def mrope_positions(length: int, items: Sequence[MropeItem], merge_size: int) -> tuple[npt.NDArray[np.int64], int]:
    """Give M-RoPE position ids of a prompt with pictures and videos.

    They equal those of ``get_rope_index`` of transformers 5.24. Of a video: Qwen2-VL has plain items;
    Qwen2.5-VL a ``time_step`` of ``tokens_per_second * second_per_grid_ts``, a product of float32;
    Ernie-4.5-VL a ``temporal_merge``. In the prompts of Qwen3-VL, GLM-4.1V and those after them
    timestamps stand between the frames, so that each frame is an item with a ``t`` of 1.

    Args:
        length: tokens of the expanded prompt.
        items: in prompt order, with text between neighbours; transformers takes two of a kind for one
            without.
        merge_size: patches per side that one token stands for.

    Returns:
        ``int64 [3, length]``, and the delta: the largest position + 1 - length.

    Raises:
        ValueError: a range out of order or bounds, a grid that does not fill it, or a time step that is
            negative or leads beyond 2**31.
        TypeError: a number that is no integer, negative or over 32 bits.
    """
    plain = [(item.first, item.last, item.grid, item.temporal_merge, item.time_step) for item in items]
    return _mmcpp.video_mrope_positions(length, plain, merge_size)
