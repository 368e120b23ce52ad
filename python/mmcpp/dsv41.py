"""The function of the reference crate sglang-mm 0.5.23, module ``dsv41`` (DeepSeek-V4.1).

Same name, arguments, flat array, results and error texts, so that code written for the crate runs
after changing one import. Sizes and places are planned by the caller; the family ``dsv41`` of
``mmcpp.ImageProcessor`` plans them itself, as sglang does.

Differences, all on purpose: a Fortran-ordered array is refused, where the crate scrambles it;
canvases of more than 2**28 pixels and patches of more than 1024 a side are a ``LimitError``.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.common import require_array, require_pillow_generation, resize_rgb, unsigned
from mmcpp.errors import LimitError

__all__ = ["resize_patchify"]

_GRAY = 127
_MAX_PATCH_SIZE, _MAX_PIXELS = 1024, 2**28


def resize_patchify(
    arr: npt.NDArray[np.uint8],
    output_size: tuple[int, int],
    resize_size: tuple[int, int],
    padding_start: tuple[int, int],
    patch_size: int,
    *,
    pillow_generation: Literal[12, 13] = 12,
) -> npt.NDArray[np.uint16]:
    """Resize a picture (bicubic) onto a gray canvas, normalise it and cut it into patches.

    Values are ``(v / 255 - 0.5) / 0.5`` in float32, rounded to bfloat16.

    Args:
        arr: ``uint8 [h, w, 3]``.
        output_size: ``(height, width)`` of the canvas, multiples of ``patch_size``.
        resize_size: ``(height, width)`` of the picture on it.
        padding_start: ``(top, left)`` of the picture.
        patch_size: pixels.
        pillow_generation: 12, as in the crate, resamples rows first; 13 is Pillow 13 and later.

    Returns:
        ``uint16 [patches * 3 * patch_size * patch_size]``, bits of bfloat16; patches row by row, each
        ``[3, patch_size, patch_size]``.

    Raises:
        TypeError: not a ``uint8`` array with three dimensions, a size that is no tuple of integers.
        ValueError: another number of channels, not in C order, sizes that do not fit.
        LimitError: a canvas or a patch beyond the limits.
        OverflowError: a negative size.
    """
    require_array(arr)
    height, width = _pair(output_size)
    resized_height, resized_width = _pair(resize_size)
    top, left = _pair(padding_start)
    side = unsigned(patch_size)
    require_pillow_generation(pillow_generation)
    if arr.shape[2] != 3:
        raise ValueError("expected HWC RGB")
    if not arr.flags.c_contiguous:
        raise ValueError("expected contiguous RGB")
    sizes = (height, width, resized_height, resized_width, side, arr.size)
    fits = resized_height <= height and resized_width <= width
    inside = top <= height - resized_height and left <= width - resized_width
    if 0 in sizes or height % side or width % side or not fits or not inside:
        raise ValueError("invalid V4.1 image geometry")
    if height * width * 3 >= 2**64:
        raise ValueError("V4.1 output size overflow")
    if height * width > _MAX_PIXELS or side > _MAX_PATCH_SIZE:
        raise LimitError(
            f"V4.1 output of {height}x{width} in patches of {side}: the limits are {_MAX_PIXELS} pixels, "
            f"patches of {_MAX_PATCH_SIZE}"
        )
    resized = resize_rgb(arr, resized_width, resized_height, "pil_bicubic", pillow_generation=pillow_generation)
    canvas = resized.reshape(resized_height, resized_width, 3)
    if canvas.shape[:2] != (height, width):
        canvas = np.full((height, width, 3), _GRAY, np.uint8)
        canvas[top : top + resized_height, left : left + resized_width] = resized.reshape(
            resized_height, resized_width, 3
        )
    return _family(side).feature(canvas, "bfloat16").reshape(-1)


def _pair(value: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(value, tuple):
        raise TypeError(f"'{type(value).__name__}' object is not an instance of 'tuple'")
    if len(value) != 2:
        raise ValueError(f"expected tuple of length 2, but got tuple of length {len(value)}")
    return unsigned(value[0]), unsigned(value[1])


@lru_cache(maxsize=64)
def _family(side: int) -> _mmcpp.Family:
    """Build the family whose plan for a finished canvas is the canvas itself."""
    spec = {
        "family": "dsv41",
        "image_token_id": 0,
        "vision_patch_size": side,
        "vision_downsample_ratio": 64,
        "vision_min_pixels": 0,
        "vision_max_n_token": 2**20,
    }
    return _mmcpp.Family(json.dumps(spec))
