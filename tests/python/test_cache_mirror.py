"""The cache in two halves: vLLM's traces where it does not fail, and what it fails at."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mmcpp.cache import CacheMissError
from mmcpp.cache_mirror import ReceiverCache, SenderCache

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_identity_cases.json").read_text())


@pytest.mark.parametrize("fact", CASES["mirror"])
def test_traces_equal_the_reference_until_it_fails(fact: Any) -> None:
    """vLLM evicts what the request found and then asserts that it is there; here it is kept."""
    sender: SenderCache[str] = SenderCache(fact["capacity"])
    receiver: ReceiverCache[str] = ReceiverCache()
    for step in fact["steps"]:
        keys = [key for key, _ in step["request"]]
        assert [i not in sender.missing(keys) for i in range(len(keys))] == step["held"]
        message = sender.send([(key, size, key.lower()) for key, size in step["request"]])
        assert receiver.receive(message) == [key.lower() for key in keys]
        assert receiver.keys() == set(sender.keys_by_age())
        assert sender.bytes <= fact["capacity"]
        if "assert" in step["sent"]:
            break
        assert [part.sent for part in message.parts] == step["sent"]
        assert sender.keys_by_age() == step["order"] == step["receiver_order"]
        assert sender.bytes == step["bytes"]


def test_only_two_traces_fail_in_the_reference() -> None:
    failing = [fact for fact in CASES["mirror"] if any("assert" in step["sent"] for step in fact["steps"])]
    assert (len(CASES["mirror"]), len(failing)) == (19, 2)


def test_a_request_larger_than_the_cache_is_served() -> None:
    sender: SenderCache[int] = SenderCache(10)
    receiver: ReceiverCache[int] = ReceiverCache()
    items = [(str(i % 20), 4, i % 20) for i in range(40)]
    assert receiver.receive(sender.send(items)) == [i % 20 for i in range(40)]
    assert sender.bytes == 8
    assert receiver.keys() == set(sender.keys_by_age())
    assert receiver.receive(sender.send([("x", 11, 7)])) == [7], "an item larger than the cache"


def test_a_miss_at_the_sender_is_typed_and_changes_nothing() -> None:
    sender: SenderCache[str] = SenderCache(10)
    sender.send([("a", 5, "a"), ("b", 5, "b")])
    with pytest.raises(CacheMissError) as raised:
        sender.send([("b", 5, None), ("x", 5, None), ("x", 5, None)])
    assert raised.value.keys == ["x"]
    assert sender.keys_by_age() == ["a", "b"]


def test_a_receiver_that_was_restarted_is_sent_everything_again() -> None:
    sender: SenderCache[str] = SenderCache(100)
    ReceiverCache[str]().receive(sender.send([("a", 1, "a"), ("b", 1, "b")]))
    restarted: ReceiverCache[str] = ReceiverCache()
    with pytest.raises(CacheMissError) as raised:
        restarted.receive(sender.send([("a", 1, None), ("c", 1, "c")]))
    assert raised.value.keys == ["a"]
    assert raised.value.retryable
    assert restarted.keys() == {"c"}, "what was sent is stored"
    sender.forget(raised.value.keys)
    assert sender.missing(["a", "c"]) == [0]
    assert restarted.receive(sender.send([("a", 1, "a"), ("c", 1, None)])) == ["a", "c"]


def test_a_sender_that_was_restarted_finds_an_empty_receiver() -> None:
    receiver: ReceiverCache[str] = ReceiverCache()
    receiver.receive(SenderCache[str](10).send([("a", 1, "old")]))
    assert receiver.receive(SenderCache[str](10).send([("b", 1, "new")])) == ["new"]
    assert receiver.keys() == {"b"}


def test_a_lost_message_is_noticed() -> None:
    sender: SenderCache[str] = SenderCache(10)
    receiver: ReceiverCache[str] = ReceiverCache()
    receiver.receive(sender.send([("a", 5, "a"), ("b", 5, "b")]))
    sender.send([("c", 5, "c")])  # lost; it would have dropped a
    with pytest.raises(CacheMissError) as raised:
        receiver.receive(sender.send([("c", 5, None), ("b", 5, None)]))
    assert raised.value.keys == ["c", "b"]


def test_the_receiver_never_holds_more_whatever_is_lost_or_restarted() -> None:
    rng = random.Random(3)
    sender: SenderCache[str] = SenderCache(30)
    receiver: ReceiverCache[str] = ReceiverCache()
    for _ in range(3000):
        if rng.random() < 0.01:
            receiver = ReceiverCache()
        if rng.random() < 0.01:
            sender = SenderCache(30)
        keys = [str(rng.randrange(25)) for _ in range(rng.randint(1, 6))]
        for _attempt in range(3):
            missing = set(sender.missing(keys))
            items = [(key, 1 + int(key) % 9, key if i in missing else None) for i, key in enumerate(keys)]
            message = sender.send(items)
            if rng.random() < 0.02:
                continue  # lost on the way
            try:
                assert receiver.receive(message) == keys
            except CacheMissError as miss:
                sender.forget(miss.keys)
                continue
            break
        assert receiver.keys() <= set(sender.keys_by_age()), "never more than the sender thinks"
        assert sender.bytes <= 30
