import dataclasses

import pytest

import mmcpp
from mmcpp.results import to_plan
from samples import SPEC, encode, noise


def test_plans_are_values():
    fields = {"feature_shape": (4, 3), "grid": (1, 2, 2), "tokens": 1, "resized_height": 28, "resized_width": 28}
    plan = to_plan(fields)
    assert plan == mmcpp.ItemPlan(**fields)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.tokens = 2


def test_a_response_counts_what_it_did():
    encoded, pixels = encode(noise(56, 84)), noise(28, 56)
    response = mmcpp.Pipeline.from_spec(SPEC).process(
        input_ids=[1, *[SPEC["image_token_id"]] * 3], images=[encoded, pixels, encoded], dtype="uint8"
    )
    counters = response.counters
    assert (counters.items, counters.duplicates) == (3, 1)
    assert counters.bytes_in == 2 * len(encoded) + pixels.nbytes
    assert counters.pixels == 56 * 84 + 28 * 56
    assert counters.bytes_out == sum(i.feature.nbytes + sum(a.nbytes for a in i.aux.values()) for i in response.items)
    assert (counters.tokens_in, counters.tokens_out) == (4, len(response.input_ids))
    assert response.times.tokenize_ms == 0
