"""The form of results, learned and given, and how they are compared."""

import numpy as np
import pytest

import mmcpp
from mmcpp.hf.forms import difference, form_of, in_form

ARRAY = np.arange(12, dtype=np.int64).reshape(2, 2, 3)


@pytest.mark.parametrize(
    "value",
    [ARRAY, [5, 6], [ARRAY, ARRAY + 1], [[ARRAY], [ARRAY]], [(1, 2), (3, 4)], ([1], [2])],
    ids=["array", "numbers", "list of arrays", "nested", "pairs", "tuple"],
)
def test_a_form_is_given_as_it_was_learned(value):
    made = in_form(form_of(value), np.asarray(value))
    assert difference({"x": made}, {"x": value}) is None


def test_tensors():
    torch = pytest.importorskip("torch")
    for value in (torch.from_numpy(ARRAY), [torch.ones(2), torch.zeros(2)], [torch.Size([4, 5]), torch.Size([6, 7])]):
        plain = np.stack([np.asarray(part) for part in value])
        assert difference({"x": in_form(form_of(value), plain)}, {"x": value}) is None
    assert np.shares_memory(in_form(("tensor",), ARRAY).numpy(), ARRAY)
    assert difference({"x": torch.ones(2)}, {"x": np.ones(2, np.float32)}) == "another x"


@pytest.mark.parametrize("value", ["text", 0.5, None, [], [1, ARRAY], {"a": 1}], ids=str)
def test_other_results_are_refused(value):
    with pytest.raises(mmcpp.UnsupportedError):
        form_of(value)


@pytest.mark.parametrize(
    "other",
    [
        {}, {"y": [ARRAY], "x": 1}, {"x": [ARRAY, ARRAY]}, {"x": (ARRAY,)}, {"x": [ARRAY.astype(np.int32)]},
        {"x": [ARRAY + 1]}, {"x": [ARRAY.reshape(4, 3)]}, {"x": ARRAY}, {"x": [[ARRAY]]}, {"x": [ARRAY], "y": 1},
    ],
    ids=lambda other: str(list(other)),
)  # fmt: skip
def test_every_difference_is_one(other):
    assert difference({"x": [ARRAY]}, {"x": [ARRAY.copy()]}) is None
    assert difference({"x": [ARRAY]}, other) is not None
