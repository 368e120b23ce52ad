"""Rules and their binding: masks as in vLLM, items without a rule, alternatives."""

import pytest

from mmcpp.prompt_updates import BoundUpdate, BoundUpdates, Content, Place, PromptUpdate, bind_updates, prefix
from prompt_cases import CASES, Words, bound


def test_masks_equal_the_reference() -> None:
    for fact in CASES["masks"]:
        content = Content.select_token_ids(fact["tokens"], fact["ids"])
        [[[mask]]] = BoundUpdates({"image": [[BoundUpdate("replace", [1], content)]]}).masks
        assert mask is not None
        assert mask.tolist() == fact["mask"]


def test_text_masks_equal_the_reference() -> None:
    for fact in CASES["text_masks"]:
        tokenizer = Words({word: [token] for word, token in fact["vocab"].items()})
        content = Content.select_text(fact["content"], fact["text"])
        updates = BoundUpdates({"image": [[BoundUpdate("replace", [1], content)]]}, tokenizer=tokenizer)
        [[[mask]]] = updates.masks
        assert mask is not None
        assert mask.tolist() == fact["mask"]


def test_items_without_a_rule_are_refused() -> None:
    with pytest.raises(ValueError, match=r"2 audio item\(s\) but no update"):
        bind_updates([PromptUpdate.replacement("image", [7], [7])], {"audio": 2})
    with pytest.raises(ValueError, match="-1 image items"):
        bind_updates([PromptUpdate.replacement("image", [7], [7])], {"image": -1})


def test_only_the_applied_alternatives_are_kept() -> None:
    updates = bound({"image": [[["replace", [1], [1]], ["replace", [2], [2]]], [["replace", [1], [3]]]]})
    only = updates.only([[1, None]])
    assert [[u.content.full for u in item] for item in only.items["image"]] == [[[2]], [[3]]]


def test_a_prefix_names_its_sequence() -> None:
    assert isinstance(prefix("a"), Place)
    assert prefix("a").of == "a"
