"""Entries outside of a process: they come back as they were, and nothing else is believed."""

import json
import random
import struct
from typing import Any

import numpy as np
import pytest

from mmcpp.cache_format import EntryError, pack, unpack


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


VALUES = [
    None,
    True,
    -(2**70),
    1.5,
    float("inf"),
    float("nan"),
    -0.0,
    "é🖼\x00",
    b"",
    b"\x00\xff" * 100,
    [],
    (),
    {},
    [1, (2, [3, {"a": None}])],
    {"bytes": 1, "array": [2], "dict": {"tuple": ()}},
    np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    np.arange(24).reshape(4, 6)[:, ::2],
    np.zeros((0, 3), dtype=np.uint8),
    np.array(5, dtype=">i2"),
    np.array([True, False]),
    {"pixel_values": np.ones((3, 5), np.uint8), "image_grid_thw": np.array([1, 2, 3]), "sizes": [(1, 2)]},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value: Any) -> None:
    assert same(value, unpack("k", pack("k", value)))


def random_tree(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.random()
    if depth > 3 or kind < 0.5:
        return rng.choice(VALUES)
    children = [random_tree(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    if kind < 0.7:
        return children
    return tuple(children) if kind < 0.8 else {rng.choice(["", "a", "é", "\x00"]): child for child in children}


def test_any_tree_comes_back() -> None:
    rng = random.Random(2)
    for i in range(2000):
        value = random_tree(rng)
        assert same(value, unpack(str(i), pack(str(i), value)))


def test_arrays_are_views_of_the_entry_and_constant() -> None:
    entry = bytearray(pack("k", [b"x", np.arange(100, dtype=np.float32)]))
    _, array = unpack("k", entry)
    assert np.shares_memory(array, np.frombuffer(entry, np.uint8))
    assert not array.flags.writeable


def test_arrays_begin_at_multiples_of_64() -> None:
    entry = pack("a longer key", [b"x", np.arange(3, dtype=np.uint8), np.arange(4.0)])
    header = struct.unpack_from("<8sIIQ32s", entry)[2]
    assert (56 + header) % 64 == 0
    begins = [part["at"][0] for part in json.loads(entry[56 : 56 + header])["list"][1:]]
    assert begins == [64, 128]


def test_tensors_come_back() -> None:
    torch = pytest.importorskip("torch")
    values = [
        torch.arange(6, dtype=torch.bfloat16).reshape(2, 3),
        torch.arange(6).reshape(2, 3).T,
        torch.zeros((0, 4)),
        torch.tensor(1.5),
        torch.tensor([True]),
    ]
    back = unpack("k", pack("k", values))
    for value, got in zip(values, back, strict=True):
        assert got.dtype == value.dtype
        assert torch.equal(got, value)
    with pytest.raises(TypeError, match="plain memory"):
        pack("k", torch.eye(3).to_sparse())


def test_what_has_no_form_is_refused() -> None:
    for value in (object(), {1: 2}, np.array([None]), np.array(["a"]), np.float32(1), {1, 2}):
        with pytest.raises(TypeError, match="cache: "):
            pack("k", value)
    nested: Any = []
    for _ in range(70):
        nested = [nested]
    with pytest.raises(TypeError, match="nested"):
        pack("k", nested)


ENTRY = pack("key", {"a": np.arange(20, dtype=np.int16), "b": "text"})


def test_any_damage_is_seen() -> None:
    for i in range(len(ENTRY)):
        damaged = bytearray(ENTRY)
        damaged[i] ^= 1 << (i % 8)
        with pytest.raises(EntryError):
            unpack("key", damaged)


def test_any_truncation_is_seen() -> None:
    for length in range(len(ENTRY)):
        with pytest.raises(EntryError):
            unpack("key", ENTRY[:length])
    with pytest.raises(EntryError):
        unpack("key", ENTRY + b"\x00")


def test_an_entry_is_valid_under_its_key_alone() -> None:
    with pytest.raises(EntryError, match="content and key"):
        unpack("other", ENTRY)


def forged(tree: Any, memory: bytes = bytes(64), version: int = 1) -> bytes:
    """Make an entry whose digest is right and whose description is not."""
    import mmcpp._mmcpp as core

    header = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    digest = core.content_digest_of_parts([struct.pack("<Q", 1), b"k", header, memory])
    return struct.pack("<8sIIQ32s", b"mmcppitm", version, len(header), 56 + len(header) + 64, digest) + header + memory


def test_another_version_is_refused_before_anything_is_read() -> None:
    with pytest.raises(EntryError, match="format 2, this is 1"):
        unpack("k", forged(None, version=2))


@pytest.mark.parametrize(
    "tree",
    [
        b"{",
        b"\xff",
        [1],
        {},
        {"other": 1},
        {"bytes": [0, 65]},
        {"bytes": [-1, 2]},
        {"bytes": [60, 2**70]},
        {"bytes": "ab"},
        {"bytes": [0.5, 1]},
        {"dict": [["a"]]},
        {"dict": 3},
        {"array": "|O", "shape": [8], "at": [0, 64]},
        {"array": "no type", "shape": [8], "at": [0, 64]},
        {"array": "<f8", "shape": [9], "at": [0, 64]},
        {"array": "<f8", "shape": [-1, -1], "at": [0, 64]},
        {"array": "<f8", "shape": [2**62, 4], "at": [0, 64]},
        {"array": "<f8", "shape": [8], "at": [0, 63]},
        {"array": "<f8", "at": [0, 64]},
    ],
    ids=repr,
)
def test_descriptions_of_nothing_are_refused(tree: Any) -> None:
    with pytest.raises(EntryError):
        unpack("k", forged(tree))


def test_deep_descriptions_are_refused() -> None:
    deep: Any = None
    for _ in range(100):
        deep = {"list": [deep]}
    with pytest.raises(EntryError):
        unpack("k", forged(deep))
    with pytest.raises(EntryError):
        unpack("k", forged(b'{"list":[' * 100_000))


def test_descriptions_of_no_tensor_are_refused() -> None:
    pytest.importorskip("torch")
    for name in ("load", "no_such", "__name__"):
        with pytest.raises(EntryError):
            unpack("k", forged({"tensor": name, "shape": [64], "at": [0, 64]}))
