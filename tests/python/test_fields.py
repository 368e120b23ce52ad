"""Splitting a processor's outputs into items and merging them back, against vLLM's facts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.fields import Field, FieldItem, batched, flat, flat_from_sizes, group_items, merge_items, shared, split

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_processing_cases.json").read_text())


def arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return np.array(value["values"], dtype=value["dtype"])
    return [arrays(element) if isinstance(element, dict) else element for element in value]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    return bool(one == other)


def field_of(case: Any) -> Field:
    if case["kind"] == "batched":
        return batched("image")
    if case["kind"] == "shared":
        return shared("image", case["count"])
    if case["kind"] == "flat_from_sizes":
        return flat_from_sizes("image", case["sizes"], dim=case["dim"])
    return flat("image", dim=case["dim"])


@pytest.mark.parametrize("case", CASES["fields"], ids=lambda case: f"{case['kind']}.{case['op']}")
def test_fields_split_and_merge_as_in_vllm(case: Any) -> None:
    field, data, elements = field_of(case), arrays(case["data"]), arrays(case["elements"])
    if case["op"] == "build":
        assert same(field.split(data), elements)
        assert same(field.merge(field.split(data)), data), "merging is the way back"
    else:
        assert same(field.merge(elements), data)


def test_a_single_element_is_not_copied() -> None:
    one = np.zeros((2, 3), np.float32)
    assert flat("image").merge([one]) is one
    assert batched("image").merge([one]).base is one


def test_flat_elements_of_other_sides_are_put_into_zeros() -> None:
    merged = flat("image").merge([np.ones((1, 2, 1), np.uint8), np.ones((1, 1, 3), np.uint8)])
    assert merged.tolist() == [[[1, 0, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0]]]


def test_flat_slices_are_given_one_by_one() -> None:
    field = flat("image", [slice(0, 2), slice(1, 4)])
    assert [part.tolist() for part in field.split(np.arange(4))] == [[0, 1], [1, 2, 3]]
    assert flat("image", [slice(0, 1), slice(1, 3)]).split(["a", "b", "c"]) == [["a"], ["b", "c"]]


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="3 of 4 entries along dimension 0"):
        flat_from_sizes("image", [1, 2]).split(np.arange(4))
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        flat_from_sizes("image", [[1, 2]])
    with pytest.raises(ValueError, match="one size per item"):
        flat_from_sizes("image", [-1])
    with pytest.raises(ValueError, match="no dimension 1"):
        flat("image", dim=1).merge([["a"], ["b"]])
    with pytest.raises(ValueError, match="no items"):
        batched("image").merge([])


def qwen_outputs() -> tuple[dict[str, Any], dict[str, Field]]:
    grids = np.array([[1, 2, 2], [1, 4, 2]])
    outputs = {"pixel_values": np.arange(24).reshape(12, 2), "image_grid_thw": grids, "input_ids": [[1]], "none": None}
    fields = {
        "pixel_values": flat_from_sizes("image", grids.prod(axis=1)),
        "image_grid_thw": batched("image", keep_on_cpu=True),
        "none": batched("image"),
        "absent": batched("video"),
    }
    return outputs, fields


def test_outputs_are_split_into_items_and_merged_back() -> None:
    outputs, fields = qwen_outputs()
    items = split(outputs, fields)["image"]
    assert [item.data["pixel_values"].shape for item in items] == [(4, 2), (8, 2)]
    assert [item.data["image_grid_thw"].tolist() for item in items] == [[1, 2, 2], [1, 4, 2]]
    merged = merge_items(items)
    assert merged.keys() == {"pixel_values", "image_grid_thw"}
    assert all(same(merged[name], outputs[name]) for name in merged)


def test_outputs_of_different_numbers_of_items_are_refused() -> None:
    with pytest.raises(ValueError, match=r"different numbers of items: \{'a': 2, 'b': 3\}"):
        split({"a": [1, 2], "b": [1, 2, 3]}, {"a": batched("image"), "b": batched("image")})


@pytest.mark.parametrize("case", CASES["groups"]["keys"])
def test_items_of_the_same_outputs_are_one_group(case: Any) -> None:
    items = [
        FieldItem("image", dict.fromkeys(keys, 0), {key: batched("image") for key in keys})
        for keys in case["item_keys"]
    ]
    assert [len(group) for group in group_items(items)] == case["group_sizes"]


def shared_value(text: str) -> Any:
    """Read ``u8[0,0]``, or a list of such."""
    if text.startswith("["):
        return [shared_value(part) for part in text[1:-1].replace("],", "]|").split("|")]
    kind, values = text.rstrip("]").split("[")
    return np.array(values.split(","), dtype={"u8": np.uint8, "i32": np.int32, "f32": np.float32}[kind])


@pytest.mark.parametrize("case", CASES["groups"]["shared"])
def test_items_of_equal_shared_data_are_one_group(case: Any) -> None:
    items = [FieldItem("image", {"x": shared_value(text)}, {"x": shared("image", 1)}) for text in case["shared_values"]]
    assert [len(group) for group in group_items(items)] == case["group_sizes"]


def test_groups_are_of_one_modality_and_kind() -> None:
    one = FieldItem("image", {"x": 0}, {"x": batched("image")})
    other = FieldItem("video", {"x": 0}, {"x": batched("video")})
    third = FieldItem("image", {"x": np.zeros(1)}, {"x": flat("image")})
    assert [len(group) for group in group_items([one, other, third, third])] == [1, 1, 2]
    with pytest.raises(ValueError, match="2 items of 2 kinds"):
        merge_items([one, third])
    with pytest.raises(ValueError, match="no items"):
        merge_items([])


def test_tensors_stay_tensors() -> None:
    torch = pytest.importorskip("torch")
    data = torch.arange(12, dtype=torch.bfloat16).reshape(6, 2)
    parts = flat_from_sizes("image", torch.tensor([2, 4])).split(data)
    assert parts[1].data_ptr() == data[2:].data_ptr()
    assert torch.equal(flat("image").merge(parts), data)
    assert batched("image").merge([parts[0], parts[0]]).shape == (2, 2, 2)
    padded = flat("image").merge([torch.ones(1, 2, dtype=torch.bfloat16), torch.ones(1, 3, dtype=torch.bfloat16)])
    assert padded.dtype == torch.bfloat16
    assert padded.tolist() == [[1, 1, 0], [1, 1, 1]]
    items = [FieldItem("image", {"x": torch.zeros(1)}, {"x": shared("image", 2)}) for _ in range(2)]
    assert len(group_items(items)) == 1
