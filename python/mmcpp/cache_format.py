"""The form of an item outside of a process: checked before it is believed, read without pickle.

An entry is: magic, format version, lengths, a BLAKE3 digest over key and rest, a JSON header that
says how the value is built, and the arrays' bytes, each at a multiple of 64.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from mmcpp import _mmcpp

__all__ = ["FORMAT_VERSION", "EntryError", "pack", "unpack"]

FORMAT_VERSION = 1

_MAGIC = b"mmcppitm"
_FIXED = struct.Struct("<8sIIQ32s")  # magic, version, header's length, entry's length, digest
_ALIGN = 64
_MAX_DEPTH = 64
_MAX_HEADER = 1 << 24

# The kinds of numpy types that are plain bytes: bool, signed, unsigned, float, complex.
_KINDS = "biufc"


class EntryError(ValueError):
    """An entry that is damaged, of another format, of another key or of another maker."""


def pack(key: str, value: object) -> bytes:
    """Give the entry for a value.

    Args:
        key: the entry is valid under this key alone.
        value: None, bool, int, float, str, bytes, numpy arrays, torch tensors on the CPU, and
            lists, tuples and dicts (with keys that are str) of them.

    Raises:
        TypeError: a value of another type.
    """
    buffers: list[Any] = []
    position = 0

    def add(buffer: Any) -> list[int]:
        nonlocal position
        begin = -(-position // _ALIGN) * _ALIGN
        if begin > position:
            buffers.append(bytes(begin - position))
        length = len(buffer) if isinstance(buffer, bytes) else buffer.nbytes
        buffers.append(buffer)
        position = begin + length
        return [begin, length]

    header = json.dumps(_describe(value, add, 0), separators=(",", ":")).encode()
    header += b" " * (-(_FIXED.size + len(header)) % _ALIGN)
    digest = _digest(key, [header, *buffers])
    total = _FIXED.size + len(header) + position
    fixed = _FIXED.pack(_MAGIC, FORMAT_VERSION, len(header), total, digest)
    return b"".join([fixed, header, *(memoryview(b).cast("B") if not isinstance(b, bytes) else b for b in buffers)])


def unpack(key: str, entry: bytes | bytearray | memoryview) -> Any:
    """Give the value of an entry. Arrays are views of the entry's memory, read-only.

    Raises:
        EntryError: the entry is not what ``pack`` made for this key.
    """
    view = memoryview(entry)
    if len(view) < _FIXED.size:
        raise EntryError(f"cache: an entry of {len(view)} bytes")
    magic, version, header_length, total, digest = _FIXED.unpack_from(view)
    if magic != _MAGIC:
        raise EntryError("cache: no entry of this library")
    if version != FORMAT_VERSION:
        raise EntryError(f"cache: an entry of format {version}, this is {FORMAT_VERSION}")
    if total != len(view) or header_length > min(_MAX_HEADER, total - _FIXED.size):
        raise EntryError(f"cache: an entry of {len(view)} bytes that should have {total}")
    rest = view[_FIXED.size :]
    if _digest(key, [rest]) != digest:
        raise EntryError("cache: an entry whose digest is not that of its content and key")
    try:
        tree = json.loads(bytes(rest[:header_length]))
        return _build(tree, rest[header_length:], 0)
    except EntryError:
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise EntryError(f"cache: an entry that describes no value: {error}") from error


def _digest(key: str, parts: list[Any]) -> bytes:
    name = key.encode("utf-8", "surrogatepass")
    return _mmcpp.content_digest_of_parts([struct.pack("<Q", len(name)), name, *parts])


def _describe(value: object, add: Any, depth: int) -> object:
    if depth > _MAX_DEPTH:
        raise TypeError("cache: a value nested too deeply")
    torch = sys.modules.get("torch")
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if isinstance(value, bytes):
        return {"bytes": add(value)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _KINDS:
            raise TypeError(f"cache: an array of {value.dtype}")
        data = np.ascontiguousarray(value)
        return {"array": value.dtype.str, "shape": list(value.shape), "at": add(_flat(data))}
    if torch is not None and isinstance(value, torch.Tensor):
        if value.device.type != "cpu" or value.layout != torch.strided or value.is_quantized:
            raise TypeError("cache: a tensor that is not plain memory of the CPU")
        memory = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy() if value.numel() else b""
        return {"tensor": str(value.dtype).removeprefix("torch."), "shape": list(value.shape), "at": add(memory)}
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("cache: a dict with keys that are not str")
        return {"dict": [[name, _describe(element, add, depth + 1)] for name, element in value.items()]}
    if type(value) in (list, tuple):
        elements = [_describe(element, add, depth + 1) for element in value]  # type: ignore[attr-defined]
        return {"list" if type(value) is list else "tuple": elements}
    raise TypeError(f"cache: a {type(value).__name__} has no form outside of the process")


def _flat(data: Any) -> Any:
    return data.reshape(-1).view(np.uint8) if data.size else b""


def _build(tree: Any, memory: memoryview, depth: int) -> Any:  # noqa: PLR0911 - one per kind of value
    if depth > _MAX_DEPTH:
        raise EntryError("cache: an entry nested too deeply")
    if not isinstance(tree, dict):
        if isinstance(tree, list):
            raise EntryError("cache: an entry that describes no value")
        return tree
    if "dict" in tree:
        return {name: _build(element, memory, depth + 1) for name, element in tree["dict"]}
    if "list" in tree:
        return [_build(element, memory, depth + 1) for element in tree["list"]]
    if "tuple" in tree:
        return tuple(_build(element, memory, depth + 1) for element in tree["tuple"])
    if "bytes" in tree:
        return bytes(_part(tree["bytes"], memory))
    data = _part(tree["at"], memory)
    if "array" in tree:
        dtype = np.dtype(tree["array"])
        if dtype.kind not in _KINDS:
            raise EntryError(f"cache: an array of {dtype}")
        array = np.frombuffer(data, dtype=dtype).reshape(tree["shape"])
        array.flags.writeable = False
        return array
    try:
        import torch
    except ImportError as error:
        raise EntryError("cache: an entry with tensors, and no torch here") from error
    kind = getattr(torch, tree["tensor"], None)
    if not isinstance(kind, torch.dtype):
        raise EntryError(f"cache: a tensor of {tree['tensor']}")
    if data.nbytes == 0:
        return torch.empty(tree["shape"], dtype=kind)
    # A copy: torch has no read-only memory, and would warn of it.
    return torch.frombuffer(bytearray(data), dtype=kind).reshape(tree["shape"])


def _part(at: Any, memory: memoryview) -> memoryview:
    begin, length = at
    if not (isinstance(begin, int) and isinstance(length, int) and 0 <= begin <= begin + length <= len(memory)):
        raise EntryError("cache: an entry that points outside of itself")
    return memory[begin : begin + length]
