"""Limits of items and what engines set aside for them, against vLLM's facts."""

import json
from pathlib import Path
from typing import Any

import pytest

from mmcpp.budget import allowed_items, check_counts, dummy_length, encoder_budget
from mmcpp.errors import LimitError

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_processing_cases.json").read_text())


@pytest.mark.parametrize("case", CASES["limits"])
def test_limits_of_modalities(case: Any) -> None:
    assert allowed_items(case["modality"], case["limits"]) == case["limit"]


@pytest.mark.parametrize(("user", "supported", "allowed"), CASES["allowed"])
def test_the_smaller_limit_counts(user: int, supported: int, allowed: int) -> None:
    assert allowed_items("image", {"image": user}, {"image": supported}) == allowed


def test_models_may_take_any_number_or_none() -> None:
    assert allowed_items("image", {}, {"image": None}) == 999
    assert allowed_items("video", {}, {"image": None}) == 0


@pytest.mark.parametrize(("count", "limit", "valid"), CASES["counted"])
def test_requests_over_a_limit_are_refused(count: int, limit: int, valid: bool) -> None:
    if valid:
        check_counts({"image": count}, {"image": limit})
    else:
        with pytest.raises(LimitError, match=rf"{count} image item\(s\), the limit is {limit}, as configured"):
            check_counts({"image": count}, {"image": limit})


def test_a_refusal_says_whose_limit_it_is() -> None:
    with pytest.raises(LimitError, match="the model takes no more"):
        check_counts({"image": 2}, {"image": 5}, {"image": 1})
    with pytest.raises(LimitError, match="as configured"):
        check_counts({"image": 2}, {"image": 1}, {"image": None})


@pytest.mark.parametrize(("chunked", "model", "batched", "length"), CASES["dummy_lengths"])
def test_dummy_lengths(chunked: bool | None, model: int, batched: int, length: int) -> None:
    # vLLM asks a model that says nothing as if its prefill were whole
    assert dummy_length(model, batched, chunked_prefill=bool(chunked)) == length


@pytest.mark.parametrize("case", CASES["budgets"])
def test_encoder_budgets(case: Any) -> None:
    budget = encoder_budget(**case["arguments"])
    expected = case["budget"]
    assert (budget.compute, budget.cache) == (expected["compute"], expected["cache"])
    assert budget.items_per_prompt == expected.get("per_prompt", {})
    assert budget.items_per_batch == expected.get("per_batch", {})


def test_an_item_that_no_step_can_take_is_refused() -> None:
    arguments = CASES["budgets"][0]["arguments"]
    with pytest.raises(LimitError, match=r"an item of 16384 tokens \(image\) in steps of 2048"):
        encoder_budget(**arguments, chunked_items=False)


def test_prompts_of_a_step_are_counted_where_they_are_whole() -> None:
    # The facts above are all bounded by something else. vLLM 0.33: a step of 250 tokens has two whole
    # prompts with an item of 100, and as many spread ones as there are sequences.
    limits: dict[str, Any] = {
        "tokens_per_item": {"image": 100},
        "limits": {"image": 2},
        "max_model_len": 4096,
        "max_num_batched_tokens": 250,
        "max_num_seqs": 10,
        "max_num_encoder_input_tokens": 10_000,
        "encoder_cache_size": 10_000,
    }
    assert encoder_budget(**limits, chunked_prefill=False).items_per_batch == {"image": 4}
    assert encoder_budget(**limits, chunked_prefill=True).items_per_batch == {"image": 20}
