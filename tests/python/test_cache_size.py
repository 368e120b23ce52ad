"""What values cost: vLLM's count, and the true one that sees whole storages."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.cache_size import item_bytes, own_memory

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_identity_cases.json").read_text())


def sized(fact: Any) -> Any:
    """Numbers in the facts are tensors of so many bytes."""
    if isinstance(fact, dict):
        return {name: sized(value) for name, value in fact.items()}
    if isinstance(fact, list):
        return [sized(value) for value in fact]
    return np.zeros(fact, np.uint8)


PLAIN = {
    "python int 5": 5,
    "python float 1.5": 1.5,
    "str 'abc'": "abc",
    "list of two f32 tensors of 10": [np.zeros(10, np.float32), np.zeros(10, np.float32)],
    "strided view x[:, :2] of f32 (4,8)": np.zeros((4, 8), np.float32)[:, :2],
}


def test_sizes_equal_the_reference() -> None:
    for fact in CASES["sizes"]:
        if fact["value"] == "bf16 tensor 7":
            torch = pytest.importorskip("torch")
            value = torch.zeros(7, dtype=torch.bfloat16)
        else:
            value = PLAIN[fact["value"]] if isinstance(fact["value"], str) else sized(fact["value"])
        if isinstance(value, str | int | float):
            # The facts are CPython 3.11's; later ones have smaller strings, those without the GIL larger numbers.
            assert item_bytes(value, compat="vllm") == sys.getsizeof(value)
            continue
        assert item_bytes(value, compat="vllm") == fact["bytes"], fact


def test_a_view_costs_its_storage() -> None:
    batch = np.zeros((3, 1000), np.float32)
    assert item_bytes(batch[0]) == batch.nbytes
    assert item_bytes(batch[0], compat="vllm") == 4000
    assert item_bytes(np.frombuffer(b"x" * 1000, np.uint8)[:10]) >= 1000
    # Once, however many views of it there are.
    views = [batch[0], batch[1]]
    assert item_bytes(views) == batch.nbytes + sys.getsizeof(views)


def test_containers_count() -> None:
    assert item_bytes({"a": 1}) == sys.getsizeof({"a": 1}) + sys.getsizeof("a") + sys.getsizeof(1)
    endless: Any = []
    endless.append(endless)
    assert item_bytes(endless) == sys.getsizeof(endless)


def test_tensors_and_pictures() -> None:
    torch = pytest.importorskip("torch")
    pil = pytest.importorskip("PIL.Image")
    batch = torch.zeros((3, 1000))
    assert item_bytes(batch[0]) == 12000
    assert item_bytes(pil.new("RGB", (10, 20))) == 800
    assert item_bytes(pil.new("L", (10, 20))) == 200


def test_views_of_much_more_are_copied() -> None:
    batch = np.arange(3000, dtype=np.float32).reshape(3, 1000)
    item = {"pixels": batch[1], "meta": (1, [batch[2][:5]]), "own": np.zeros(7)}
    owned = own_memory(item)
    assert np.array_equal(owned["pixels"], batch[1])
    assert np.array_equal(owned["meta"][1][0], batch[2][:5])
    assert not np.shares_memory(owned["pixels"], batch)
    assert owned["own"] is item["own"]
    assert item_bytes(owned["pixels"]) == 4000


def test_what_owns_its_memory_is_not_copied() -> None:
    array = np.zeros((4, 5))
    item = {"a": array, "b": [1, (2, "x")], "c": array[:], "d": array.T}
    assert own_memory(item) is item
    nearly_all = np.zeros(1000)[:950]
    assert own_memory(nearly_all) is nearly_all


def test_dataclasses_are_seen_through() -> None:
    @dataclasses.dataclass(frozen=True)
    class Item:
        pixels: Any
        name: str

    batch = np.zeros((10, 1000))
    item = Item(batch[3], "n")
    owned = own_memory(item)
    assert isinstance(owned, Item)
    assert owned.name == "n"
    assert item_bytes(owned.pixels) == 8000
    assert item_bytes(item) > 80000


def test_tensor_views_are_copied() -> None:
    torch = pytest.importorskip("torch")
    batch = torch.arange(3000.0).reshape(3, 1000)
    owned = own_memory([batch[1]])
    assert torch.equal(owned[0], batch[1])
    assert item_bytes(owned[0]) == 4000
