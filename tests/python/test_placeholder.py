"""Ranges: vLLM's facts about masks, order and truncation."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.placeholder import PlaceholderRange, overlapping, sort_by_offset, truncate_prompt

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_prompt_cases.json").read_text())


def made(fact: Any) -> PlaceholderRange:
    mask = None if fact["mask"] is None else np.array(fact["mask"])
    return PlaceholderRange(fact["offset"], fact["length"], mask)


def test_ranges_equal_the_reference() -> None:
    for fact in CASES["ranges"]:
        placeholder = made(fact)
        assert placeholder.num_embeds == fact["embeds"]
        cumulative = placeholder.embeds_cumsum
        assert (None if cumulative is None else cumulative.tolist()) == fact["cumulative"]
        assert [list(run) for run in placeholder.embed_runs()] == fact["runs"]
        for start, end, first, behind in fact["rows"]:
            assert placeholder.embed_rows(start, end) == (first, behind)


def test_rows_outside_of_the_range_are_refused() -> None:
    for start, end in ((-1, 2), (0, 6), (3, 2)):
        with pytest.raises(ValueError, match="outside its 5"):
            PlaceholderRange(0, 5).embed_rows(start, end)


def test_ranges_are_compared_by_value() -> None:
    mask = np.array([True, False])
    assert PlaceholderRange(1, 2, mask) == PlaceholderRange(1, 2, mask.copy())
    assert PlaceholderRange(1, 2, mask) != PlaceholderRange(1, 2, ~mask)
    assert PlaceholderRange(1, 2, mask) != PlaceholderRange(1, 2)
    assert PlaceholderRange(1, 2) != PlaceholderRange(0, 2)
    assert PlaceholderRange(1, 2) == PlaceholderRange(1, 2)
    assert PlaceholderRange(1, 2) != (1, 2)


def test_an_empty_range_has_no_run() -> None:
    assert PlaceholderRange(4, 0).embed_runs() == []


def test_order_equals_the_reference() -> None:
    for fact in CASES["by_offset"]:
        ranges = {m: [PlaceholderRange(*r) for r in pairs] for m, pairs in fact["ranges"].items()}
        assert [list(name) for name in sort_by_offset(ranges)] == fact["order"]


def test_overlapping_equals_asking_each() -> None:
    ranges = [PlaceholderRange(offset, length) for offset, length in ((2, 3), (5, 1), (9, 4))]
    for start in range(15):
        for end in range(15):
            asked = [i for i, r in enumerate(ranges) if start < r.end and r.offset < end and start < end]
            assert list(overlapping(ranges, start, end)) == asked


def test_truncation_equals_the_reference() -> None:
    for fact in CASES["truncated"]:
        ids = np.arange(fact["length"])
        ranges = {"image": [PlaceholderRange(*fact["span"])]}
        if fact.get("refused"):
            with pytest.raises(ValueError, match="image item 0 stands at tokens"):
                truncate_prompt(ids, ranges, fact["limit"], side=fact["side"])
            continue
        kept, moved = truncate_prompt(ids, ranges, fact["limit"], side=fact["side"])
        assert (len(kept), kept[0], moved["image"][0].offset) == (fact["kept"], fact["first"], fact["offset"])


def test_a_left_cut_through_an_item_is_refused() -> None:
    with pytest.raises(ValueError, match="tokens 0 to 4"):
        truncate_prompt(np.arange(10), {"image": [PlaceholderRange(0, 5)]}, 6, side="left")
    with pytest.raises(ValueError, match="limit of -1"):
        truncate_prompt(np.arange(10), {}, -1)
