"""Item hashes as vLLM 0.33 makes them, for sharing caches with it.

Known weaknesses come with it: a text and bytes of the same content are one, so are 0 and 0.0; a
palette's transparency is not seen; a client's UUID is the hash where no processor option is given.
``mmcpp.hashing`` has none of them. Where vLLM falls back to pickle, whose output is not stable, a
TypeError is raised here.
"""

from __future__ import annotations

import hashlib
import pickle  # dumps alone
import struct
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Algorithm", "EncodedMedia", "vllm_hash", "vllm_item_hash", "vllm_stream"]

Algorithm = Literal["blake3", "sha256", "sha512"]
Part: TypeAlias = Union[bytes, memoryview, "npt.NDArray[Any]"]

_EXIF_IMAGE_ID = 0x800D
_SCOPES = {"image": "images_kwargs", "video": "videos_kwargs", "audio": "audio_kwargs"}
_ALL_SCOPES = ("text_kwargs", "images_kwargs", "videos_kwargs", "audio_kwargs")


@dataclass(frozen=True, eq=False)
class EncodedMedia:
    """A picture or a video together with the bytes that it was decoded from."""

    media: Any
    """A PIL image, or the frames of a video: uint8 [n, height, width, 3]."""
    data: bytes
    """The encoded bytes."""
    io_config: Mapping[str, object] | None = None
    """How the loader changed a picture, such as its mode and background; None if it did not."""


def vllm_hash(algorithm: Algorithm = "blake3", /, **values: object) -> str:
    """Give the hex digest of named values, as vLLM 0.33's ``MultiModalHasher.hash_kwargs``.

    Args:
        algorithm: BLAKE3 is vLLM's default.
        values: None, bool, int, float, str, buffers of bytes, arrays, tensors, PIL images, ``EncodedMedia``,
            and lists, tuples and dicts of them. Names are sorted; the keys of dicts are not.

    Raises:
        TypeError: a value that vLLM would pickle.
        ValueError: an int beyond 64 bits, for which vLLM hashes a memory address.
    """
    parts = vllm_stream(**values)
    if algorithm == "blake3":
        return _mmcpp.content_digest_of_parts(parts).hex()
    hasher = hashlib.new(algorithm)
    for part in parts:
        hasher.update(part)  # type: ignore[arg-type]  # an array is a buffer
    return hasher.hexdigest()


def vllm_stream(**values: object) -> list[Part]:
    """Give the bytes that ``vllm_hash`` hashes, in parts; large arrays are not copied."""
    parts: list[Part] = []
    for name in sorted(values):
        _frame(name.encode(), parts)
        _value(values[name], parts)
    return parts


def vllm_item_hash(
    model_id: str,
    modality: str,
    item: object,
    *,
    uuid: str | None = None,
    mm_processor_kwargs: Mapping[str, object] | None = None,
    media_io_kwargs: Mapping[str, Mapping[str, object]] | None = None,
    algorithm: Algorithm = "blake3",
) -> str:
    """Give the hash that vLLM 0.33 knows an item by.

    Args:
        model_id: the model's name.
        modality: ``"image"``, ``"video"``, ``"audio"`` or another.
        item: what ``vllm_hash`` takes; unused where ``uuid`` is given.
        uuid: the client's name for the item; it is the hash itself if no option applies.
        mm_processor_kwargs: options of the processor. For the three modalities above only flat ones
            and those of their own scope count.
        media_io_kwargs: modality -> options of the loader; for the same three, their own alone.
        algorithm: as for ``vllm_hash``.

    Raises:
        TypeError: as ``vllm_hash``.
    """
    scope = _SCOPES.get(modality)
    loader = dict(media_io_kwargs or {})
    options = dict(mm_processor_kwargs or {})
    if scope is not None:
        loader = {modality: loader[modality]} if loader.get(modality) else {}
        options = {k: v for k, v in options.items() if k not in _ALL_SCOPES or k == scope}
    factors: dict[str, object] = {"media_io_kwargs": loader, "mm_processor_kwargs": options}
    factors = {name: value for name, value in factors.items() if value}
    if uuid is not None and not factors:
        return uuid
    return vllm_hash(algorithm, model_id=model_id, **{modality: item if uuid is None else uuid}, **factors)


def _frame(data: Part, parts: list[Part]) -> None:
    length = data.nbytes if isinstance(data, (np.ndarray, memoryview)) else len(data)
    parts.append(struct.pack("<Q", length))
    parts.append(data)


def _value(value: object, parts: list[Part]) -> None:
    if value is None:
        parts.append(b"\x00")
    elif isinstance(value, (list, tuple)):
        parts.append(b"\x01" + struct.pack("<Q", len(value)))
        for element in value:
            _value(element, parts)
    elif isinstance(value, dict):
        parts.append(b"\x02" + struct.pack("<Q", len(value)))
        for key, element in value.items():
            _frame(str(key).encode(), parts)
            _value(element, parts)
    else:
        parts.append(b"\x03")
        _leaf(value, parts)


def _named(name: str, value: object, parts: list[Part]) -> None:
    _frame(name.encode(), parts)
    _value(value, parts)


def _leaf(value: object, parts: list[Part]) -> None:
    torch = sys.modules.get("torch")
    pil = sys.modules.get("PIL.Image")
    if isinstance(value, str):
        _frame(value.encode(), parts)
    elif isinstance(value, bytes):
        _frame(value, parts)
    elif isinstance(value, memoryview):
        _frame(value.tobytes(), parts)
    elif isinstance(value, bytearray):
        # Pillow's palettes may be some. Protocol 4 is what Python 3.8 to 3.13 pickle with.
        _frame(pickle.dumps(value, protocol=4), parts)
    elif isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        _frame(_scalar(value), parts)
    elif isinstance(value, np.ndarray):
        _array(value, parts)
    elif torch is not None and isinstance(value, torch.Tensor):
        _tensor(value, parts)
    elif isinstance(value, EncodedMedia):
        _encoded(value, parts)
    elif pil is not None and isinstance(value, pil.Image):
        _image(value, parts)
    else:
        raise TypeError(f"hashing: vLLM would pickle a {type(value).__name__}, which gives no stable hash")


def _scalar(value: bool | int | float) -> bytes:
    if isinstance(value, bool):
        return struct.pack("?", value)
    if isinstance(value, float):
        return struct.pack("<d", value)
    if not -(2**63) <= value < 2**64:
        raise ValueError("hashing: an int beyond 64 bits, for which vLLM hashes a memory address")
    return struct.pack("<q" if value < 2**63 else "<Q", value)


def _array(array: npt.NDArray[Any], parts: list[Part]) -> None:
    if array.dtype.hasobject:
        raise TypeError("hashing: an array of objects has no stable hash")
    data: object = array.item() if array.ndim == 0 else _Data(np.ascontiguousarray(array))
    _frame(b"ndarray", parts)
    _fields({"dtype": array.dtype.str, "shape": array.shape, "data": data}, parts)


class _Data:
    """An array's memory as a leaf."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.memory = array.reshape(-1).view(np.uint8) if array.size else b""


def _fields(fields: Mapping[str, object], parts: list[Part]) -> None:
    parts.append(b"\x02" + struct.pack("<Q", len(fields)))
    for name, value in fields.items():
        _frame(name.encode(), parts)
        if isinstance(value, _Data):
            parts.append(b"\x03")
            _frame(value.memory, parts)
        else:
            _value(value, parts)


def _tensor(tensor: Any, parts: list[Part]) -> None:
    import torch

    tensor = tensor.detach().cpu()
    if tensor.dtype != torch.bfloat16:
        _named("tensor", tensor.numpy(), parts)
        return
    # numpy has no bfloat16: the bytes stand for it.
    shape = tuple(tensor.shape)
    data = tensor.contiguous().view((tensor.numel(),)).view(torch.uint8).numpy()
    _frame(b"tensor", parts)
    parts.append(b"\x02" + struct.pack("<Q", 3))
    _named("original_dtype", str(tensor.dtype), parts)
    _named("original_shape", shape, parts)
    _named("data", data, parts)


def _image(image: Image, parts: list[Part]) -> None:
    name = _exif_uuid(image)
    if name is not None:
        _frame(name, parts)
        return
    fields: dict[str, object] = {"mode": image.mode, "data": np.asarray(image)}
    if image.palette is not None:
        fields["palette"] = image.palette.palette  # a list or bytes, hashed as what it is
        if image.palette.rawmode is not None:
            fields["palette_rawmode"] = image.palette.rawmode
    _named("image", fields, parts)


def _exif_uuid(image: Image) -> bytes | None:
    try:
        value = image.getexif().get(_EXIF_IMAGE_ID)
    except Exception:  # a file's metadata may be damaged in any way
        return None
    return value.bytes if isinstance(value, uuid.UUID) else None


def _encoded(encoded: EncodedMedia, parts: list[Part]) -> None:
    if isinstance(encoded.media, np.ndarray):
        frames = encoded.media
        _named("video", frames if frames.nbytes < len(encoded.data) else encoded.data, parts)
        return
    name = _exif_uuid(encoded.media)
    if name is not None:
        _frame(name, parts)
    elif encoded.io_config is None:
        _named("image", encoded.data, parts)
    else:
        _named("image", {"io_config": dict(encoded.io_config), "data": encoded.data}, parts)
