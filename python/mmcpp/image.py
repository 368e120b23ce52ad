"""Pictures: decoding, reading a header, resizing."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.inputs import BytesLike, text
from mmcpp.limits import DecodeLimits, values

__all__ = ["Convention", "Filter", "ImageInfo", "Profile", "decode_image", "image_info", "resize"]

Profile = Literal["pillow", "hf", "vllm", "sglang"]
Filter = Literal["box", "bilinear", "hamming", "bicubic", "lanczos"]
Convention = Literal["pillow", "pillow12", "aten_u8"]


@dataclass(frozen=True)
class ImageInfo:
    """What a picture file's header says."""

    format: str
    """``"jpeg"``, ``"png"``, ``"webp"``, ``"gif"`` or ``"bmp"``."""
    height: int
    """In pixels, as stored: before any EXIF orientation."""
    width: int
    """In pixels, as stored."""
    mode: str
    """Pillow 13's mode of the opened file, such as ``"RGB"``, ``"P"`` or ``"CMYK"``."""
    bit_depth: int
    """Bits per channel as stored."""
    has_alpha: bool
    """An alpha channel or a transparent colour."""
    orientation: int
    """EXIF orientation 1 to 8; 1 when absent or invalid."""
    frames: int
    """Animation frames, as far as the header tells."""


def decode_image(
    data: BytesLike | os.PathLike[str],
    *,
    profile: Profile = "pillow",
    limits: DecodeLimits | None = None,
    out: npt.NDArray[np.uint8] | None = None,
) -> npt.NDArray[np.uint8]:
    """Decode a JPEG, PNG, WebP, GIF (first frame) or BMP, told apart by content, to RGB.

    Profiles, by what a stack of that name does today:

    =========  ===================================  ==========  ================
    profile    alpha                                16 bit      EXIF orientation
    =========  ===================================  ==========  ================
    `pillow`   dropped, as ``convert("RGB")``       as Pillow   ignored
    `hf`       composited on white                  as Pillow   ignored
    `vllm`     pasted on white                      as Pillow   applied
    `sglang`   dropped                              refused     ignored
    =========  ===================================  ==========  ================

    Args:
        data: the encoded bytes, or the path of a file.
        profile: whose rules decide on alpha, depth and orientation. With ``"pillow"`` the pixels
            equal Pillow 13's ``Image.open(f).convert("RGB")`` byte for byte.
        limits: what the picture may cost; ``DecodeLimits()`` by default.
        out: where to write the pixels: a ``uint8`` array ``[height, width, 3]``, C-contiguous, of
            the picture's size (``image_info`` gives it; turned, where the profile turns). After an
            error its contents are unspecified.

    Returns:
        A ``uint8`` array ``[height, width, 3]``: ``out``, or a new one, aligned to 64 bytes.

    Raises:
        DecodeError: damaged, cut short, or no picture.
        UnsupportedError: another format, which the message names.
        LimitError: over a limit.
        ValueError: no bytes, an unknown profile, or an ``out`` that is read-only, not in C order or
            of another size.
        TypeError: ``data`` is neither bytes nor a path, ``profile`` no str, ``limits`` no DecodeLimits,
            or ``out`` no ``uint8`` array.
        OSError: the file cannot be read.

    >>> import mmcpp
    >>> mmcpp.decode_image(b"GIF89a" + bytes(4))
    Traceback (most recent call last):
    ...
    mmcpp.DecodeError: ...
    """
    return _mmcpp.decode_image(_encoded(data), text("profile", profile), values(limits, DecodeLimits), out)


def image_info(data: BytesLike | os.PathLike[str]) -> ImageInfo:
    """Read a picture's header; no pixel is decoded and no limit applies.

    Args:
        data: the encoded bytes, or the path of a file.

    Returns:
        What the header says, sizes in pixels as stored.

    Raises:
        DecodeError: the header is damaged or cut short.
        UnsupportedError: another format, which the message names.
        ValueError: no bytes.
        TypeError: ``data`` is neither bytes nor a path.
        OSError: the file cannot be read.
    """
    return ImageInfo(**_mmcpp.image_info(_encoded(data)))


def resize(
    image: npt.NDArray[np.uint8],
    height: int,
    width: int,
    *,
    filter: Filter = "bicubic",
    convention: Convention = "pillow",
    out: npt.NDArray[np.uint8] | None = None,
) -> npt.NDArray[np.uint8]:
    """Resample a picture, bit for bit as a named reference does it.

    Args:
        image: ``uint8`` array ``[h, w, 3]``, C-contiguous.
        height: of the result, in pixels.
        width: of the result, in pixels.
        filter: the reference's filter of that name. ``"aten_u8"`` has no ``"box"`` and no ``"hamming"``.
        convention: ``"pillow"``: Pillow 13.0.0 ``Image.resize``; ``"pillow12"``: Pillow up to
            12.2.0, which always resamples rows first; ``"aten_u8"``: torch 2.13.0
            ``interpolate(uint8, antialias=True)`` on a CPU.
        out: where to write the result: a ``uint8`` array ``[height, width, 3]``, C-contiguous, that
            does not overlap ``image``.

    Returns:
        A ``uint8`` array ``[height, width, 3]``: ``out``, or a new one, aligned to 64 bytes; a copy
        where the size stays.

    Raises:
        TypeError: not a ``uint8`` array, or a size that is no integer.
        ValueError: another shape, an empty picture or result, memory that is not in C order, an
            unknown filter or convention, a filter that the convention does not have, or an ``out``
            that is read-only or overlaps.
        LimitError: a result too large.

    >>> import numpy as np
    >>> resize(np.zeros((4, 6, 3), np.uint8), 2, 3).shape
    (2, 3, 3)
    """
    filter_name, convention_name = text("filter", filter), text("convention", convention)
    return _mmcpp.resize(image, side("height", height), side("width", width), filter_name, convention_name, out)


def side(name: str, value: int) -> int:
    """Check a side in pixels that an argument of this name gave."""
    try:
        side = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an int, got {type(value).__name__}") from None
    if not 1 <= side <= 2**31 - 1:
        raise ValueError(f"{name}: expected 1 to 2147483647 pixels, got {side}")
    return side


def _encoded(data: object) -> BytesLike:
    if isinstance(data, os.PathLike):
        return Path(data).read_bytes()
    if isinstance(data, str):
        raise TypeError("expected encoded bytes or a pathlib.Path, got a str")
    if isinstance(data, np.ndarray) and data.ndim != 1:
        raise TypeError(f"expected encoded bytes, got an array of shape {data.shape}")
    return data  # type: ignore[return-value]  # the core takes any buffer and names what is none
