"""A cache of processed items: bounded in bytes, one computation for one key at a time.

    cache = ItemCache(max_bytes=4 << 30)
    values = cache.get_or_process(keys, lambda missing: process([pictures[i] for i in missing]))

Values are shared, not copied: treat what comes out of a cache as constant. Levels below the process
(``mmcpp.cache_lmdb`` on a machine, ``mmcpp.cache_redis`` between machines) are asked for what is
missing, and never make a request fail.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from mmcpp import _mmcpp
from mmcpp.cache_format import EntryError, pack, unpack
from mmcpp.cache_size import item_bytes, own_memory

__all__ = [
    "CacheMissError",
    "CacheSession",
    "CacheStats",
    "CacheTimeoutError",
    "ItemCache",
    "LevelStats",
    "SharedLevel",
    "item_bytes",
    "own_memory",
]

T = TypeVar("T")


class CacheMissError(LookupError):
    """Items that were named by key alone are not in the cache; sending them again helps."""

    retryable = True

    def __init__(self, keys: Iterable[str]) -> None:
        """Remember which ``keys``."""
        self.keys = list(keys)
        super().__init__(f"cache: {len(self.keys)} item(s) are not cached: {', '.join(self.keys[:4])}")


class CacheTimeoutError(TimeoutError):
    """Another request did not finish making an item in time."""


class SharedLevel(Protocol):
    """A store shared by processes. It may forget anything at any time and may fail at will."""

    name: str
    """For statistics."""

    def get(self, keys: Sequence[str]) -> Sequence[bytes | bytearray | None]:
        """Give the entries of ``keys`` as they were put, None for those that are not there."""
        ...

    def put(self, entries: Sequence[tuple[str, bytes]]) -> None:
        """Take entries in, dropping others where room is needed."""
        ...

    def invalidate(self, keys: Sequence[str]) -> None:
        """Drop the entries of ``keys``."""
        ...


@dataclass(frozen=True)
class CacheStats:
    """Counters since the cache was made; the last three are of now."""

    hits: int = 0
    """Values that were there."""
    misses: int = 0
    """Values that a request had to make or fetch from a level below."""
    shared: int = 0
    """Values that another request was making meanwhile."""
    repeated: int = 0
    """Keys that stood in their request before."""
    stored: int = 0
    """Values that were taken in."""
    evicted: int = 0
    """Values that made room for others."""
    not_stored: int = 0
    """Values for which there was no room beside what open requests hold."""
    invalidated: int = 0
    """Values that were dropped by name."""
    hit_bytes: int = 0
    """Bytes that did not have to be made again."""
    entries: int = 0
    """Values that are here."""
    bytes: int = 0
    """Bytes of the values that are here, as ``item_bytes`` counts."""
    pinned_bytes: int = 0
    """Bytes of those that open requests hold."""

    @property
    def hit_rate(self) -> float:
        """Share of values, 0 to 1, that nobody had to make for the request that asked; 0 before any was asked for."""
        asked = self.hits + self.shared + self.repeated + self.misses
        return (asked - self.misses) / asked if asked else 0.0

    def since(self, before: CacheStats) -> CacheStats:
        """Give the counters' growth since ``before``, and the present sizes."""
        now = {"entries", "bytes", "pinned_bytes"}
        return CacheStats(
            **{
                f.name: getattr(self, f.name) - (0 if f.name in now else getattr(before, f.name))
                for f in dataclasses.fields(self)
            }
        )


@dataclass
class LevelStats:
    """What a level below the process was good for."""

    hits: int = 0
    """Entries that were there."""
    misses: int = 0
    """Entries that were not."""
    refused: int = 0
    """Entries that were damaged, of another format or of another maker."""
    errors: int = 0
    """Calls that failed; the request went on without the level."""
    stored: int = 0
    """Entries that were handed over."""
    not_stored: int = 0
    """Values of types that have no form outside of the process."""


class CacheSession(Generic[T]):
    """One request's hold on a cache: what it found or published stays until it is closed."""

    def __init__(self, cache: ItemCache[T], core: _mmcpp.CacheSession, keys: Sequence[str]) -> None:
        """Make the hold of ``cache`` on ``keys``, which ``core`` looked up: use ``ItemCache.session``."""
        self._cache = cache
        self._core = core
        self.keys = list(keys)

    def __enter__(self) -> CacheSession[T]:
        """Close at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of everything; what was to be made here is left to those who wait for it."""
        self.close()

    def __len__(self) -> int:
        """Give the number of keys."""
        return len(self.keys)

    @property
    def missing(self) -> list[int]:
        """Indices of items that this request has to make, each key once."""
        return [i for i in range(len(self)) if self._core.state(i) == "owned"]

    def publish(self, i: int, value: T) -> None:
        """Hand in an item that was missing; stored if there is room.

        Args:
            i: its index in the keys.
            value: the item; shared from now on, so not to be changed.

        Raises:
            ValueError: the item is not this request's to make.
        """
        value = self._cache.prepare(value)
        self._core.publish(i, value, item_bytes(value))

    def wait(self, i: int, timeout_s: float = math.inf) -> bool:
        """Wait for an item that another request makes.

        Args:
            i: its index in the keys.
            timeout_s: seconds to wait.

        Returns:
            Whether it is there; False when its maker gave up and it is this request's to make.

        Raises:
            CacheTimeoutError: nothing came of it in time.
            ValueError: items of this request are still to be published; two requests could wait
                for each other.
        """
        state = self._core.wait(i, timeout_s)
        if state == "pending":
            raise CacheTimeoutError(f"cache: item {i} was not made within {timeout_s} s by the request that makes it")
        return state == "hit"

    def value(self, i: int) -> T:
        """Give an item that was found, published or waited for: that of key ``i``.

        Raises:
            LookupError: it is none of these.
        """
        if self._core.state(self._core.first(i)) != "hit":
            raise LookupError(f"cache: item {i} is not there yet")
        value: T = self._core.value(i)
        return value

    def close(self) -> None:
        """Let go of everything. Values stay valid for those who have them."""
        self._core.close()


class ItemCache(Generic[T]):
    """Items by key, least recently used first out. Any method may be called from any thread."""

    def __init__(
        self,
        max_bytes: int = 4 << 30,
        *,
        max_entries: int = 1 << 20,
        levels: Sequence[SharedLevel] = (),
        encode: Callable[[T], object] | None = None,
        decode: Callable[[Any], T] | None = None,
    ) -> None:
        """Make an empty cache.

        Args:
            max_bytes: of values, counted as ``item_bytes`` does; 0 stores nothing.
            max_entries: of values.
            levels: stores shared by processes, the nearest first.
            encode: what of a value goes into the levels: None, bool, int, float, str, bytes, numpy
                arrays, torch tensors, and lists, tuples and dicts of them. By default the value.
            decode: the way back.

        Raises:
            ValueError: a negative bound.
        """
        if max_bytes < 0 or max_entries < 0:
            raise ValueError(f"cache: {max_bytes} bytes, {max_entries} entries")
        self._core = _mmcpp.ItemCache(max_bytes, max_entries)
        self._levels = list(levels)
        self._encode: Callable[[T], object] = encode if encode is not None else lambda value: value
        self._decode: Callable[[Any], T] = decode if decode is not None else lambda tree: tree
        self.level_stats = {level.name: LevelStats() for level in self._levels}

    def get_or_process(
        self,
        keys: Sequence[str],
        process: Callable[[list[int]], Sequence[T]],
        *,
        contents: Sequence[str] | None = None,
        timeout_s: float = math.inf,
    ) -> list[T]:
        """Give the items of a request, making only those that nobody has or makes.

        Args:
            keys: one per item; repeats are made once.
            process: from indices into ``keys`` to their items, in order; called once for all that
                are missing, and again for items whose maker gave up. May raise: then nothing of the
                request stays in the cache but what it published before.
            contents: a mark per item of what its key stands for (such as a size), for keys that
                clients chose; ``""`` is not checked.
            timeout_s: seconds to wait for another request that makes an item.

        Returns:
            The items in the order of ``keys``; shared with other requests, so not to be changed.

        Raises:
            ValueError: a key was filled with another content, or ``process`` gave another number of
                items.
            CacheTimeoutError: another request did not finish in time.
        """
        with self.session(keys, contents=contents) as session:
            self._fill(session, session.missing, process)
            for i in range(len(keys)):
                if not session.wait(i, timeout_s):
                    self._fill(session, session.missing, process)
            return [session.value(i) for i in range(len(keys))]

    def require(self, keys: Sequence[str], *, timeout_s: float = math.inf) -> list[T]:
        """Give items that are named by key alone.

        Args:
            keys: one per item.
            timeout_s: seconds to wait for another request that makes an item.

        Returns:
            As ``get_or_process``.

        Raises:
            CacheMissError: some are neither here nor in a level below.
            CacheTimeoutError: as ``get_or_process``.
        """

        def process(missing: list[int]) -> Sequence[T]:
            raise CacheMissError(keys[i] for i in missing)

        return self.get_or_process(keys, process, timeout_s=timeout_s)

    def session(self, keys: Sequence[str], *, contents: Sequence[str] | None = None) -> CacheSession[T]:
        """Look up all keys of a request at once and hold what is found until it is closed.

        Args:
            keys: one per item.
            contents: as for ``get_or_process``.

        Returns:
            What was found, and which items this request has to make; to be closed, best by ``with``.

        Raises:
            ValueError: a key was filled with another content, or the lists differ in length.
        """
        marks = [""] * len(keys) if contents is None else contents
        if len(marks) != len(keys):
            raise ValueError(f"cache: {len(marks)} contents for {len(keys)} keys")
        return CacheSession(self, self._core.open(list(zip(keys, marks, strict=True))), keys)

    def contains(self, key: str) -> bool:
        """Tell whether the item is here; does not count as a use."""
        return self._core.contains(key)

    def touch(self, key: str) -> bool:
        """Make the item the last to be evicted; False if it is not here."""
        return self._core.touch(key)

    def invalidate(self, key: str) -> bool:
        """Drop the item here and in all levels; False if it was not here."""
        for level in self._levels:
            self._try(level, lambda level=level: level.invalidate([key]))  # type: ignore[misc]
        return self._core.invalidate(key)

    def clear(self) -> None:
        """Drop all items of this process."""
        self._core.clear()

    def stats(self) -> CacheStats:
        """Give the counters of this process."""
        return CacheStats(**self._core.stats())

    def prepare(self, value: T) -> T:
        """Give the value as it is stored: with memory of its own where it is a view of much more."""
        return own_memory(value)

    def _fill(self, session: CacheSession[T], missing: list[int], process: Callable[[list[int]], Sequence[T]]) -> None:
        missing = self._fetch(session, missing)
        if not missing:
            return
        made = process(missing)
        if len(made) != len(missing):
            raise ValueError(f"cache: {len(made)} items were made for {len(missing)} keys")
        for i, value in zip(missing, made, strict=True):
            session.publish(i, value)
        self._put([(session.keys[i], session.value(i)) for i in missing], self._levels)

    def _fetch(self, session: CacheSession[T], missing: list[int]) -> list[int]:
        """Publish what the levels have; give what they have not."""
        for depth, level in enumerate(self._levels):
            if not missing:
                break
            stats = self.level_stats[level.name]
            keys = [session.keys[i] for i in missing]
            entries = self._try(level, lambda level=level, keys=keys: level.get(keys))  # type: ignore[misc]
            if entries is None or len(entries) != len(keys):
                continue
            found: list[tuple[str, T]] = []
            left = []
            for i, entry in zip(missing, entries, strict=True):
                if entry is None:
                    stats.misses += 1
                    left.append(i)
                    continue
                try:
                    value = self._decode(unpack(session.keys[i], entry))
                except EntryError:
                    stats.refused += 1
                    left.append(i)
                    continue
                stats.hits += 1
                session.publish(i, value)
                found.append((session.keys[i], value))
            self._put(found, self._levels[:depth])
            missing = left
        return missing

    def _put(self, values: list[tuple[str, T]], levels: list[SharedLevel]) -> None:
        if not values or not levels:
            return
        entries: list[tuple[str, bytes]] = []
        for key, value in values:
            try:
                entries.append((key, pack(key, self._encode(value))))
            except TypeError:
                for level in levels:
                    self.level_stats[level.name].not_stored += 1
        for level in levels:
            done = self._try(level, lambda level=level: level.put(entries) or True)  # type: ignore[misc]
            if done:
                self.level_stats[level.name].stored += len(entries)

    def _try(self, level: SharedLevel, call: Callable[[], Any]) -> Any:
        """Call a level; None, and a count, if it fails in whatever way."""
        try:
            return call()
        except Exception:  # a store that is down must not take requests with it
            self.level_stats[level.name].errors += 1
            return None
