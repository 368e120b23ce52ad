"""The item cache: who makes what, what is kept, levels below it, and sixteen threads at once."""

import random
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mmcpp.cache import (
    CacheMissError,
    CacheStats,
    CacheTimeoutError,
    ItemCache,
    item_bytes,
)
from mmcpp.cache_format import pack


class Maker:
    """Makes arrays by key, and remembers for what it was asked."""

    def __init__(self, size: int = 1000) -> None:
        self.size = size
        self.batches: list[list[str]] = []

    def of(self, keys: Sequence[str]) -> Any:
        def process(missing: list[int]) -> list[Any]:
            self.batches.append([keys[i] for i in missing])
            return [np.full(self.size, int(keys[i]), np.uint8) for i in missing]

        return process


def request(cache: ItemCache[Any], maker: Maker, *numbers: int) -> list[Any]:
    keys = [str(number) for number in numbers]
    values = cache.get_or_process(keys, maker.of(keys))
    assert [value[0] for value in values] == list(numbers)
    return values


def test_each_item_is_made_once_in_one_batch() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    maker = Maker()
    first = request(cache, maker, 1, 2, 1)
    second = request(cache, maker, 2, 3)
    assert maker.batches == [["1", "2"], ["3"]]
    assert first[0] is first[2], "the same picture twice is processed once"
    assert second[0] is first[1], "a hit is the object itself, not a copy"
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.repeated, stats.entries) == (1, 3, 1, 3)
    assert stats.bytes == 3000
    assert stats.hit_bytes == 1000
    assert stats.hit_rate == pytest.approx(2 / 5)


def test_all_known_means_no_call() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    maker = Maker()
    request(cache, maker, 1, 2)
    request(cache, maker, 2, 1)
    assert len(maker.batches) == 1
    assert cache.get_or_process([], maker.of([])) == []


def test_the_byte_bound_evicts_the_least_recently_used() -> None:
    cache: ItemCache[Any] = ItemCache(3000)
    maker = Maker()
    request(cache, maker, 1, 2, 3)
    assert cache.touch("1")
    request(cache, maker, 4)
    assert [cache.contains(str(i)) for i in (1, 2, 3, 4)] == [True, False, True, True]
    assert cache.stats().evicted == 1
    assert not cache.touch("2")


def test_a_request_never_evicts_what_it_holds() -> None:
    cache: ItemCache[Any] = ItemCache(3000)
    maker = Maker()
    request(cache, maker, *range(20), *range(20))
    assert len(maker.batches) == 1
    assert cache.stats().bytes == 3000
    assert cache.stats().not_stored == 17
    assert cache.stats().pinned_bytes == 0


def test_no_room_at_all_is_no_error() -> None:
    for size in (0, 999):
        cache: ItemCache[Any] = ItemCache(size)
        maker = Maker()
        request(cache, maker, 1, 1)
        request(cache, maker, 1)
        assert maker.batches == [["1"], ["1"]]
        assert cache.stats().bytes == 0


def test_a_failed_request_leaves_nothing_behind() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)

    def fail(missing: list[int]) -> list[Any]:
        raise RuntimeError("broken picture")

    with pytest.raises(RuntimeError, match="broken picture"):
        cache.get_or_process(["1"], fail)
    assert cache.stats().entries == 0
    maker = Maker()
    request(cache, maker, 1)  # nobody holds the key
    with pytest.raises(ValueError, match="0 items were made for 1 keys"):
        cache.get_or_process(["2"], lambda missing: [])
    assert cache.stats().pinned_bytes == 0


def test_views_of_a_batch_are_stored_alone() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    batch = np.zeros((3, 1000), np.uint8)
    cache.get_or_process(["a", "b", "c"], lambda missing: [batch[i] for i in missing])
    assert cache.stats().bytes == 3000
    own = np.zeros(1000, np.uint8)
    [kept] = cache.get_or_process(["d"], lambda missing: [own])
    assert kept is own


def test_none_is_a_value() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    assert cache.get_or_process(["a"], lambda missing: [None]) == [None]
    assert cache.require(["a"]) == [None]


def test_items_by_key_alone() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    request(cache, Maker(), 1)
    assert cache.require(["1"])[0][0] == 1
    with pytest.raises(CacheMissError, match=r"2 item\(s\) are not cached: x, y") as raised:
        cache.require(["1", "x", "y"])
    assert raised.value.keys == ["x", "y"]
    assert raised.value.retryable
    assert isinstance(raised.value, LookupError)


def test_a_key_that_was_used_for_other_content_is_refused() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    make = Maker()
    cache.get_or_process(["7"], make.of(["7"]), contents=["10x10"])
    with pytest.raises(ValueError, match='"7" stands for another content'):
        cache.get_or_process(["7"], make.of(["7"]), contents=["1000x1000"])
    cache.get_or_process(["7"], make.of(["7"]), contents=["10x10"])
    assert len(make.batches) == 1
    with pytest.raises(ValueError, match="0 contents for 1 keys"):
        cache.session(["7"], contents=[])


def test_invalidation() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    maker = Maker()
    request(cache, maker, 1, 2)
    assert cache.invalidate("1")
    assert not cache.invalidate("1")
    request(cache, maker, 1)
    assert maker.batches == [["1", "2"], ["1"]]
    cache.clear()
    assert cache.stats().entries == 0


def test_sessions_hold_until_they_are_closed() -> None:
    cache: ItemCache[Any] = ItemCache(1000)
    with cache.session(["a", "b"]) as session:
        assert session.missing == [0, 1]
        session.publish(0, np.zeros(1000, np.uint8))
        assert session.missing == [1]
        with pytest.raises(LookupError, match="item 1 is not there yet"):
            session.value(1)
        with pytest.raises(ValueError, match="not this session's to make"):
            session.publish(0, np.zeros(1))
        with pytest.raises(IndexError):
            session.value(5)
        assert cache.stats().pinned_bytes == 1000
    assert cache.stats().pinned_bytes == 0
    assert cache.session(["b"]).missing == [0], "what was not published is anyone's to make"


def test_waiting_is_bounded() -> None:
    cache: ItemCache[Any] = ItemCache(1000)
    with cache.session(["a"]) as maker, cache.session(["a"]) as waiter:
        assert waiter.missing == []
        with pytest.raises(CacheTimeoutError, match="not made within 0.01 s"):
            waiter.wait(0, 0.01)
        maker.publish(0, "value")
        assert waiter.wait(0)
        assert waiter.value(0) == "value"


def test_a_waiter_takes_over() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    entered, leave = threading.Event(), threading.Event()

    def fail(missing: list[int]) -> list[Any]:
        entered.set()
        leave.wait(60)
        raise RuntimeError("gave up")

    def first() -> None:
        with pytest.raises(RuntimeError):
            cache.get_or_process(["5"], fail)

    maker = Maker()
    results: list[Any] = []
    threads = [threading.Thread(target=first)]
    threads[0].start()
    entered.wait(60)
    for _ in range(3):
        threads.append(threading.Thread(target=lambda: results.append(request(cache, maker, 5)[0])))
        threads[-1].start()
    leave.set()
    for thread in threads:
        thread.join()
    assert len(results) == 3
    assert maker.batches == [["5"]]


def test_statistics_are_counted_from_a_moment_on() -> None:
    cache: ItemCache[Any] = ItemCache(100_000)
    maker = Maker()
    request(cache, maker, 1)
    before = cache.stats()
    request(cache, maker, 1, 2)
    grown = cache.stats().since(before)
    assert (grown.hits, grown.misses, grown.entries, grown.bytes) == (1, 1, 2, 2000)
    assert CacheStats().hit_rate == 0


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="-1 bytes"):
        ItemCache(-1)


class Store:
    """A level in memory, with faults on order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: dict[str, bytes] = {}
        self.fails = False
        self.calls: list[str] = []

    def _called(self, what: str) -> None:
        self.calls.append(what)
        if self.fails:
            raise ConnectionError("down")

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        self._called("get")
        return [self.entries.get(key) for key in keys]

    def put(self, entries: Sequence[tuple[str, bytes]]) -> None:
        self._called("put")
        self.entries.update(entries)

    def invalidate(self, keys: Sequence[str]) -> None:
        self._called("invalidate")
        for key in keys:
            self.entries.pop(key, None)


def test_levels_are_asked_for_what_is_missing_and_given_what_was_made() -> None:
    near, far = Store("near"), Store("far")
    maker = Maker()
    one: ItemCache[Any] = ItemCache(100_000, levels=[near, far])
    request(one, maker, 1, 2)
    assert set(near.entries) == set(far.entries) == {"1", "2"}
    other: ItemCache[Any] = ItemCache(100_000, levels=[near, far])
    del near.entries["2"]
    request(other, maker, 1, 2, 3)
    assert maker.batches == [["1", "2"], ["3"]]
    assert set(near.entries) == {"1", "2", "3"}, "what came from afar is now near"
    assert (other.level_stats["near"].hits, other.level_stats["near"].misses) == (1, 2)
    assert (other.level_stats["far"].hits, other.level_stats["far"].misses) == (1, 1)
    calls = len(near.calls)
    request(other, maker, 1, 2, 3)
    assert len(near.calls) == calls, "what is in the process is asked of nobody"
    other.invalidate("1")
    assert "1" not in near.entries
    assert "1" not in far.entries


def test_a_level_that_fails_makes_no_request_fail() -> None:
    store = Store("down")
    store.fails = True
    maker = Maker()
    cache: ItemCache[Any] = ItemCache(100_000, levels=[store])
    request(cache, maker, 1)
    cache.invalidate("1")
    request(cache, maker, 1)
    assert maker.batches == [["1"], ["1"]]
    assert cache.level_stats["down"].errors == 5
    store.fails = False
    request(cache, maker, 2)
    assert "2" in store.entries


def test_damaged_and_foreign_entries_are_made_anew() -> None:
    store = Store("store")
    good = pack("1", np.full(1000, 1, np.uint8))
    store.entries = {
        "1": good[:-1] + bytes([good[-1] ^ 1]),
        "2": b"not ours",
        "3": pack("4", np.full(1000, 4, np.uint8)),
        "4": b"",
    }
    maker = Maker()
    cache: ItemCache[Any] = ItemCache(100_000, levels=[store])
    request(cache, maker, 1, 2, 3, 4)
    assert maker.batches == [["1", "2", "3", "4"]]
    assert cache.level_stats["store"].refused == 4
    again: ItemCache[Any] = ItemCache(100_000, levels=[store])
    request(again, maker, 1, 2, 3, 4)
    assert len(maker.batches) == 1, "they were replaced"


def test_values_without_a_form_stay_in_the_process() -> None:
    store = Store("store")
    cache: ItemCache[Any] = ItemCache(100_000, levels=[store])
    value = object()
    assert cache.get_or_process(["k"], lambda missing: [value]) == [value]
    assert store.entries == {}
    assert cache.level_stats["store"].not_stored == 1


def test_values_may_be_given_a_form() -> None:
    store = Store("store")
    options: Any = {"encode": lambda value: {"n": value.real}, "decode": lambda tree: complex(tree["n"])}
    one: ItemCache[Any] = ItemCache(100_000, levels=[store], **options)
    one.get_or_process(["k"], lambda missing: [3 + 0j])
    other: ItemCache[Any] = ItemCache(100_000, levels=[store], **options)
    assert other.require(["k"]) == [3 + 0j]


def test_a_level_that_gives_another_number_is_not_believed() -> None:
    store = Store("short")
    store.get = lambda keys: []  # type: ignore[method-assign]
    maker = Maker()
    request(ItemCache(100_000, levels=[store]), maker, 1)
    assert maker.batches == [["1"]]


def test_sixteen_threads_ten_thousand_requests() -> None:
    """Over 500 pictures with room for ten: no wrong item, no deadlock, never more than the bound."""
    bound = 10 * item_bytes(np.zeros(100, np.uint16))
    cache: ItemCache[Any] = ItemCache(bound)
    problems: list[Any] = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(625):
            numbers = [
                rng.randrange(12) if rng.random() < 0.5 else rng.randrange(500) for _ in range(rng.randint(1, 4))
            ]
            fails = rng.random() < 0.02

            def process(missing: list[int], numbers: list[int] = numbers, fails: bool = fails) -> list[Any]:
                if fails:
                    raise RuntimeError("on purpose")
                return [np.full(100, numbers[i], np.uint16) for i in missing]

            try:
                values = cache.get_or_process([str(n) for n in numbers], process, timeout_s=120)
            except RuntimeError:
                continue
            except Exception as error:
                problems.append(error)
                continue
            if any((value != number).any() for value, number in zip(values, numbers, strict=True)):
                problems.append((numbers, values))
            if cache.stats().bytes > bound:
                problems.append(cache.stats())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    stats = cache.stats()
    assert stats.pinned_bytes == 0
    assert stats.entries <= 10
    assert stats.hits > 0


@pytest.mark.parametrize("hit_rate", [0.0, 0.3, 0.5, 1.0])
def test_cached_equals_uncached_at_any_hit_rate(hit_rate: float) -> None:
    """Requests of up to three items, of which a share repeats, in batches of 32."""
    rng = np.random.default_rng(1)
    calls: list[int] = []

    def feature(picture: Any) -> Any:
        calls.append(0)
        return {"pixel_values": picture.astype(np.float32) / 255, "size": picture.shape}

    fixed = rng.integers(0, 256, (16, 20, 3), dtype=np.uint8)
    cache: ItemCache[Any] = ItemCache(1 << 30)
    for _ in range(32):
        pictures = [
            fixed if rng.random() < hit_rate else rng.integers(0, 256, (16, 24, 3), dtype=np.uint8)
            for _ in range(rng.integers(0, 4))
        ]
        keys = [picture.tobytes().hex() for picture in pictures]
        got = cache.get_or_process(keys, lambda missing, p=pictures: [feature(p[i]) for i in missing])
        for picture, value in zip(pictures, got, strict=True):
            expected = feature(picture)
            assert np.array_equal(value["pixel_values"], expected["pixel_values"])
            assert value["size"] == expected["size"]
    if hit_rate == 1.0:
        assert cache.stats().misses == 1
