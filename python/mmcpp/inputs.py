"""What callers may pass as a picture, brought into the two forms that the core takes.

The core takes encoded bytes and ``uint8`` arrays ``[height, width, 3]``, with families that keep alpha also
``[height, width, 4]``. Files are read, PIL images converted and source strings fetched here. A path object is the
caller's own word and is read; a string may be a stranger's, so without a policy it may only carry its bytes with it
(``data:``), and with one the policy decides about URLs, files and base64.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from mmcpp.cancelling import Stop
from mmcpp.errors import CancelledError, DeadlineError, MmError, UnsupportedError
from mmcpp.family import outcome
from mmcpp.fetching import FetchPolicy, fetch_all

if TYPE_CHECKING:
    from PIL.Image import Image as PilImage

__all__ = ["BytesLike", "ImageInput", "Prompt", "to_media", "to_media_each", "to_media_list", "token_ids"]

BytesLike: TypeAlias = Union[bytes, bytearray, memoryview, "npt.NDArray[Any]"]
"""An object of the buffer protocol."""
ImageInput: TypeAlias = Union[BytesLike, str, "os.PathLike[str]", "PilImage"]
"""Encoded bytes, the path of a file, a PIL image, a uint8 array [height, width, 3], or a source string.

A family that keeps alpha takes uint8 arrays [height, width, 4] too."""

_IN_MEMORY = FetchPolicy(schemes=("data",))
_NO_POLICY = "a picture's path is given as pathlib.Path(...), and a str that is no data: URL needs a FetchPolicy"


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


def to_media(image: object, *, keeps_alpha: bool = False) -> BytesLike:
    """Give encoded bytes or a ``uint8`` array for one image argument.

    Args:
        image: the argument.
        keeps_alpha: whether a PIL image with transparency becomes an array of four channels.

    Raises:
        OSError: the file cannot be read.
        UnsupportedError: a PIL image whose mode Pillow does not convert to RGB.
        TypeError: not an image argument; a ``str`` in particular, which could be a path, a URL or
            base64 text.
    """
    if isinstance(image, (bytes, bytearray, memoryview, np.ndarray)):
        return image
    if isinstance(image, str):
        raise TypeError(f"{_NO_POLICY}, got {_short(image)}")
    if isinstance(image, os.PathLike):
        return Path(image).read_bytes()
    if _is_pil_image(image):
        try:
            return _pil_to_rgba(image) if keeps_alpha else _pil_to_rgb(image)
        except ValueError as error:  # Pillow has no such conversion, as of La
            raise UnsupportedError(f"pil: {error}") from None
    if isinstance(image, Sequence):
        raise TypeError(f"expected one picture, got a {type(image).__name__}; nested lists are not taken")
    return image  # type: ignore[return-value]  # the core takes any buffer and names what is none


def to_media_list(
    images: object,
    policy: FetchPolicy | None = None,
    stop: Stop | None = None,
    max_total_bytes: int = 2**63 - 1,
    *,
    keeps_alpha: bool = False,
) -> list[BytesLike]:
    """Give the list for one image argument or for a list or tuple of them; strings are fetched together.

    Args:
        images: the argument.
        policy: for strings; None takes data: URLs alone.
        stop: bounds the fetch.
        max_total_bytes: of what is fetched.
        keeps_alpha: as for ``to_media``.

    Raises:
        OSError: a file cannot be read.
        UnsupportedError, TypeError: as ``to_media``; the message says which item.
        FetchError, LimitError: a string cannot be had.
        DeadlineError, CancelledError: as ``stop`` says.
    """
    media: list[BytesLike] = []
    sources: dict[int, str] = {}
    for index, image in enumerate(_listed(images)):
        if isinstance(image, str):
            sources[index] = _checked_source(index, image, policy)
            media.append(b"")
        else:
            media.append(_to_media_at(index, image, keeps_alpha))
    if sources:
        fetched = _fetch_together(list(sources), list(sources.values()), policy, stop, max_total_bytes)
        for index, data in zip(sources, fetched, strict=True):
            media[index] = data
    return media


def to_media_each(
    images: object, policy: FetchPolicy | None = None, stop: Stop | None = None, *, keeps_alpha: bool = False
) -> list[BytesLike | Exception]:
    """Give, of each image argument, what ``to_media_list`` gives, or the exception if it cannot be had.

    Args:
        images: as for ``to_media_list``.
        policy: as for ``to_media_list``.
        stop: as for ``to_media_list``.
        keeps_alpha: as for ``to_media``.

    Raises:
        TypeError: something that is no picture.
    """
    listed = _listed(images)
    sources = {i: _checked_source(i, image, policy) for i, image in enumerate(listed) if isinstance(image, str)}

    def one(index: int) -> BytesLike | Exception:
        try:
            if index in sources:
                return _fetch_together([index], [sources[index]], policy, stop, 2**63 - 1)[0]
            return _to_media_at(index, listed[index], keeps_alpha)
        except (MmError, OSError) as error:
            return error

    if len(sources) < 2:
        return [one(index) for index in range(len(listed))]
    with ThreadPoolExecutor(min(16, len(sources))) as pool:
        fetched = dict(zip(sources, pool.map(one, sources), strict=True))
    return [fetched[index] if index in fetched else one(index) for index in range(len(listed))]


def _listed(images: object) -> Sequence[object]:
    return images if isinstance(images, (list, tuple)) else [images]


def _to_media_at(index: int, image: object, keeps_alpha: bool) -> BytesLike:
    try:
        return to_media(image, keeps_alpha=keeps_alpha)
    except TypeError as error:
        raise TypeError(f"image {index}: {error}") from None
    except UnsupportedError as error:
        named = UnsupportedError(f"image {index}: {error}")
        named.item = index
        raise named from None


def _checked_source(index: int, source: str, policy: FetchPolicy | None) -> str:
    if policy is not None and not isinstance(policy, FetchPolicy):
        raise TypeError(f"policy: expected a FetchPolicy or None, got {type(policy).__name__}")
    if policy is None and source.lstrip()[:5].lower() != "data:":
        raise TypeError(f"image {index}: {_NO_POLICY}, got {_short(source)}")
    return text(f"image {index}", source)


def _fetch_together(
    indices: list[int], sources: list[str], policy: FetchPolicy | None, stop: Stop | None, max_total_bytes: int
) -> list[bytes]:
    """The errors name the items that the sources are."""
    policy = policy or _IN_MEMORY
    left = None if stop is None else stop.left()
    if stop is not None and stop.cancelled:
        raise CancelledError("fetch: the request was cancelled")
    if left is not None and left <= 0:
        raise DeadlineError("fetch: the deadline has passed")
    bounded = policy if left is None else dataclasses.replace(policy, timeout=min(left, _seconds(policy)))
    try:
        return fetch_all(sources, policy=bounded, max_total_bytes=max_total_bytes)
    except MmError as error:
        if stop is not None and stop.left() == 0:
            raise DeadlineError("fetch: the deadline has passed") from error
        if error.item is None:
            raise
        index = indices[error.item]
        named = type(error)(f"image {index}: {str(error).removeprefix(f'source {error.item}: ')}")
        named.code, named.item = error.code, index
        raise named from None


def _seconds(policy: FetchPolicy) -> float:
    """The policy's timeout, as FetchPolicy says what None is."""
    if policy.timeout is not None:
        return policy.timeout
    try:
        return float(int(os.environ.get("REQUEST_TIMEOUT", "3")))
    except ValueError:
        return 3.0


class Prompt:
    """Ids, or a text and a callable that the core takes; what the callable raised is kept."""

    def __init__(self, input_ids: object, prompt: str | None, tokenizer: Callable[[str], Sequence[int]] | None) -> None:
        """Check them.

        Args:
            input_ids: integers in one dimension, or None.
            prompt: a text, or None.
            tokenizer: from the text to ids; with a text, and only then.

        Raises:
            TypeError: neither or both, or something of another type.
            ValueError: ids or a text that cannot be meant.
        """
        if (prompt is None) != (tokenizer is None):
            raise TypeError("text and tokenizer: expected both, or none")
        if (prompt is None) == (input_ids is None):
            raise TypeError("expected either input_ids, or text and tokenizer")
        if tokenizer is not None and not callable(tokenizer):
            raise TypeError(f"tokenizer: expected a callable, got {type(tokenizer).__name__}")
        self.ids = token_ids([] if input_ids is None else input_ids)
        self.text = "" if prompt is None else text("text", prompt)
        self.failure: BaseException | None = None
        self.tokenize = None if tokenizer is None else partial(self._tokenize, tokenizer)

    def _tokenize(self, tokenizer: Callable[[str], Sequence[int]], prompt: str) -> tuple[Any, Any]:
        failure, value = outcome(lambda: token_ids(tokenizer(prompt)))
        if failure is not None:
            self.failure, value = value, None
        return failure, value


def token_ids(input_ids: object) -> npt.NDArray[np.int64]:
    """Give ``input_ids``, integers in one dimension, as the core takes them: ``int64 [n]``.

    Raises:
        TypeError: no integers in one dimension.
        ValueError: an id that no int64 holds.
    """
    try:
        array = np.asarray(input_ids)
    except ValueError as error:  # of lists of unequal lengths
        raise TypeError(f"input_ids: expected integers in one dimension: {error}") from None
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"input_ids: expected int64 integers in one dimension, got {array.dtype} of shape {array.shape}"
        )
    if array.dtype.kind == "u" and array.size > 0 and int(array.max()) > 2**63 - 1:
        raise ValueError(f"input_ids: {array.max()} does not fit in int64")
    return np.ascontiguousarray(array, dtype=np.int64)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _is_pil_image(value: object) -> bool:
    # By the class's name, so that Pillow is not imported on behalf of those who do not use it.
    return any(c.__module__ == "PIL.Image" and c.__name__ == "Image" for c in type(value).__mro__)


def _pil_to_rgba(image: Any) -> npt.NDArray[np.uint8]:
    """As sglang 0.5.23 ``to_hwc_uint8``: three channels of what has no alpha, and of all that is RGB."""
    image.load()  # a transparent colour may stand behind the pixels
    has_alpha = image.mode != "RGB" and ("A" in image.getbands() or "transparency" in image.info)
    return np.asarray(image.convert("RGBA" if has_alpha else "RGB"))


def _pil_to_rgb(image: Any) -> npt.NDArray[np.uint8]:
    """As transformers 5.24 ``convert_to_rgb``: transparency is composited on white."""
    if "A" in image.getbands() or image.info.get("transparency") is not None:
        from PIL import Image

        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, image)
    return np.asarray(image.convert("RGB"))
