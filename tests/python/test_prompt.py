"""Prompt updates: vLLM's facts through the Python surface, texts and tokenizers, masks, errors."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from mmcpp import LimitError
from mmcpp.prompt import (
    END,
    START,
    BoundUpdate,
    BoundUpdates,
    Content,
    PromptUpdate,
    bind_updates,
    detect_updates,
    expand_prompt,
    find_matches,
    find_placeholders,
    plan_updates,
    prefix,
    replace_matches,
)
from prompt_cases import CASES, Json, Words, bound


def triples(placed: Json) -> Json:
    return {
        modality: [
            [item, r.offset, r.length]
            for item, r in (ranges.items() if isinstance(ranges, dict) else enumerate(ranges))
        ]
        for modality, ranges in placed.items()
    }


@pytest.mark.parametrize("compat", [None, "vllm"])
def test_token_plans_equal_the_reference_or_are_listed(compat: Json) -> None:
    for fact in CASES["plans"]:
        expected = fact.get("fixed", fact) if compat is None else fact
        plan = plan_updates(fact["prompt"], bound(fact["updates"]), compat=compat)
        tokens, placed = plan.apply()
        assert list(tokens) == expected["tokens"], fact
        assert plan.applied == expected["applied"], fact
        assert triples(placed) == expected["placed"], fact


def test_items_are_listed_in_item_order_where_vllm_lists_them_by_position() -> None:
    listed = [fact for fact in CASES["plans"] if "list_order" in fact]
    assert listed
    for fact in listed:
        _, placed = plan_updates(fact["prompt"], bound(fact["updates"]), compat="vllm").apply()
        for modality, order in fact["list_order"].items():
            by_position = sorted(placed[modality], key=lambda item: placed[modality][item].offset)
            assert by_position == order
            assert list(placed[modality]) == sorted(order)


@pytest.mark.parametrize("compat", [None, "vllm"])
def test_text_plans_equal_the_reference(compat: Json) -> None:
    for fact in CASES["text_plans"]:
        plan = plan_updates(fact["prompt"], bound(fact["updates"]), compat=compat)
        assert plan.apply()[0] == fact["text"]
        assert plan.applied == fact["applied"]


def test_matches_equal_the_reference() -> None:
    for fact in CASES["matches"]:
        found = find_matches(fact["prompt"], fact["target"], start=fact["start"])
        assert [list(span) for span in found] == fact["spans"]
    for fact in CASES["negative_start"]:
        with pytest.raises(ValueError, match="start must not be negative, got -1"):
            find_matches(fact["prompt"], fact["target"], start=fact["start"])
    for fact in CASES["replaced"]:
        assert replace_matches(fact["prompt"], fact["target"], fact["content"]).tolist() == fact["result"]
    for fact in CASES["text_matches"]:
        if isinstance(fact["target"], str) and fact["target"]:
            assert [list(span) for span in find_matches(fact["prompt"], fact["target"])] == fact["spans"]


def test_found_placeholders_equal_the_reference() -> None:
    for fact in CASES["found"]:
        updates = BoundUpdates(
            {
                modality: [[BoundUpdate("replace", [], Content(content)) for content in contents] for contents in items]
                for modality, items in fact["contents"].items()
            }
        )
        assert triples(find_placeholders(fact["prompt"], updates)) == fact["placed"]


def test_detection_equals_the_reference() -> None:
    for fact in CASES["detected"]:
        detection = detect_updates(fact["prompt"], bound(fact["updates"]))
        assert triples(detection.found) == fact["found"]
        assert (detection.state, detection.ambiguous) == (fact["state"], fact["ambiguous"])
        assert (not detection.missing) == fact["all_found"]


def test_detection_names_what_is_missing_and_where() -> None:
    updates = bound({"image": [[["replace", [3], [1, 3, 2]]], [["replace", [3], [1, 3, 3, 2]]]], "video": []})
    detection = detect_updates([9, 1, 3, 2, 3, 3], updates)
    assert detection.state == "partial"
    [missing] = detection.missing
    assert (missing.modality, missing.item, missing.target, missing.content_start) == ("image", 1, (4, 5), None)
    [surplus] = detection.surplus
    assert (surplus.modality, surplus.start, surplus.end) == ("image", 5, 6)


def test_a_target_inside_a_token_is_found_as_text() -> None:
    facts = CASES["hidden_in_a_token"]
    for fact in facts["cases"]:
        updates = bound(fact["updates"], Words(facts["merges"]))
        expanded = expand_prompt(fact["prompt"], updates)
        assert expanded.ids is not None
        assert expanded.ids.tolist() == fact["tokens"]
        assert triples(expanded.placeholders) == fact["placed"]


def test_a_target_that_is_nowhere_is_refused_after_the_text_was_tried() -> None:
    updates = bound({"image": [[["replace", [101, 111, 111], [200]]]]}, Words(CASES["hidden_in_a_token"]["merges"]))
    with pytest.raises(ValueError, match=r"1 image item\(s\) but 0 placeholder\(s\): item 0 has no place") as raised:
        expand_prompt([98, 97, 114], updates)
    assert raised.value.item == 0  # type: ignore[attr-defined]


def test_content_lost_in_encoding_is_refused() -> None:
    # What stays of "fox" is encoded together with the content, as the one token of "food".
    updates = bound({"image": [[["replace", "x", "od"]]]}, Words({"food": [1000], "fox": [1001]}))
    with pytest.raises(ValueError, match="encoded again"):
        expand_prompt([1001], updates)


QWEN = {"image": 7, "video": 8}


def qwen(images: int, videos: int = 0, tokens: Callable[[int], int] = lambda item: 3 + item) -> BoundUpdates:
    rules = [
        PromptUpdate.replacement(modality, [pad], lambda item, pad=pad: [pad] * tokens(item))
        for modality, pad in QWEN.items()
    ]
    return bind_updates(rules, {"image": images, "video": videos})


@pytest.mark.parametrize("items", range(6))
@pytest.mark.parametrize("placeholders", range(6))
def test_counts_that_differ_are_refused_by_name(items: int, placeholders: int) -> None:
    prompt = [1, *[7] * placeholders, 2]
    if items == placeholders:
        expanded = expand_prompt(prompt, qwen(items))
        assert [r.length for r in expanded.placeholders.get("image", [])] == [3 + i for i in range(items)]
        assert all(a.end == b.offset for a, b in itertools.pairwise(expanded.placeholders.get("image", [])))
        return
    with pytest.raises(ValueError, match=rf"{items} image item\(s\) but {placeholders} placeholder\(s\)"):
        expand_prompt(prompt, qwen(items))


def test_a_placeholder_that_a_user_typed_is_refused_or_left_as_it_is() -> None:
    typed = [5, 7, 6, 7, 2]
    with pytest.raises(ValueError, match=r"1 image item\(s\) but 2 placeholder\(s\): the one at token 3"):
        expand_prompt(typed, qwen(1))
    with pytest.raises(ValueError, match=r"0 video item\(s\) but 1 placeholder\(s\): the one at token 1"):
        expand_prompt([5, 8], qwen(0))
    allowed = expand_prompt(typed, qwen(1), surplus="allow")
    assert allowed.ids is not None
    assert allowed.ids.tolist() == [5, 7, 7, 7, 6, 7, 2]
    assert expand_prompt(typed, qwen(1), compat="vllm").ids.tolist() == [5, 7, 7, 7, 6, 7, 2]  # type: ignore[union-attr]


def test_several_modalities_keep_their_own_order() -> None:
    expanded = expand_prompt([7, 8, 7], qwen(2, 1))
    assert triples(expanded.placeholders) == {"image": [[0, 0, 3], [1, 6, 4]], "video": [[0, 3, 3]]}


def test_functions_of_the_item_make_numbered_targets() -> None:
    rule = PromptUpdate.replacement("image", lambda i: f"<|image_{i + 1}|>", lambda i: "X" * (i + 1))
    updates = bind_updates([rule], {"image": 2})
    expanded = expand_prompt("b <|image_2|> a <|image_1|>", updates)
    assert (expanded.text, expanded.ids) == ("b XX a X", None)
    assert triples(expanded.placeholders) == {"image": [[0, 7, 1], [1, 2, 2]]}


def test_texts_are_counted_in_characters() -> None:
    updates = bind_updates([PromptUpdate.replacement("image", "🖼", "xy")], {"image": 1})
    expanded = expand_prompt("é🖼!", updates)
    assert expanded.text == "éxy!"
    assert triples(expanded.placeholders) == {"image": [[0, 1, 2]]}


def test_a_text_prompt_is_encoded_where_there_is_a_tokenizer() -> None:
    rule = PromptUpdate.replacement("image", "<i>", Content.select_token_id([1, 9, 9, 2], 9))
    updates = bind_updates([rule], {"image": 1}, tokenizer=Words({"<i>": [50]}))
    expanded = expand_prompt("a<i>", updates)
    assert expanded.ids is not None
    assert expanded.ids.tolist() == [0, 97, 1, 9, 9, 2]
    [image] = expanded.placeholders["image"]
    assert (image.offset, image.length, image.num_embeds) == (2, 4, 2)
    bare = expand_prompt("a<i>", updates, add_special_tokens=False)
    assert bare.ids is not None
    assert bare.ids.tolist() == [97, 1, 9, 9, 2]


def test_texts_need_a_tokenizer_where_ids_are_asked_for() -> None:
    updates = bind_updates([PromptUpdate.replacement("image", "<i>", [1])], {"image": 1})
    with pytest.raises(ValueError, match="a tokenizer is needed to encode '<i>'"):
        expand_prompt([1, 2], updates)
    with pytest.raises(ValueError, match=r"a tokenizer is needed to decode \[1\]"):
        expand_prompt("<i>", updates)


def test_an_empty_content_is_refused() -> None:
    updates = bind_updates([PromptUpdate.replacement("image", [7], [])], {"image": 1})
    with pytest.raises(ValueError, match="the content of image item 0 is empty"):
        expand_prompt([7], updates)


def test_a_mask_of_another_length_is_refused() -> None:
    content = Content([1, 2], lambda ids, _: [True])
    updates = bind_updates([PromptUpdate.replacement("image", [7], content)], {"image": 1})
    with pytest.raises(ValueError, match=r"a mask of 1 for a content of 2 token\(s\)"):
        expand_prompt([7], updates)


def test_the_length_is_limited() -> None:
    assert expand_prompt([7, 1], qwen(1), max_tokens=4).ids is not None
    with pytest.raises(LimitError, match="expands to 4 tokens, the limit is 3"):
        expand_prompt([7, 1], qwen(1), max_tokens=3)


def test_prompts_are_any_sequence_of_ints() -> None:
    for prompt in ([7, 1], (7, 1), np.array([7, 1]), range(7, 9)):
        ids = expand_prompt(prompt, qwen(1), surplus="allow").ids
        assert ids is not None
        assert ids.dtype == np.int64
        assert ids[:3].tolist() == [7, 7, 7]
    with pytest.raises(TypeError):
        expand_prompt([1.5], qwen(1))  # type: ignore[list-item]
    with pytest.raises(ValueError, match="one dimension"):
        expand_prompt(np.zeros((2, 2), dtype=np.int64), qwen(1))
    with pytest.raises(OverflowError):
        expand_prompt([2**70], qwen(1))


def test_places_apply_to_all_items_in_order() -> None:
    rules = {
        "start": PromptUpdate.insertion("image", START, lambda i: [i]),
        "end": PromptUpdate.insertion("image", END, lambda i: [i]),
        "prefix": PromptUpdate.replacement("image", prefix([5]), lambda i: [i]),
    }
    got = {name: expand_prompt([5, 6], bind_updates([rule], {"image": 2})).ids for name, rule in rules.items()}
    assert {name: ids.tolist() for name, ids in got.items() if ids is not None} == {
        "start": [0, 1, 5, 6],
        "end": [5, 6, 0, 1],
        "prefix": [5, 0, 1, 6],
    }


def test_a_plan_can_be_read_before_it_is_applied() -> None:
    plan = plan_updates([7, 7], qwen(3))
    assert plan.applied == {"image": [0, 0, None], "video": []}
    assert not plan.complete
    assert plan.surplus == []
    with pytest.raises(ValueError, match="item 2 has no place"):
        plan.check()
    tokens, placed = plan.apply()
    assert list(tokens) == [7] * 7
    assert triples(placed) == {"image": [[0, 0, 3], [1, 3, 4]]}
