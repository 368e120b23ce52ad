"""Options of processors: merging, scopes and normalisation on the device, against vLLM's facts."""

import json
from pathlib import Path
from typing import Any

import pytest

from mmcpp.options import (
    complete_pixel_bounds,
    for_modality,
    leave_normalisation_out,
    merge_options,
    pixel_bounds,
    resolve_options,
)

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_processing_cases.json").read_text())


@pytest.mark.parametrize("case", CASES["merged"])
def test_merging(case: Any) -> None:
    assert merge_options(case["configured"], case["request"]) == case["merged"]


@pytest.mark.parametrize("case", CASES["resolved"])
def test_resolving(case: Any) -> None:
    assert resolve_options(case["options"], case["supported"]) == case["resolved"]


@pytest.mark.parametrize("case", CASES["merged_then_resolved"])
def test_merging_then_resolving(case: Any) -> None:
    merged = merge_options(case["configured"], case["request"])
    assert resolve_options(merged, case["supported"]) == case["resolved"]


def test_a_scope_that_is_no_mapping_is_refused_only_if_options_go_there() -> None:
    assert resolve_options({"images_kwargs": 5}, {"images_kwargs": ["size"]}) == {"images_kwargs": 5}
    with pytest.raises(TypeError, match="images_kwargs must be a mapping, got int"):
        resolve_options({"images_kwargs": 5, "size": 1}, {"images_kwargs": ["size"]})


def test_given_options_are_not_changed() -> None:
    configured, request = {"images_kwargs": {"size": {"a": 1}}}, {"size": {"b": 2}}
    merge_options(configured, request)["images_kwargs"]["size"]["c"] = 3
    assert configured == {"images_kwargs": {"size": {"a": 1}}}
    assert request == {"size": {"b": 2}}


@pytest.mark.parametrize("case", CASES["normalised_on_the_device"])
def test_nothing_is_normalised_twice(case: Any) -> None:
    merged = leave_normalisation_out(case["request"])
    if "fixed" in case:  # a deliberate difference; the case says why
        off = {"do_normalize": False, "do_rescale": False}
        assert merged == {**off, "images_kwargs": off, "videos_kwargs": off}
        assert resolve_options(merged) == {"images_kwargs": off, "videos_kwargs": off}
    else:
        assert merged == case["merged"]


def test_normalisation_is_left_out_of_every_scope_of_pictures() -> None:
    merged = leave_normalisation_out({"images_kwargs": {"do_normalize": True, "a": 1}, "videos_kwargs": {"b": 2}})
    off = {"do_normalize": False, "do_rescale": False}
    assert resolve_options(merged) == {"images_kwargs": {"a": 1, **off}, "videos_kwargs": {"b": 2, **off}}


@pytest.mark.parametrize("case", CASES["pixel_bounds"])
def test_pixel_bounds_are_completed(case: Any) -> None:
    assert complete_pixel_bounds(case["options"]) == case["completed"]


def test_a_request_wins_in_whatever_form_it_speaks() -> None:
    case = CASES["pixel_bounds_win"]
    merged = merge_options(case["configured"], complete_pixel_bounds(case["request"]))
    assert resolve_options(merged, case["supported"]) == case["resolved"]


def test_only_options_that_concern_a_modality_count_for_it() -> None:
    options = {"fps": 2, "images_kwargs": {"a": 1}, "videos_kwargs": {"b": 2}}
    assert for_modality(options, "image") == {"fps": 2, "images_kwargs": {"a": 1}}
    assert for_modality(options, "video") == {"fps": 2, "videos_kwargs": {"b": 2}}
    assert for_modality(options, "vision_chunk") == options


DEFAULT = {"shortest_edge": 32, "longest_edge": 1024}


@pytest.mark.parametrize(
    ("options", "default", "shortest", "longest"),
    [
        ({}, DEFAULT, 32, 1024),
        ({"size": {"shortest_edge": 64}}, DEFAULT, 64, 1024),
        (
            {"size": {"shortest_edge": 64, "longest_edge": 2048}, "min_pixels": 128, "max_pixels": 4096},
            DEFAULT,
            128,
            4096,
        ),
        ({"size": {"shortest_edge": 64}, "max_pixels": 4096}, None, 64, 4096),
        (
            {"size": {"shortest_edge": 64, "longest_edge": 2048}, "min_pixels": None, "max_pixels": 0},
            DEFAULT,
            64,
            0,
        ),
    ],
)
def test_what_bounds_options_come_to(options: Any, default: Any, shortest: int, longest: int) -> None:
    assert pixel_bounds(options, default) == {"shortest_edge": shortest, "longest_edge": longest}
