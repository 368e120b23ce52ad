"""The functions of the reference crate sglang-mm, module ``kimi_k3`` of its branch for Kimi K3.

Same names, arguments and flat arrays. No release of the crate has them: what they give is what the
checkpoint's own image processor does with Pillow and numpy, byte for byte. Sizes are planned by the
caller; the family ``kimi_k3`` of ``mmcpp.ImageProcessor`` plans them itself, and has its background in its spec.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.common import require_array, require_pillow_generation, resize_rgb, to_float, unsigned
from mmcpp.errors import LimitError

__all__ = ["Background", "fill_transparent_bg", "preprocess", "resize_bicubic"]

Background = tuple[str, int, bool, int, int]
"""``(pattern, square_size, square_on_top_left, white_value, gray_value)``: the pattern is ``"white"`` (255),
``"black"`` (0), ``"gray"`` (128) or ``"chessboard"``. Only a chessboard looks at the other four: its squares of
``square_size`` pixels alternate between the two values, beginning at the top left with ``white_value`` if
``square_on_top_left`` is set, else with ``gray_value``."""

Pixels = npt.NDArray[np.uint8]
Three = tuple[float, float, float]

_PLAIN = {"white": 255, "black": 0, "gray": 128}
_MAX_PIXELS = 2**28


def resize_bicubic(arr: Pixels, out_w: int, out_h: int, *, pillow_generation: Literal[12, 13] = 12) -> Pixels:
    """Resize as Pillow does pictures of mode RGB or RGBA; note that width comes before height here.

    Colours of RGBA are multiplied by their alpha before, and divided by it afterwards.

    Args:
        arr: ``uint8 [h, w, 3]`` or ``uint8 [h, w, 4]``.
        out_w: of the result, in pixels.
        out_h: of the result, in pixels.
        pillow_generation: 12, as in the crate, resamples rows first; 13 is Pillow 13 and later.

    Returns:
        ``uint8 [out_h * out_w * channels]``.

    Raises:
        TypeError: not a ``uint8`` array with three dimensions.
        ValueError: no size, another number of channels, not in C order.
        OverflowError: a negative size.
    """
    require_array(arr)
    out_w, out_h = unsigned(out_w), unsigned(out_h)
    require_pillow_generation(pillow_generation)
    _require_channels(arr)
    return _resize(arr, out_h, out_w, pillow_generation).reshape(-1)


def fill_transparent_bg(arr: Pixels, bg: Background | None = None) -> Pixels:
    """Lay a picture over a background: ``trunc(alpha * colour + (1 - alpha) * background)`` in float32.

    Args:
        arr: ``uint8 [h, w, 4]``.
        bg: the background; none drops the alpha.

    Returns:
        ``uint8 [h * w * 3]``.

    Raises:
        TypeError: not a ``uint8`` array with three dimensions, a background that is no tuple.
        ValueError: another number of channels, not in C order, an unknown pattern, squares of no size.
    """
    require_array(arr)
    if arr.shape[2] != 4:
        raise ValueError(f"expected HWC RGBA array with 4 channels, got {arr.shape[2]}")
    _require_order(arr)
    return _fill(arr, bg).reshape(-1)


def preprocess(  # noqa: PLR0917 - the crate's arguments
    arr: Pixels,
    new_w: int,
    new_h: int,
    pad_w: int,
    pad_h: int,
    patch_size: int,
    mean: Three,
    std: Three,
    bg: Background | None = None,
    *,
    pillow_generation: Literal[12, 13] = 12,
) -> tuple[npt.NDArray[np.float32], tuple[int, int, int]]:
    """Resize, lay over a background, pad with zeros on the right and below, normalise and cut into patches.

    Args:
        arr: ``uint8 [h, w, 3]`` or ``uint8 [h, w, 4]``.
        new_w: of the picture, in pixels.
        new_h: of the picture, in pixels.
        pad_w: on the right, in pixels.
        pad_h: below, in pixels.
        patch_size: pixels.
        mean: of the three channels.
        std: of the three channels.
        bg: as for ``fill_transparent_bg``; pictures of three channels need none.
        pillow_generation: as for ``resize_bicubic``.

    Returns:
        ``(float32 [patches * 3 * patch_size * patch_size], (1, rows, columns))``; patches row by
        row, each ``[3, patch_size, patch_size]``.

    Raises:
        TypeError: not a ``uint8`` array with three dimensions, no numbers.
        ValueError: no size, padded sides that are no multiples of patches, numbers that are not finite,
            and as ``fill_transparent_bg``.
        LimitError: more than 2**28 pixels.
        OverflowError: a negative size.
    """
    require_array(arr)
    new_w, new_h, pad_w, pad_h, side = map(unsigned, (new_w, new_h, pad_w, pad_h, patch_size))
    channels = _three(mean), _three(std)
    require_pillow_generation(pillow_generation)
    _require_channels(arr)
    if 0 in (new_w, new_h, side):
        raise ValueError("resized dims and patch size must be positive")
    height, width = new_h + pad_h, new_w + pad_w
    if height % side or width % side:
        raise ValueError(f"padded dims {height}x{width} not divisible by patch size {side}")
    if height * width > _MAX_PIXELS:
        raise LimitError(f"padded dims {height}x{width}: the limit is {_MAX_PIXELS} pixels")
    family = _family(side, *channels)
    picture = _resize(arr, new_h, new_w, pillow_generation)
    if picture.shape[2] == 4:
        picture = _fill(picture, bg)
    if (height, width) != (new_h, new_w):
        canvas = np.zeros((height, width, 3), np.uint8)
        canvas[:new_h, :new_w] = picture
        picture = canvas
    return family.feature(picture, "float32").reshape(-1), (1, height // side, width // side)


def _require_order(arr: Pixels) -> None:
    if not arr.flags.c_contiguous:
        raise ValueError("array must be C-contiguous")


def _require_channels(arr: Pixels) -> None:
    if arr.shape[2] not in (3, 4):
        raise ValueError(f"expected 3 or 4 channels, got {arr.shape[2]}")
    _require_order(arr)


def _three(values: Three) -> Three:
    if not isinstance(values, tuple):
        raise TypeError(f"'{type(values).__name__}' object is not an instance of 'tuple'")
    if len(values) != 3:
        raise ValueError(f"expected tuple of length 3, but got tuple of length {len(values)}")
    return to_float(values[0]), to_float(values[1]), to_float(values[2])


@lru_cache(maxsize=64)
def _family(side: int, mean: Three, std: Three) -> _mmcpp.Family:
    """Build the family whose plan for a finished canvas is the canvas itself."""
    spec = {
        "family": "kimi_k3",
        "image_token_id": 0,
        "patch_size": side,
        "merge_kernel_size": 1,
        "in_patch_limit": 2**31,
        "patch_limit_on_one_side": 2**20,
        "image_mean": mean,
        "image_std": std,
    }
    return _mmcpp.Family(json.dumps(spec), True)


def _resize(arr: Pixels, height: int, width: int, pillow_generation: Literal[12, 13]) -> Pixels:
    if arr.shape[:2] == (height, width):
        return np.array(arr, np.uint8)

    def resized(rgb: Pixels) -> Pixels:
        flat = resize_rgb(rgb, width, height, "pil_bicubic", pillow_generation=pillow_generation)
        return flat.reshape(height, width, 3)

    if arr.shape[2] == 3:
        return resized(arr)
    alpha = arr[:, :, 3:]
    product = arr[:, :, :3].astype(np.uint16) * alpha + 128
    colors = resized((((product >> 8) + product) >> 8).astype(np.uint8))
    alpha = resized(np.repeat(alpha, 3, axis=2))[:, :, :1]
    divided = np.minimum(colors.astype(np.uint16) * 255 // np.maximum(alpha, 1), 255).astype(np.uint8)
    partly = (alpha != 0) & (alpha != 255)
    return np.concatenate([np.where(partly, divided, colors), alpha], axis=2)


def _fill(arr: Pixels, bg: Background | None) -> Pixels:
    colors = arr[:, :, :3]
    if bg is None:
        return np.ascontiguousarray(colors)
    alpha = arr[:, :, 3:].astype(np.float32) / np.float32(255)
    below = (np.float32(1) - alpha) * _background(bg, *arr.shape[:2])
    filled: Pixels = (alpha * colors.astype(np.float32) + below).astype(np.uint8)
    return filled


def _background(bg: Background, height: int, width: int) -> npt.NDArray[np.float32]:
    """``float32 [h, w, 1]`` or ``[1]``."""
    if not isinstance(bg, tuple):
        raise TypeError(f"'{type(bg).__name__}' object is not an instance of 'tuple'")
    if len(bg) != 5:
        raise ValueError(f"expected tuple of length 5, but got tuple of length {len(bg)}")
    pattern, square, on_top_left, white, gray = bg
    square, white, gray = unsigned(square), unsigned(white, 8), unsigned(gray, 8)
    if pattern in _PLAIN:
        return np.array([_PLAIN[pattern]], np.float32)
    if pattern != "chessboard":
        raise ValueError(f'invalid background pattern "{pattern}"')
    if square == 0:
        raise ValueError("chessboard square size must be > 0")
    parity = (np.arange(height)[:, None] // square + np.arange(width) // square) % 2
    squares: npt.NDArray[np.float32] = np.where(parity == int(on_top_left), np.float32(gray), np.float32(white))
    return squares[:, :, None]
