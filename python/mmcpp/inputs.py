"""What callers may pass as a picture, brought into the two forms that the core takes.

The core takes encoded bytes and ``uint8`` arrays ``[height, width, 3]``. Files are read and PIL
images converted here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from mmcpp.errors import UnsupportedError

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

__all__ = ["BytesLike", "ImageInput", "to_media", "to_media_list"]

BytesLike: TypeAlias = Union[bytes, bytearray, memoryview, "npt.NDArray[Any]"]
"""An object of the buffer protocol."""
ImageInput: TypeAlias = Union[BytesLike, "os.PathLike[str]", "PilImage"]
"""Encoded bytes, the path of a file, a PIL image, or a uint8 array [height, width, 3]."""


def text(name: str, value: object) -> str:
    """Check an argument of this name that must be text; what the text may say, the core knows.

    Raises:
        TypeError: not a ``str``.
        ValueError: lone surrogates, which no text has.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, got {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name}: no Unicode text: {error.reason} at character {error.start}") from None
    return value


def to_media(image: object) -> BytesLike:
    """Give encoded bytes or a ``uint8`` array for one image argument.

    Raises:
        OSError: the file cannot be read.
        UnsupportedError: a PIL image whose mode Pillow does not convert to RGB.
        TypeError: not an image argument; a ``str`` in particular, which could be a path, a URL or
            base64 text.
    """
    if isinstance(image, (bytes, bytearray, memoryview, np.ndarray)):
        return image
    if isinstance(image, str):
        raise TypeError("a picture's path is given as pathlib.Path(...); a str is not taken, got " + _short(image))
    if isinstance(image, os.PathLike):
        return Path(image).read_bytes()
    if _is_pil_image(image):
        try:
            return _pil_to_rgb(image)
        except ValueError as error:  # Pillow has no such conversion, as of La
            raise UnsupportedError(f"pil: {error}") from None
    if isinstance(image, Sequence):
        raise TypeError(f"expected one picture, got a {type(image).__name__}; nested lists are not taken")
    return image  # type: ignore[return-value]  # the core takes any buffer and names what is none


def to_media_list(images: object) -> list[BytesLike]:
    """Give the list for one image argument or for a list or tuple of them.

    Raises:
        OSError: a file cannot be read.
        UnsupportedError, TypeError: as ``to_media``; the message says which item.
    """
    if not isinstance(images, (list, tuple)):
        images = [images]
    media = []
    for index, image in enumerate(images):
        try:
            media.append(to_media(image))
        except TypeError as error:
            raise TypeError(f"image {index}: {error}") from None
        except UnsupportedError as error:
            named = UnsupportedError(f"image {index}: {error}")
            named.item = index
            raise named from None
    return media


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _is_pil_image(value: object) -> bool:
    # By the class's name, so that Pillow is not imported on behalf of those who do not use it.
    return any(c.__module__ == "PIL.Image" and c.__name__ == "Image" for c in type(value).__mro__)


def _pil_to_rgb(image: Any) -> npt.NDArray[np.uint8]:
    """As transformers 5.24 ``convert_to_rgb``: transparency is composited on white."""
    if "A" in image.getbands() or image.info.get("transparency") is not None:
        from PIL import Image

        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, image)
    return np.asarray(image.convert("RGB"))
