"""The functions of the reference crate sglang-mm 0.5.23, module ``common``.

Same names, arguments, flat arrays, results and error texts, so that code written for the crate runs
after changing one import. Errors are the classes of ``mmcpp`` and thus ValueErrors, as there.

Differences, all on purpose: JPEG pixels equal Pillow's, where the crate's are off by up to 6 levels;
a file that is cut short is refused; a Fortran-ordered array is refused, where the crate scrambles
it; ``pillow_generation=13`` selects today's Pillow for ``"pil_*"``; proxies are chosen as the
package requests does, and a source of exactly 64 MiB is taken.
"""

from __future__ import annotations

import functools
import math
import operator
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.errors import FetchError, LimitError, MmError
from mmcpp.fetching import FetchPolicy

__all__ = ["base64_decode", "content_hash", "fetch_bytes", "image_decode_rgb", "resize_rgb", "scaled_dims"]

_RESAMPLE = {"pil_lanczos": "lanczos", "pil_bicubic": "bicubic", "aten_u8": "bicubic"}


def resize_rgb(
    arr: npt.NDArray[np.uint8],
    out_w: int,
    out_h: int,
    resample: str = "pil_lanczos",
    *,
    pillow_generation: Literal[12, 13] = 12,
) -> npt.NDArray[np.uint8]:
    """Resample; note that width comes before height here.

    Args:
        arr: ``uint8 [h, w, 3]``; a picture without pixels gives zeros.
        out_w: of the result, in pixels.
        out_h: of the result, in pixels.
        resample: ``"pil_lanczos"``, ``"pil_bicubic"`` or ``"aten_u8"`` (bicubic).
        pillow_generation: 12, as in the crate, resamples rows first; 13 is Pillow 13 and later.

    Returns:
        ``uint8 [out_h * out_w * 3]``.

    Raises:
        TypeError: not a ``uint8`` array with three dimensions.
        ValueError: no size, an unknown resample, another number of channels, not in C order.
        OverflowError: a negative size.
    """
    require_array(arr)
    out_w, out_h = unsigned(out_w), unsigned(out_h)
    if not isinstance(resample, str):
        raise TypeError(f"'{type(resample).__name__}' object is not an instance of 'str'")
    if out_w == 0 or out_h == 0:
        raise ValueError("output size must be positive")
    require_pillow_generation(pillow_generation)
    if resample not in _RESAMPLE:
        raise ValueError(f'unknown resample "{resample}"; expected "pil_lanczos", "pil_bicubic" or "aten_u8"')
    require_rgb(arr)
    if arr.size == 0:
        return np.zeros(out_h * out_w * 3, np.uint8)
    convention = "aten_u8" if resample == "aten_u8" else {12: "pillow12", 13: "pillow"}[pillow_generation]
    if max(out_w, out_h) > 2**31 - 1:
        raise ValueError(f"output size {out_w}x{out_h} is too large")
    return _mmcpp.resize(arr, out_h, out_w, _RESAMPLE[resample], convention).reshape(-1)


def scaled_dims(w: int, h: int, rescale_frac: float | None = None, rescale_cap: int | None = None) -> tuple[int, int]:
    """Give ``(w, h)`` scaled by a fraction whose longer side a cap may limit; halves round up.

    Args:
        w: width in pixels.
        h: height in pixels.
        rescale_frac: of both sides.
        rescale_cap: pixels of the longer side. It limits growth and never shrinks; without a fraction it is
            ignored.

    Raises:
        TypeError: a size or cap that is no integer, a fraction that is no number.
        OverflowError: a negative size, or a cap that does not fit in int64.

    >>> scaled_dims(7, 5, 1.5), scaled_dims(100, 50, 4.0, 200)
    ((11, 8), (200, 100))
    """
    w, h = unsigned(w), unsigned(h)
    cap = None if rescale_cap is None else int64(rescale_cap)
    if rescale_frac is None:
        return w, h
    fraction = to_float(rescale_frac)
    longest = float(max(w, h))
    if longest == 0:
        return w, h
    target = longest * fraction
    if cap is not None:
        largest = max(float(cap), longest)
        target = largest if math.isnan(target) else min(target, largest)
    ratio = target / longest
    if ratio == 1.0:
        return w, h
    return _scaled(w, ratio), _scaled(h, ratio)


def image_decode_rgb(data: Sequence[int]) -> tuple[int, int, npt.NDArray[np.uint8]]:
    """Decode a picture: ``(h, w, uint8 [h * w * 3])``. Alpha is dropped, 16 bits are refused.

    Args:
        data: the encoded bytes, or a sequence of integers.

    Raises:
        ValueError: a picture that cannot be used; the message begins with ``image decode: ``.
        TypeError: not bytes, nor a sequence of integers.
    """
    encoded = to_bytes(data)
    with prefixed("image decode: "):
        pixels = _mmcpp.decode_image(encoded, "sglang", None)
    return pixels.shape[0], pixels.shape[1], pixels.reshape(-1)


def content_hash(data: Sequence[int]) -> int:
    """Give the first 8 bytes of the BLAKE3 digest, big-endian.

    Args:
        data: bytes, or a sequence of integers.

    Raises:
        TypeError: not bytes, nor a sequence of integers.
    """
    return _mmcpp.content_hash(to_bytes(data))


def base64_decode(encoded: str) -> bytes:
    """Decode base64: the standard alphabet, canonical padding, no whitespace.

    Args:
        encoded: the text.

    Raises:
        ValueError: anything else; the message begins with ``base64 decode error: ``.
        TypeError: not a ``str``.

    >>> base64_decode("aGVsbG8=")
    b'hello'
    """
    if not isinstance(encoded, str):
        raise TypeError(f"'{type(encoded).__name__}' object is not an instance of 'str'")
    with prefixed("base64 decode error: "):
        return _mmcpp.base64_decode_strict(encoded)


def fetch_bytes(source: str, *, policy: FetchPolicy | None = None) -> bytes:
    """Give the bytes of ``http://``, ``https://``, ``file://``, ``/path``, ``data:`` or base64 text.

    Like the crate, and unlike ``mmcpp.fetch``, this reads any file and asks any host, private ones
    included, unless a policy is given: for sources of strangers give ``FetchPolicy()``. Also like the
    crate: prefixes are matched in lower case only, a file URL is not percent-decoded, the payload of
    a ``data:`` URL is always base64, and base64 is strict.

    Args:
        source: one of these forms; anything else is base64, whose outer whitespace is dropped.
        policy: what may be fetched.

    Raises:
        ValueError: a source that cannot be had; the message begins with ``media fetch: ``.
        TypeError: not a ``str``.

    >>> fetch_bytes("data:image/png;base64,aGVsbG8=")
    b'hello'
    """
    if not isinstance(source, str):
        raise TypeError(f"'{type(source).__name__}' object is not an instance of 'str'")
    if source.startswith(("http://", "https://")):
        return _fetch_http(source, policy or _reach_of_the_crate())
    if source.startswith(("file://", "/")):
        return _fetch_file(source.removeprefix("file://"), policy)
    scheme, payload = "base64", source
    if source.startswith("data:"):
        scheme, (_, comma, payload) = "data", source.partition(",")
        if not comma:
            raise _fetch_error("malformed data: URL", "bad_source")
    if policy and scheme not in policy.schemes:
        raise _fetch_error(f"{scheme} sources are not allowed", "forbidden")
    return _fetch_base64(payload.strip(_WHITESPACE), policy.max_bytes if policy else _MAX_SOURCE_BYTES)


def unsigned(value: Any, bits: int = 64) -> int:
    """Convert an argument as the crate's binding layer does."""
    number = operator.index(value)
    if number < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if number >= 2**bits:
        raise OverflowError(
            "int too big to convert" if bits == 64 else "out of range integral type conversion attempted"
        )
    return number


def int64(value: Any) -> int:
    """Convert an argument as the crate's binding layer does."""
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError("Python int too large to convert to C long")
    return number


def to_float(value: Any) -> float:
    """Convert an argument as the crate's binding layer does."""
    return math.ldexp(value, 0)  # a float, or the TypeError of an argument that is none


def require_array(arr: Any) -> None:
    """Refuse all but ``uint8`` arrays with three dimensions, in the words of the crate's binding layer."""
    if not (isinstance(arr, np.ndarray) and arr.dtype == np.uint8 and arr.ndim == 3):
        raise TypeError(f"'{type(arr).__name__}' object is not an instance of 'ndarray'")


def require_rgb(arr: npt.NDArray[np.uint8]) -> None:
    """Refuse another number of channels than 3, and arrays that are not in C order."""
    if arr.shape[2] != 3:
        raise ValueError(f"expected HWC RGB array with 3 channels, got {arr.shape[2]}")
    if not arr.flags.c_contiguous:
        raise ValueError("array must be C-contiguous")


def require_pillow_generation(generation: object) -> None:
    """Refuse all but the two."""
    if generation not in (12, 13):
        raise ValueError(f"pillow_generation: expected 12 or 13, got {generation!r}")


def require_sequence(values: Any) -> None:
    """Refuse what the crate's binding layer takes for no sequence of items."""
    if isinstance(values, str):
        raise TypeError("Can't extract `str` to `Vec`")
    if not isinstance(values, (Sequence, np.ndarray)):
        name = "'None'" if values is None else f"'{type(values).__name__}' object"
        raise TypeError(f"{name} is not an instance of 'Sequence'")


def to_bytes(data: Any) -> bytes | bytearray | memoryview:
    """Convert a bytes-like argument as the crate's binding layer does: any sequence of integers."""
    if isinstance(data, (bytes, bytearray)):
        return data
    require_sequence(data)
    if isinstance(data, np.ndarray) and data.dtype == np.uint8:
        return data.tobytes()
    values = [operator.index(value) for value in data]
    if any(value > 255 for value in values):
        raise OverflowError("number too large to fit in target type")
    if any(value < 0 for value in values):
        raise OverflowError("number too small to fit in target type")
    return bytes(values)


@contextmanager
def prefixed(prefix: str) -> Iterator[None]:
    """Put ``prefix`` before the message of a ValueError; its class, code and item stay."""
    try:
        yield
    except ValueError as error:
        raise with_message(error, f"{prefix}{error}") from None


def as_the_crate_says(error: ValueError) -> ValueError:
    """Leave an item's index out of a message of the driver's, and say if decoding failed."""
    message = re.sub(r"^image \d+: ", "", str(error))
    planning = message.startswith(("rescale: ", "patches: ", "resize: ", "smart_resize: "))
    decoding = not planning and (isinstance(error, MmError) or message.startswith("decode: "))
    return with_message(error, ("image decode: " if decoding else "") + message)


def with_message(error: ValueError, message: str) -> ValueError:
    """Give the same error with another message."""
    changed = type(error)(message) if isinstance(error, MmError) else ValueError(message)
    changed.__dict__.update(error.__dict__)
    return changed


# No count limit, 1280 MiB of encoded bytes; prompts as long as offsets can count.
LIMITS_OF_THE_CRATE = (2**63 - 1, 1_342_177_280, 2**32)
_MAX_SOURCE_BYTES = 64 << 20
# Unicode's White_Space; str.strip() alone takes more.
_WHITESPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


@functools.cache
def _reach_of_the_crate() -> FetchPolicy:
    # The crate's count of redirects includes the first request.
    return FetchPolicy(allowed_networks=["0.0.0.0/0", "::/0"], max_redirects=4)


def _fetch_error(message: str, code: str = "fetch_failed") -> FetchError:
    error = FetchError(f"media fetch: {message}")
    error.code = code
    return error


def _over_budget(what: str) -> LimitError:
    return LimitError(f"media fetch: {what}: exceeds the request media byte budget")


def _fetch_http(url: str, policy: FetchPolicy) -> bytes:
    try:
        return _mmcpp.fetch(url, policy)
    except LimitError:
        raise _over_budget(url) from None
    except MmError as error:
        detail = re.sub(r"^(fetch: )?(https?://\S+: )?", "", str(error))
        if re.match(r"more than \d+ redirects", detail):
            detail = f"Too Many Redirects: reached max redirects ({policy.max_redirects + 1})"
        if detail == "timed out":
            detail = "timed out reading response"
        raise with_message(error, f"media fetch: GET {url}: {url}: {detail}") from None


def _fetch_file(path: str, policy: FetchPolicy | None) -> bytes:
    if "\0" in path:
        raise _fetch_error(f"{path}: file name contained an unexpected NUL byte", "bad_source")
    if policy:
        try:
            return _mmcpp.fetch("file:" + path.replace("%", "%25"), policy)
        except LimitError:
            raise _over_budget(path) from None
        except MmError as error:
            raise with_message(error, f"media fetch: {path}: {error}") from None
    stage = ""
    try:
        # Without O_NONBLOCK a FIFO that nobody writes to would hold the caller for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        stage = "read "
        try:
            return _read_bounded(descriptor, path)
        finally:
            os.close(descriptor)
    except OSError as error:
        text = f"{os.strerror(error.errno or 0)} (os error {error.errno})"
        raise _fetch_error(f"{stage}{path}: {text}") from None


def _read_bounded(descriptor: int, path: str) -> bytes:
    pieces, size = [], 0
    while piece := os.read(descriptor, 1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > _MAX_SOURCE_BYTES:
            raise _over_budget(path)
    return b"".join(pieces)


def _fetch_base64(text: str, most: int) -> bytes:
    # UTF-8 bytes, as the crate counts; of text that can be right at all they are the characters.
    length = len(text) if text.isascii() else len(text.encode())
    padding = 2 if text.endswith("==") else int(text.endswith("="))
    decoded = (length + 3) // 4 * 3 - padding
    if decoded > most:
        budget = f"(decoded size {decoded} bytes, {most} bytes remaining)"
        raise LimitError(f"media fetch: base64 payload: exceeds the request media byte budget {budget}")
    with prefixed("media fetch: base64 decode: "):
        return _mmcpp.base64_decode_strict(text)


def _scaled(value: int, ratio: float) -> int:
    rounded = value * ratio + 0.5
    if math.isnan(rounded):
        return 1
    return max(1, math.floor(min(max(rounded, 0.0), 2.0**63))) if rounded < 2.0**63 else 2**63 - 1
