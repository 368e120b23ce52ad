"""Which items' embeddings an encoder keeps, counted in embeddings: the books, not the data.

A scheduler asks before it lets an item be encoded, and says when a request needs one no longer. The rules
are those of vLLM 0.33's manager of its encoder cache, so that the same schedule evicts the same items:

    if not books.hold("request", 0, key):
        if books.make_room(size, budget, scheduled):
            books.add("request", 0, key, size)
"""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["EncoderCache"]


class EncoderCache:
    """Embeddings by key, held by requests. Not thread-safe: a scheduler is one thread.

    An entry that nobody holds stays until its room is needed, the first one that was let go of goes
    first. Keys name the embeddings: the item's, and with it whatever changed the encoder, such as an
    adapter.
    """

    def __init__(self, capacity: int) -> None:
        """Begin empty, with room for ``capacity`` embeddings.

        Raises:
            ValueError: a negative capacity.
        """
        if capacity < 0:
            raise ValueError(f"encoder cache: room for {capacity} embeddings")
        self._capacity = capacity
        self._free = capacity
        self._sizes: dict[str, int] = {}
        self._holders: dict[str, set[tuple[str, int]]] = {}
        self._held: dict[str, dict[int, str]] = {}
        self._unheld: OrderedDict[str, int] = OrderedDict()
        self._evicted: list[str] = []

    @property
    def free(self) -> int:
        """Embeddings that fit without evicting anything."""
        return self._free

    @property
    def available(self) -> int:
        """Embeddings that fit if all that nobody holds is evicted."""
        return self._free + sum(self._unheld.values())

    def __contains__(self, key: object) -> bool:
        """Tell whether there is an entry, held or not."""
        return key in self._sizes

    def is_held(self, key: str) -> bool:
        """Tell whether a request holds the entry."""
        return bool(self._holders.get(key))

    def hold(self, request: str, index: int, key: str) -> bool:
        """Hold the entry for item ``index`` of a request, if there is one.

        Returns:
            Whether there is; else the item is to be encoded.
        """
        if key not in self._sizes:
            return False
        if self._held.get(request, {}).get(index, key) != key:
            self.release(request, index)
        self._unheld.pop(key, None)
        self._holders[key].add((request, index))
        self._held.setdefault(request, {})[index] = key
        return True

    def make_room(self, size: int, budget: int, scheduled: int = 0) -> bool:
        """Tell whether an item may be encoded in this step, and evict what has to go for it.

        Args:
            size: embeddings of the item.
            budget: embeddings that the step may still encode.
            scheduled: embeddings that it is going to encode already, for which there is no entry yet.

        Returns:
            False if it may not; nothing is evicted then.
        """
        needed = size + scheduled
        if size > budget or needed > self.available:
            return False
        while needed > self._free:
            key, freed = self._unheld.popitem(last=False)
            self._free += freed
            del self._sizes[key], self._holders[key]
            self._evicted.append(key)
        return True

    def add(self, request: str, index: int, key: str, size: int) -> None:
        """Enter what is going to be encoded for item ``index`` of a request, which holds it: ``size`` embeddings.

        Raises:
            ValueError: there is such an entry, or no room for it (see ``make_room``).
        """
        if key in self._sizes:
            raise ValueError(f"encoder cache: {key} is there already")
        if not 0 <= size <= self._free:
            raise ValueError(f"encoder cache: {size} embeddings of {key}, with room for {self._free}")
        self._sizes[key] = size
        self._holders[key] = set()
        self._free -= size
        self.hold(request, index, key)

    def release(self, request: str, index: int) -> None:
        """Let go of item ``index`` of a request; nothing happens if it does not hold it."""
        key = self._held.get(request, {}).pop(index, None)
        if key is None:
            return
        self._holders[key].discard((request, index))
        if not self._holders[key]:
            self._unheld[key] = self._sizes[key]
        if not self._held[request]:
            del self._held[request]

    def release_request(self, request: str) -> None:
        """Let go of all items of a request, in their order."""
        for index in sorted(self._held.get(request, {})):
            self.release(request, index)

    def take_evicted(self) -> list[str]:
        """Give the keys that were evicted since the last call and are not back, whose data may go."""
        evicted, self._evicted = self._evicted, []
        return [key for key in evicted if key not in self._sizes]
