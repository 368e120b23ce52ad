"""Faults that users of multimodal servers have met in prompts, positions and caches, each kind as a whole;
tests/arch/test_reports.py says which is held by which."""

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp import _mmcpp
from mmcpp.cache import CacheMissError, ItemCache
from mmcpp.hashing import ItemScope, hash_value
from mmcpp.prompt import PromptUpdate, bind_updates, expand_prompt

IMAGE = 7


def expand(prompt: list[int], lengths: list[int]) -> Any:
    rule = PromptUpdate.replacement("image", [IMAGE], lambda item: [IMAGE] * lengths[item])
    return expand_prompt(prompt, bind_updates([rule], {"image": len(lengths)}))


@pytest.mark.parametrize("items", range(6))
@pytest.mark.parametrize("placeholders", range(6))
@pytest.mark.parametrize("between", [[], [1, 2]], ids=["side by side", "apart"])
def test_any_number_of_items_for_any_number_of_placeholders(items: int, placeholders: int, between: list[int]) -> None:
    prompt = ([IMAGE, *between] * placeholders)[: (1 + len(between)) * placeholders]
    lengths = [2 + i for i in range(items)]
    if items != placeholders:
        with pytest.raises(ValueError, match="image") as raised:
            expand(prompt, lengths)
        assert str(items) in str(raised.value)
        assert str(placeholders) in str(raised.value)
        return
    result = expand(prompt, lengths)
    at = 0
    for where, length in zip(result.placeholders.get("image", []), lengths, strict=True):
        assert (where.offset, where.length) == (at, length)
        at += length + len(between)
    assert len(result.ids) == at


GRID = (1, 4, 6)
TOKENS = 2 * 3


def positions(before: int, behind: int, images: int = 1) -> tuple[Any, int]:
    offsets, at = [], before
    for _ in range(images):
        offsets.append((at, at + TOKENS - 1))
        at += TOKENS
    rows, delta = _mmcpp.mrope_positions(at + behind, offsets, [GRID] * images, 2)
    return rows.reshape(3, -1), delta


@pytest.mark.parametrize(("before", "behind"), [(0, 0), (0, 5), (15, 0), (15, 5), (30, 30)])
def test_a_still_picture_stands_at_one_time_and_the_delta_is_the_whole_prompt_s(before: int, behind: int) -> None:
    """Whatever part of the prompt an engine looks at first: positions are sliced, and the delta stays."""
    rows, delta = positions(before, behind)
    picture = rows[:, before : before + TOKENS]
    assert set(picture[0]) == {before}
    assert picture[1].tolist() == [before + i // 3 for i in range(TOKENS)]
    assert picture[2].tolist() == [before + i % 3 for i in range(TOKENS)]
    assert rows[:, before + TOKENS :].tolist() == [[before + 3 + i for i in range(behind)]] * 3
    assert delta == rows.max() + 1 - rows.shape[1]


def test_two_pictures_follow_each_other() -> None:
    rows, delta = positions(2, 1, images=2)
    assert set(rows[0, 2:8]) == {2}
    assert set(rows[0, 8:14]) == {5}
    assert delta == rows.max() + 1 - rows.shape[1]


def test_a_request_of_twenty_pictures_in_a_cache_of_three() -> None:
    """With repeats, from eight threads, with room for nothing at all, and with items larger than the room."""
    for room in (3000, 0, 999):
        cache: ItemCache[Any] = ItemCache(room)
        wrong: list[Any] = []

        def work(seed: int, cache: ItemCache[Any] = cache, wrong: list[Any] = wrong) -> None:
            rng = random.Random(seed)
            for _ in range(20):
                numbers = [rng.randrange(12) for _ in range(20)]
                values = cache.get_or_process(
                    [str(n) for n in numbers],
                    lambda missing, numbers=numbers: [np.full(1000, numbers[i], np.uint8) for i in missing],
                    timeout_s=60,
                )
                wrong.extend(n for n, value in zip(numbers, values, strict=True) if (value != n).any())

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert cache.stats().bytes <= room
        assert cache.stats().pinned_bytes == 0


def test_handles_are_let_go_of_in_any_order() -> None:
    for order in ((0, 1), (1, 0)):
        cache: ItemCache[Any] = ItemCache(1000)
        sessions = [cache.session(["a"]), cache.session(["a"])]
        sessions[0].publish(0, b"value")
        sessions[1].wait(0)
        for i in order:
            sessions[i].close()
        assert cache.stats().pinned_bytes == 0
        assert cache.contains("a")


def test_a_client_s_name_is_bound_to_what_it_named_first() -> None:
    cache: ItemCache[str] = ItemCache(1000)
    key = ItemScope("model", tenant="one").uuid_key("a")
    assert cache.get_or_process([key], lambda missing: ["small"], contents=["uint8 (10, 10, 3)"]) == ["small"]
    with pytest.raises(ValueError, match="stands for another content"):
        cache.get_or_process([key], lambda missing: ["large"], contents=["uint8 (1000, 1000, 3)"])
    assert key != ItemScope("model", tenant="two").uuid_key("a")
    assert ItemScope("model").uuid_key("") != ItemScope("model").uuid_key("a")
    with pytest.raises(CacheMissError):
        cache.require([ItemScope("model", tenant="two").uuid_key("a")])


def test_identities_are_wide_and_see_the_form_of_the_content() -> None:
    """Five thousand pictures, and pictures of the same bytes in another form, have as many keys."""
    scope = ItemScope("model")
    keys = {scope.key(np.full((2, 2, 3), [i % 256, i // 256, 0], np.uint8)) for i in range(5000)}
    assert len(keys) == 5000
    assert all(len(key) == 64 for key in keys), "256 bits"
    base = np.arange(30 * 150 * 3, dtype=np.uint32).astype(np.uint8)
    forms = [base.reshape(30, 150, 3), base.reshape(150, 30, 3), base.reshape(30, 150, 3)[:, :, ::-1], base]
    assert len({hash_value(form) for form in forms}) == 4
    assert hash_value(forms[2]) == hash_value(forms[2].copy()), "whatever the memory's layout"


def test_what_stands_behind_an_address_is_known_by_its_bytes() -> None:
    """Neither an address nor a path is an identity: both may name other content later."""
    with pytest.raises(TypeError):
        ItemScope("model").key(Path("a.png"))
    assert ItemScope("model").key(b"red") != ItemScope("model").key(b"blue")
