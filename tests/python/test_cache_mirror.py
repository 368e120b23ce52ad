"""The cache in two halves: vLLM's traces where it does not fail, and what it fails at."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mmcpp.cache import CacheMissError
from mmcpp.cache_mirror import Message, Part, ReceiverCache, SenderCache

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


def whole(key: str, data: str | None, number: int = 1) -> Message[str]:
    parts = [Part(key, sent=data is not None, data=data, stored=data is not None)]
    return Message("sender", number, parts)


def test_a_miss_is_answered_by_sending_again_as_in_vllm() -> None:
    sender: SenderCache[str] = SenderCache(100)
    receiver: ReceiverCache[str] = ReceiverCache()
    with pytest.raises(CacheMissError) as raised:
        receiver.receive(whole("image_A", None))
    assert raised.value.keys == ["image_A"]
    receiver = ReceiverCache()
    assert sender.send([("image_A", 4, "item")]).parts[0].sent  # and lost
    assert not sender.send([("image_A", 4, "item")]).parts[0].sent
    sender.forget(["image_A"])
    assert sender.missing(["image_A"]) == [0]
    assert receiver.receive(sender.send([("image_A", 4, "item")])) == ["item"]
    assert receiver.receive(sender.send([("image_A", 4, None)])) == ["item"]


def test_what_is_sent_again_replaces_what_was_there() -> None:
    receiver: ReceiverCache[str] = ReceiverCache()
    assert receiver.receive(whole("k", "small", 1)) == ["small"]
    assert receiver.receive(whole("k", "large", 2)) == ["large"]
    assert receiver.receive(whole("k", None, 3)) == ["large"]


def test_all_that_a_request_misses_is_named_and_all_that_it_brings_is_kept() -> None:
    receiver: ReceiverCache[str] = ReceiverCache()
    sent = [("A", True), ("B", False), ("C", True), ("D", False), ("E", False)]
    parts = [Part(key, sent=here, data=key if here else None, stored=here) for key, here in sent]
    with pytest.raises(CacheMissError) as raised:
        receiver.receive(Message("sender", 1, parts))
    assert raised.value.keys == ["B", "D", "E"]
    assert receiver.keys() == {"A", "C"}


def test_an_adapter_is_no_part_of_the_key() -> None:
    """An item is stored under its own key; an adapter's name is put before it for the encoder's cache alone."""
    sender: SenderCache[str] = SenderCache(100)
    receiver: ReceiverCache[str] = ReceiverCache()
    for adapter, sent in (("12345", True), ("67890", False)):
        key = f"{adapter}:H".partition(":")[2]
        message = sender.send([(key, 4, "item")])
        assert message.parts[0].sent == sent
        assert receiver.receive(message) == ["item"]
    assert receiver.keys() == {"H"}


def test_the_second_copy_in_a_request_is_not_sent() -> None:
    sender: SenderCache[str] = SenderCache(100)
    message = sender.send([("a", 4, "a"), ("a", 4, "a"), ("b", 4, "b")])
    assert [part.sent for part in message.parts] == [True, False, True]
    assert [part.sent for part in sender.send([("a", 4, "a")]).parts] == [False]
