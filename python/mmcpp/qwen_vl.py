"""The functions of the reference crate sglang-mm 0.5.23, module ``qwen_vl``.

Same names, arguments, flat arrays, results and error texts, so that code written for the crate runs
after changing one import. Keys of a spec that are not known are ignored, as there; ``"pil"`` means
the order of passes up to Pillow 12 unless the spec's ``pillow_generation`` says 13, and thin
pictures get the crate's size rule, not transformers'.

Differences, all on purpose: those of ``mmcpp.common``; of several bad pictures the first in order is
reported; ``merge_size`` 0 is a ValueError where the crate panics.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.common import LIMITS_OF_THE_CRATE, as_the_crate_says, fetch_bytes, int64, to_bytes, unsigned, with_message
from mmcpp.fetching import FetchPolicy

__all__ = ["mrope_image_only_py", "preprocess", "process_mm", "smart_resize_py"]


def preprocess(data: Sequence[int], spec_json: str) -> tuple[npt.NDArray[np.float32], tuple[int, int, int]]:
    """Decode and preprocess one picture.

    Args:
        data: encoded bytes.
        spec_json: the family's keys; ``family`` may be missing.

    Returns:
        ``(float32 [gh * gw * dim], (t, gh, gw))``.

    Raises:
        ValueError: a bad spec, a picture that cannot be used, or a size that is refused.
        TypeError: not bytes, or not a ``str``.
    """
    encoded = to_bytes(data)
    family = _family(spec_json, {"family": "qwen_vl"}, "qwen_vl spec: ")
    try:
        features, items = _mmcpp.process_items(family, [encoded], "float32", "sglang", None, LIMITS_OF_THE_CRATE)
    except ValueError as error:
        raise as_the_crate_says(error) from None
    return features.reshape(-1), items[0]["plan"]["grid"]


def smart_resize_py(height: int, width: int, factor: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    """Give the size that a picture is resized to: multiples of ``factor``, area within bounds.

    Args:
        height: of the picture, in pixels.
        width: of the picture, in pixels.
        factor: pixels of a side that one token stands for.
        min_pixels: of the area.
        max_pixels: of the area.

    This is the crate's rule. It differs from transformers 5.24 for sides under half a factor, which
    it lifts to one factor before it looks at the area, and for sides that the area bound takes to
    0, which it refuses.

    Returns:
        ``(height, width)``.

    Raises:
        ValueError: an empty picture, a ratio over 200, or a side that would vanish.
        TypeError: a number that is no integer.
        OverflowError: a negative number.

    >>> smart_resize_py(1365, 2048, 28, 3136, 12845056)
    (1372, 2044)
    """
    height, width, factor = unsigned(height), unsigned(width), unsigned(factor)
    min_pixels, max_pixels = unsigned(min_pixels), unsigned(max_pixels)
    if height == 0 or width == 0:
        raise ValueError("empty image")
    ratio = max(height, width) / min(height, width)
    if ratio > 200:
        shown = np.format_float_positional(ratio, trim="-")
        raise ValueError(f"absolute aspect ratio must be smaller than 200, got {shown}")
    h, w = _fit_area(height, width, factor, min_pixels, max_pixels)
    if h == 0 or w == 0:
        raise ValueError(
            f"smart_resize: {height}x{width} degenerates to {h}x{w} at max_pixels={max_pixels}; "
            "image is too thin for this pixel budget"
        )
    return h, w


def mrope_image_only_py(
    input_len: int, items: Sequence[tuple[int, int, int, int, int]], merge_size: int
) -> tuple[npt.NDArray[np.int64], int]:
    """Give M-RoPE position ids of a prompt with pictures.

    Args:
        input_len: tokens of the expanded prompt.
        items: ``(first, last, t, h, w)`` of each picture in prompt order; both ends are inside,
            the grid is in patches.
        merge_size: patches per side that one token stands for.

    Returns:
        ``(int64 [3 * input_len], delta)``.

    Raises:
        ValueError: a range out of order or bounds, or a grid that does not fill it.
        TypeError: an item that is no tuple, or a number that is no integer.
        OverflowError: a number that does not fit in 32 bits.
    """
    offsets, grids = [], []
    for item in items:
        if not isinstance(item, tuple):
            raise TypeError(f"'{type(item).__name__}' object is not an instance of 'tuple'")
        if len(item) != 5:
            raise ValueError(f"expected tuple of length 5, but got tuple of length {len(item)}")
        first, last, t, h, w = (unsigned(value, 32) for value in item)
        offsets.append((first, last))
        grids.append((t, h, w))
    # Text alone is never merged; the crate divides by merge_size only where there is a picture.
    merge = unsigned(merge_size, 32) if items else 1
    positions, delta = _mmcpp.mrope_positions(unsigned(input_len), offsets, grids, merge)
    return positions.reshape(-1), delta


def process_mm(
    input_ids: Sequence[int] | None,
    images: Sequence[Sequence[int] | str],
    spec_json: str,
    *,
    policy: FetchPolicy | None = None,
) -> tuple[
    list[int],
    npt.NDArray[np.float32],
    list[tuple[int, int, int]],
    list[int],
    list[tuple[int, int]],
    npt.NDArray[np.int64],
    int,
]:
    """Run a whole request.

    Args:
        input_ids: the prompt, with one placeholder a picture.
        images: encoded bytes of each, or a source for ``common.fetch_bytes``.
        spec_json: with the key ``family``.
        policy: for the sources; without one any file is read and any host asked, as the crate does.

    Returns:
        ``(input_ids, features of all pictures float32 flat, grids (t, h, w), content hashes,
        (first, last) of each, int64 [3 * length] positions, delta)``.

    Raises:
        ValueError: no ids or pictures, a bad spec, a picture that cannot be used, placeholders
            that do not match.
        TypeError: ids that are no integers, pictures that are no bytes.
    """
    if isinstance(images, (str, bytes, bytearray)) or not isinstance(images, (Sequence, np.ndarray)):
        name = "'None'" if images is None else f"'{type(images).__name__}' object"
        raise TypeError(f"{name} is not an instance of 'Sequence'")
    media = [image if isinstance(image, str) else to_bytes(image) for image in images]
    if input_ids is None:
        raise ValueError("native parity API requires input_ids")
    ids = np.array([int64(token) for token in input_ids], dtype=np.int64)
    family = _family(spec_json, {}, "mm spec: ")
    if len(ids):  # else the request is refused before a source is asked for
        media = [fetch_bytes(item, policy=policy) if isinstance(item, str) else item for item in media]
    else:
        media = [b"" for _ in media]
    try:
        result = _mmcpp.process(family, ids, media, "float32", "sglang", None, LIMITS_OF_THE_CRATE)
    except ValueError as error:
        raise as_the_crate_says(error) from None
    items = result["items"]
    positions, delta = result["positions"]
    return (
        result["input_ids"].tolist(),
        np.concatenate([item["feature"].reshape(-1) for item in items]),
        [item["plan"]["grid"] for item in items],
        [item["content_hash"] for item in items],
        result["offsets"],
        positions.reshape(-1),
        delta,
    )


def _fit_area(height: int, width: int, factor: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    if factor == 0 or max_pixels == 0:
        return 0, 0
    h = max(round(height / factor) * factor, factor)
    w = max(round(width / factor) * factor, factor)
    area = float(height) * float(width)
    if h * w > max_pixels:
        beta = math.sqrt(area / max_pixels)
        return math.floor(height / beta / factor) * factor, math.floor(width / beta / factor) * factor
    if h * w < min_pixels:
        beta = math.sqrt(min_pixels / area)
        return math.ceil(height * beta / factor) * factor, math.ceil(width * beta / factor) * factor
    return h, w


def _family(spec_json: str, forced: dict[str, str], prefix: str) -> _mmcpp.Family:
    """Build the family with the crate's meaning of a spec."""
    if not isinstance(spec_json, str):
        raise TypeError(f"'{type(spec_json).__name__}' object is not an instance of 'str'")
    try:
        spec = json.loads(spec_json, object_pairs_hook=_without_duplicates)
        if isinstance(spec, dict):
            spec = {"pillow_generation": 12, **spec, "smart_resize": "reference", **forced}
        return _mmcpp.Family(json.dumps(spec), True)
    except RecursionError:
        raise ValueError(f"{prefix}recursion limit exceeded") from None
    except ValueError as error:
        what = str(error).removeprefix("spec: ").removeprefix("qwen_vl spec: ")
        # The crate heads this one message with the family's name from both doors.
        head = "qwen_vl spec: " if what.startswith("sizes must be positive") else prefix
        raise with_message(error, head + what) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys: set[str] = set()
    for key, _ in pairs:
        if key in keys:
            raise ValueError(f"duplicate field `{key}`")
        keys.add(key)
    return dict(pairs)
