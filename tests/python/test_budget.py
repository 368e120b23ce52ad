"""Limits of items and what engines set aside for them, against vLLM's facts."""

import json
from pathlib import Path
from typing import Any

import pytest

from mmcpp import ImageProcessor
from mmcpp.budget import allowed_items, check_counts, dummy_length, encoder_budget, largest_picture
from mmcpp.errors import LimitError
from mmcpp.spec import preset_spec

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


@pytest.mark.parametrize(
    ("max_pixels", "unit", "width", "height", "tokens"),
    [
        (12845056, 28, 3584, 3584, 16384),
        (1003520, 28, 1120, 896, 1280),
        (1005872, 28, 1708, 588, 1281),
        (16777216, 32, 4096, 4096, 16384),
        (262144, 28, 4676, 56, 334),
        (784, 28, 28, 28, 1),
        (201488, 28, 448, 448, 256),
    ],
)
def test_the_picture_of_the_most_tokens(max_pixels: int, unit: int, width: int, height: int, tokens: int) -> None:
    assert largest_picture(max_pixels, unit) == (height, width)
    assert height * width // unit**2 == tokens
    with pytest.raises(ValueError, match="no picture of 28x28 within 783 pixels"):
        largest_picture(783, 28)


@pytest.mark.parametrize(
    ("bounds", "tokens", "shape"),
    [({}, 1426, (5704, 1176)), ({"min_pixels": 64**2, "max_pixels": 512**2}, 330, (1320, 1176))],
)
def test_a_request_s_bounds_decide_what_a_picture_costs(
    bounds: dict[str, int], tokens: int, shape: tuple[int, int]
) -> None:
    plan = ImageProcessor.from_spec(preset_spec("qwen2_vl") | bounds).plan(876, 1300)
    assert (plan.tokens, plan.feature_shape) == (tokens, shape)
