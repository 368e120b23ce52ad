"""The functions of the reference crate sglang-mm 0.5.23, module ``inkling``.

Same names, arguments, flat arrays, results and error texts, so that code written for the crate runs
after changing one import. Patches are bits of bfloat16, which numpy has no type for, as ``uint16``;
``torch.from_numpy(bits).view(torch.bfloat16)`` gives them their type. A picture of ``h x w`` has
``ceil(h / patch_size) * (w // patch_size + 1)`` patches, row by row, each
``[patch_size, patch_size, 3]``; what the picture does not reach is padding.

Rules: the picture is scaled as ``common.scaled_dims`` says (Lanczos of Pillow), normalised with
CLIP's mean and deviation, as Thinking Machines' Inkling wants it.

Differences, all on purpose: those of ``mmcpp.common``; of several bad pictures the first in order is
reported; sizes that no memory holds are a ``LimitError`` (more than 2**28 pixels of patches, or
patches of more than 4096 a side), where the crate ends the process; the hash is computed without the
GIL; results of a batch share their memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.common import (
    LIMITS_OF_THE_CRATE,
    as_the_crate_says,
    content_hash,
    int64,
    require_array,
    require_pillow_generation,
    require_rgb,
    require_sequence,
    scaled_dims,
    to_bytes,
    to_float,
    unsigned,
)
from mmcpp.errors import LimitError

__all__ = ["decode_patchify", "decode_patchify_batch", "patchify_rgb", "preprocess_images", "rescale_patchify_hash"]

Bits = npt.NDArray[np.uint16]

_MAX_PATCH_SIZE = 4096
_PADDING = np.array([0xBFE7, 0xBFE2, 0xBFBF], np.uint16)  # (f32(-1/255) - mean) / std


def patchify_rgb(arr: npt.NDArray[np.uint8], patch_size: int) -> Bits:
    """Normalise a picture and cut it into patches.

    Args:
        arr: ``uint8 [h, w, 3]``; no rows give no patches, no columns give padding alone.
        patch_size: pixels.

    Returns:
        ``uint16 [patches * patch_size * patch_size * 3]``, bits of bfloat16.

    Raises:
        TypeError: not a ``uint8`` array with three dimensions, or no integer.
        ValueError: no size, another number of channels, not in C order.
        LimitError: more than 2**28 pixels of patches, padding included.
        OverflowError: a negative size.

    >>> patchify_rgb(np.zeros((3, 5, 3), np.uint8), 4).shape
    (96,)
    """
    require_array(arr)
    side = _patch_size(patch_size)
    require_rgb(arr)
    return _patchify(arr, side, None, None, 12)[2]


def decode_patchify(
    data: Sequence[int],
    patch_size: int,
    rescale_frac: float | None = None,
    rescale_cap: int | None = None,
    *,
    pillow_generation: Literal[12, 13] = 12,
) -> tuple[int, int, Bits]:
    """Decode a picture, scale it and cut it into patches.

    Args:
        data: encoded bytes.
        patch_size: pixels.
        rescale_frac: as for ``common.scaled_dims``.
        rescale_cap: as for ``common.scaled_dims``.
        pillow_generation: 12, as in the crate, resamples rows first; 13 is Pillow 13 and later.

    Returns:
        ``(h, w, bits)``: the size after scaling, and the patches as ``patchify_rgb`` gives them.

    Raises:
        ValueError: no patch size, or a picture that cannot be used; the message begins with
            ``image decode: `` then.
        LimitError: more than 2**28 pixels of patches, padding included.
        TypeError: not bytes, nor a sequence of integers; no numbers.
        OverflowError: a negative size, or a cap that does not fit in int64.
    """
    encoded = to_bytes(data)
    return _run([encoded], patch_size, rescale_frac, rescale_cap, pillow_generation)[0][:3]


def decode_patchify_batch(
    datas: Sequence[Sequence[int]],
    patch_size: int,
    rescale_frac: float | None = None,
    rescale_cap: int | None = None,
    *,
    pillow_generation: Literal[12, 13] = 12,
) -> list[tuple[int, int, Bits]]:
    """Run ``decode_patchify`` on several pictures in parallel; results in their order, all or none.

    The arrays are parts of one, which lives as long as any of them. Errors are those of ``decode_patchify``.

    Args:
        datas: encoded bytes of each.
        patch_size: as for ``decode_patchify``.
        rescale_frac: as for ``decode_patchify``.
        rescale_cap: as for ``decode_patchify``.
        pillow_generation: as for ``decode_patchify``.
    """
    encoded = _batch(datas)
    return [item[:3] for item in _run(encoded, patch_size, rescale_frac, rescale_cap, pillow_generation)]


def preprocess_images(
    datas: Sequence[Sequence[int]],
    patch_size: int,
    rescale_frac: float | None = None,
    rescale_cap: int | None = None,
    *,
    pillow_generation: Literal[12, 13] = 12,
) -> list[tuple[int, int, Bits, int]]:
    """Run ``decode_patchify_batch``, and hash the encoded bytes as ``common.content_hash`` does.

    Args:
        datas: encoded bytes of each.
        patch_size: as for ``decode_patchify``.
        rescale_frac: as for ``decode_patchify``.
        rescale_cap: as for ``decode_patchify``.
        pillow_generation: as for ``decode_patchify``.

    Returns:
        ``(h, w, bits, hash)`` of each picture.
    """
    return _run(_batch(datas), patch_size, rescale_frac, rescale_cap, pillow_generation)


def rescale_patchify_hash(
    arr: npt.NDArray[np.uint8],
    raw_bytes: bytes,
    patch_size: int,
    rescale_frac: float | None = None,
    rescale_cap: int | None = None,
    *,
    pillow_generation: Literal[12, 13] = 12,
) -> tuple[int, int, Bits, int]:
    """Scale a picture that is decoded already and cut it into patches; hash what it was decoded from.

    Args:
        arr: ``uint8 [h, w, 3]``.
        raw_bytes: the encoded picture, for its hash alone.
        patch_size: pixels.
        rescale_frac: as for ``common.scaled_dims``.
        rescale_cap: as for ``common.scaled_dims``.
        pillow_generation: 12, as in the crate, resamples rows first; 13 is Pillow 13 and later.

    Returns:
        ``(h, w, bits, hash)``: the size after scaling, the patches, ``common.content_hash`` of the
        bytes.

    Raises:
        TypeError: not a ``uint8`` array with three dimensions, not ``bytes``, no numbers.
        ValueError: no size, another number of channels, not in C order.
        LimitError: more than 2**28 pixels of patches, padding included.
        OverflowError: a negative size, or a cap that does not fit in int64.
    """
    require_array(arr)
    if not isinstance(raw_bytes, bytes):
        raise TypeError(f"'{type(raw_bytes).__name__}' object is not an instance of 'bytes'")
    side = unsigned(patch_size)
    fraction, cap = _rescale(rescale_frac, rescale_cap)
    require_pillow_generation(pillow_generation)
    side = _patch_size(side)
    require_rgb(arr)
    h, w, bits = _patchify(arr, side, fraction, cap, pillow_generation)
    return h, w, bits, content_hash(raw_bytes)


def _patch_size(patch_size: int) -> int:
    side = unsigned(patch_size)
    if side == 0:
        raise ValueError("patch_size must be greater than zero")
    if side > _MAX_PATCH_SIZE:
        raise LimitError(f"patch_size {side} is over {_MAX_PATCH_SIZE}")
    return side


def _rescale(rescale_frac: float | None, rescale_cap: int | None) -> tuple[float | None, int | None]:
    fraction = None if rescale_frac is None else to_float(rescale_frac)
    return fraction, None if rescale_cap is None else int64(rescale_cap)


def _batch(datas: Sequence[Sequence[int]]) -> list[bytes | bytearray | memoryview]:
    require_sequence(datas)
    return [to_bytes(data) for data in datas]


@lru_cache(maxsize=64)
def _family(side: int, fraction: float | None, cap: int | None, pillow_generation: int) -> _mmcpp.Family:
    """Build the family; JSON has neither NaN nor infinity, so that numbers with the same effect take their place."""
    spec = {"family": "inkling", "image_token_id": 0, "patch_size": side, "temporal_patch_size": 1}
    rescale: dict[str, float | int] = {}
    if fraction is not None:
        if math.isnan(fraction):
            fraction = 0.0 if cap is None else math.inf
        rescale["rescale_image_frac"] = min(max(fraction, -1e300), 1e300)
        if cap is not None:
            # int64's lowest stands for "none" there, and both allow no growth.
            rescale["rescale_image_max_upscaled_long_edge"] = max(cap, 0)
    return _mmcpp.Family(json.dumps({**spec, **rescale, "pillow_generation": pillow_generation}), True)


def _patchify(
    arr: npt.NDArray[np.uint8], side: int, fraction: float | None, cap: int | None, pillow_generation: int
) -> tuple[int, int, Bits]:
    h, w = arr.shape[:2]
    if arr.size == 0:
        w, h = scaled_dims(w, h, fraction, cap)
        if h == 0 or w == 0:
            return h, w, np.tile(_PADDING, math.ceil(h / side) * (w // side + 1) * side * side)
        arr, fraction = np.zeros((h, w, 3), np.uint8), None  # as the crate resizes a picture without pixels
    family = _family(side, fraction, cap, pillow_generation)
    plan = family.plan(*arr.shape[:2])
    return plan["resized_height"], plan["resized_width"], family.feature(arr, "bfloat16").reshape(-1)


def _run(
    encoded: list[bytes | bytearray | memoryview],
    patch_size: int,
    rescale_frac: float | None,
    rescale_cap: int | None,
    pillow_generation: int,
) -> list[tuple[int, int, Bits, int]]:
    side = unsigned(patch_size)
    fraction, cap = _rescale(rescale_frac, rescale_cap)
    require_pillow_generation(pillow_generation)
    family = _family(_patch_size(side), fraction, cap, pillow_generation)
    if not encoded:
        return []
    try:
        features, items = _mmcpp.process_items(family, encoded, "bfloat16", "sglang", None, LIMITS_OF_THE_CRATE)
    except ValueError as error:
        raise as_the_crate_says(error) from None
    results, first = [], 0
    for item in items:
        plan = item["plan"]
        last = first + plan["feature_shape"][0]
        bits = features[first:last].reshape(-1)
        results.append((plan["resized_height"], plan["resized_width"], bits, item["content_hash"]))
        first = last
    return results
