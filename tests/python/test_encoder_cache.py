"""The books of an encoder's cache: vLLM's traces, and a model of a few lines beside random schedules."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mmcpp.encoder_cache import EncoderCache

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_processing_cases.json").read_text())


def step(books: EncoderCache, requests: Any, do: str, arguments: list[Any]) -> None:
    if do in {"hold", "make_room", "add", "release"}:
        request, index, *rest = arguments
        key, size = requests[request][index]
        if do == "hold":
            assert books.hold(request, index, key) == rest[0]
        elif do == "make_room":
            budget, scheduled, expected = rest
            assert books.make_room(size, budget, scheduled) == expected
        elif do == "add":
            books.add(request, index, key, size)
        else:
            books.release(request, index)
    elif do == "release_request":
        books.release_request(*arguments)
    elif do == "take_evicted":
        assert books.take_evicted() == arguments[0]
    elif do in {"free", "available"}:
        assert getattr(books, do) == arguments[0]
    else:
        state = "absent" if arguments[0] not in books else "held" if books.is_held(arguments[0]) else "unheld"
        assert state == do


@pytest.mark.parametrize("case", CASES["encoder_cache"], ids=lambda case: case["name"])
def test_traces_equal_vllm_s(case: Any) -> None:
    books = EncoderCache(case["capacity"])
    for do, *arguments in case["steps"]:
        step(books, case["requests"], do, arguments)


def test_two_adapters_of_one_item_are_two_entries() -> None:
    """An adapter that changes the encoder is part of the key; the item's own cache knows nothing of it."""
    books = EncoderCache(10)
    books.add("r1", 0, "12345:item", 4)
    assert not books.hold("r2", 0, "67890:item")
    books.add("r2", 0, "67890:item", 4)
    assert books.free == 2


def test_what_does_not_fit_is_refused() -> None:
    books = EncoderCache(10)
    books.add("r", 0, "a", 4)
    with pytest.raises(ValueError, match="a is there already"):
        books.add("r", 1, "a", 4)
    with pytest.raises(ValueError, match="7 embeddings of b, with room for 6"):
        books.add("r", 1, "b", 7)
    with pytest.raises(ValueError, match="room for -1"):
        EncoderCache(-1)
    books.release("nobody", 0)
    books.release("r", 5)
    books.release_request("nobody")
    assert books.is_held("a")


def test_the_numbers_hold_under_any_schedule() -> None:
    rng = random.Random(5)
    books = EncoderCache(30)
    sizes = {str(n): rng.randint(1, 9) for n in range(20)}
    held: dict[tuple[str, int], str] = {}
    gone: set[str] = set()
    for _ in range(5000):
        request, index, key = str(rng.randrange(6)), rng.randrange(3), rng.choice(list(sizes))
        if rng.random() < 0.5 and (request, index) not in held:
            known = key in books
            if books.hold(request, index, key):
                assert known
                held[request, index] = key
            elif books.make_room(sizes[key], 100):
                books.add(request, index, key, sizes[key])
                held[request, index] = key
        elif rng.random() < 0.2:
            books.release_request(request)
            held = {who: what for who, what in held.items() if who[0] != request}
        else:
            books.release(request, index)
            held.pop((request, index), None)
        gone.update(books.take_evicted())
        here = [name for name in sizes if name in books]
        gone -= set(here)
        assert {name for name in here if books.is_held(name)} == set(held.values())
        assert books.free == 30 - sum(sizes[name] for name in here)
        assert books.available == 30 - sum(sizes[name] for name in set(held.values()))
    assert gone
