"""Identity: of any value, and of an item together with all that changes its output.

Digests of values say what the value is: each part carries its type and length, so that ``1``,
``1.0``, ``True``, ``"1"`` and ``b"1"`` differ, and so do nested structures that would read the same
without brackets. Dicts are hashed without regard to order; a list and a tuple are one, as JSON makes
them one.
"""

from __future__ import annotations

import dataclasses
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["ItemScope", "check_uuids", "hash_value", "name_uncached", "parse_uuids"]

Part: TypeAlias = Union[bytes, memoryview, "npt.NDArray[Any]"]

_MAX_DEPTH = 64
_EXIF_ORIENTATION = 0x0112


def hash_value(value: object) -> str:
    """Give the BLAKE3 digest of a value and its types, in 64 hex digits.

    Args:
        value: None, bool, int of any size, float, str, buffers of bytes, numpy arrays and scalars,
            torch tensors and dtypes, PIL images (mode, size, pixels, palette, transparency and EXIF
            orientation), dataclasses, and lists, tuples and mappings of them. Arrays and tensors
            count as what they contain, whatever their memory layout.

    Raises:
        TypeError: a value of another type; a path in particular, which names its content only.
        ValueError: nested deeper than 64.

    >>> hash_value({"a": 1, "b": 2}) == hash_value({"b": 2, "a": 1})
    True
    >>> hash_value("1") == hash_value(b"1")
    False
    """
    parts: list[Part] = []
    _put(value, parts, 0)
    return _mmcpp.content_digest_of_parts(parts).hex()


@dataclass(frozen=True)
class ItemScope:
    """Everything beside an item's content that changes what it is processed to.

    Keys of different scopes never meet. They are 256 bits wide and should be used whole: an engine
    that takes a number should take as many of its bits as it can.
    """

    family: str
    """The model family or checkpoint."""
    spec: object = None
    """The family's configuration: whatever ``hash_value`` takes."""
    dtype: str = ""
    """Of the features."""
    profile: str = ""
    """How pictures are decoded."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the processor, the loader and the request, as far as they apply to this item."""
    tenant: str = ""
    """Whose items these are, where clients must not see each other's."""

    def key(self, content: object, *, modality: str = "image") -> str:
        """Give the key of an item by its content, in 64 hex digits.

        Args:
            content: what ``hash_value`` takes; best the encoded bytes.
            modality: what the content is read as.

        Raises:
            TypeError: as ``hash_value``.
        """
        return hash_value(["mmcpp item", 1, self._digest, modality, "content", hash_value(content)])

    def uuid_key(self, uuid: str, *, modality: str = "image") -> str:
        """Give the key of an item by the name that a client gave it.

        Args:
            uuid: the name.
            modality: of the item.

        Nothing binds the name to a content: have the cache check a mark of it.
        """
        return hash_value(["mmcpp item", 1, self._digest, modality, "uuid", uuid])

    @cached_property
    def _digest(self) -> str:
        return hash_value([self.family, self.spec, self.dtype, self.profile, dict(self.options), self.tenant])


def parse_uuids(
    uuids: Mapping[str, str | Sequence[str | None] | None] | None,
) -> dict[str, list[str | None] | None]:
    """Bring a request's ``uuids`` into one form: a list per modality, or None where none are given."""
    parsed: dict[str, list[str | None] | None] = {}
    for modality, given in (uuids or {}).items():
        parsed[modality] = [given] if isinstance(given, str) else None if given is None else list(given)
    return parsed


def check_uuids(
    data: Mapping[str, Sequence[object] | None],
    uuids: Mapping[str, Sequence[str | None] | None],
) -> None:
    """Refuse UUIDs that do not fit a request's items.

    Args:
        data: modality -> items; None for an item (or all of a modality) means that a UUID stands
            for it.
        uuids: modality -> one UUID, or None, per item; from ``parse_uuids``.

    Raises:
        ValueError: another number of UUIDs than of items, or an item with neither data nor UUID.
    """
    for modality, items in data.items():
        given = uuids.get(modality)
        if items is None:
            if modality not in uuids:
                raise ValueError(f"uuids: {modality} has neither data nor uuids")
            continue
        if given is not None and len(given) != len(items):
            raise ValueError(f"uuids: {len(given)} uuid(s) for {len(items)} {modality} item(s)")
        for i, item in enumerate(items):
            if item is None and (given is None or given[i] is None):
                raise ValueError(f"uuids: {modality} item {i} has neither data nor a uuid")


def name_uncached(
    request: str,
    counts: Mapping[str, int],
    uuids: Mapping[str, Sequence[str | None] | None],
) -> dict[str, list[str]]:
    """Name a request's items where nothing is cached, without hashing them.

    Args:
        request: a name that no other request has.
        counts: modality -> number of items.
        uuids: kept where given, the empty one included.

    Returns:
        Modality -> names such as ``"request-image-0"``.
    """
    names = {}
    for modality, count in counts.items():
        given = uuids.get(modality) or [None] * count
        names[modality] = [uuid if uuid is not None else f"{request}-{modality}-{i}" for i, uuid in enumerate(given)]
    return names


def _put(value: object, parts: list[Part], depth: int) -> None:
    """Append a tag and a framed payload for ``value``."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"hashing: nested deeper than {_MAX_DEPTH}")
    if value is None:
        parts.append(b"N")
    elif isinstance(value, (bool, np.bool_)):
        parts.append(b"1" if value else b"0")
    elif isinstance(value, (int, np.integer)):
        number = int(value)
        _frame(b"i", number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True), parts)
    elif isinstance(value, (float, np.floating)):
        parts.append(b"f" + struct.pack("<d", float(value)))
    elif isinstance(value, str):
        _frame(b"s", value.encode("utf-8", "surrogatepass"), parts)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        view = memoryview(value)
        _frame(b"b", view if view.contiguous else view.tobytes(), parts)
    elif isinstance(value, (list, tuple)):
        parts.append(b"l" + struct.pack("<Q", len(value)))
        for element in value:
            _put(element, parts, depth + 1)
    elif isinstance(value, Mapping):
        _put_mapping(value, parts, depth)
    elif isinstance(value, np.ndarray):
        _put_array(b"a", str(value.dtype.str), value.shape, value, parts, depth=depth)
    else:
        _put_other(value, parts, depth)


def _put_mapping(value: Mapping[Any, object], parts: list[Part], depth: int) -> None:
    entries = []
    for key, element in value.items():
        name: list[Part] = []
        _put(key, name, depth + 1)
        entries.append((b"".join(bytes(part) for part in name), element))
    entries.sort(key=lambda entry: entry[0])
    parts.append(b"m" + struct.pack("<Q", len(entries)))
    for encoded, element in entries:
        parts.append(encoded)
        _put(element, parts, depth + 1)


def _put_array(
    tag: bytes, dtype: str, shape: Sequence[int], data: npt.NDArray[Any], parts: list[Part], *, depth: int
) -> None:
    if data.dtype.hasobject:
        raise TypeError("hashing: an array of objects has no content of its own")
    parts.append(tag)
    _put(dtype, parts, depth + 1)
    _put(list(shape), parts, depth + 1)
    flat = np.ascontiguousarray(data).reshape(-1)
    _frame(b"", flat.view(np.uint8) if flat.size else b"", parts)


def _put_other(value: object, parts: list[Part], depth: int) -> None:
    torch = sys.modules.get("torch")
    pil = sys.modules.get("PIL.Image")
    if torch is not None and isinstance(value, torch.Tensor):
        _put_tensor(value, parts, depth)
    elif torch is not None and isinstance(value, torch.dtype):
        _frame(b"d", str(value).encode(), parts)
    elif isinstance(value, np.dtype):
        _frame(b"d", str(value.str).encode(), parts)
    elif pil is not None and isinstance(value, pil.Image):
        _put_image(value, parts, depth)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts.append(b"D")
        _put(type(value).__qualname__, parts, depth + 1)
        _put({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, parts, depth)
    else:
        raise TypeError(f"hashing: a {type(value).__name__} has no content that could be hashed")


def _put_tensor(tensor: Any, parts: list[Part], depth: int) -> None:
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized:
        raise TypeError("hashing: a sparse or quantized tensor")
    host = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    data = host.reshape(-1).view(torch.uint8).numpy() if host.numel() else np.empty(0, np.uint8)
    _put_array(b"t", str(tensor.dtype), tuple(tensor.shape), data, parts, depth=depth)


def _put_image(image: Image, parts: list[Part], depth: int) -> None:
    try:
        orientation = image.getexif().get(_EXIF_ORIENTATION)
    except Exception:  # a file's metadata may be damaged in any way
        orientation = None
    pixels = image.tobytes()  # first: loading a file may set the palette
    palette = image.palette
    fields = {
        "mode": image.mode,
        "height": image.height,
        "width": image.width,
        "pixels": pixels,
        "palette": None if palette is None else [palette.mode, bytes(palette.palette)],
        "transparency": image.info.get("transparency"),
        "orientation": orientation if isinstance(orientation, int) else None,
    }
    parts.append(b"p")
    _put(fields, parts, depth)


def _frame(tag: bytes, data: Part, parts: list[Part]) -> None:
    length = len(data) if isinstance(data, bytes) else data.nbytes
    parts.append(tag + struct.pack("<Q", length))
    parts.append(data)
