"""A cache in two halves: keys and sizes where requests come in, data where it is used.

The sender decides what is stored and what is dropped, and says so in every message; the receiver
obeys. So it never holds more than the sender thinks. It holds less only after a message was lost or
a half restarted; what is then asked for in vain is a ``CacheMissError``, which the sender answers by
sending it again.

    message = sender.send(items)
    try:
        values = receiver.receive(message)
    except CacheMissError as miss:
        sender.forget(miss.keys)  # and make a message with the data of these
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mmcpp.cache import CacheMissError

__all__ = ["Message", "Part", "ReceiverCache", "SenderCache"]

T = TypeVar("T")


@dataclass(frozen=True)
class Part(Generic[T]):
    """One item of a message."""

    key: str
    """What the item is known by."""
    sent: bool
    """Whether ``data`` is here; else the receiver has it, or an earlier part of the message."""
    data: T | None = None
    """The item, where it is sent."""
    stored: bool = False
    """Whether the receiver is to keep the data."""


@dataclass(frozen=True)
class Message(Generic[T]):
    """What goes from the sender to the receiver for one request."""

    sender: str
    """A random name, new with every start of the sender."""
    number: int
    """One more than that of the message before."""
    parts: list[Part[T]]
    """In the order of the request."""
    drop: list[str] = field(default_factory=list)
    """Keys that the receiver lets go of, before it stores."""


class SenderCache(Generic[T]):
    """Knows what the receiver has, without having it. Thread-safe; messages must stay in order."""

    def __init__(self, max_bytes: int) -> None:
        """Begin with an empty receiver of ``max_bytes``."""
        self._max_bytes = max_bytes
        self._name = secrets.token_hex(16)
        self._number = 0
        self._sizes: OrderedDict[str, int] = OrderedDict()  # least recently used first
        self._bytes = 0
        self._lock = threading.Lock()

    def missing(self, keys: Sequence[str]) -> list[int]:
        """Give the indices into ``keys`` of items that the receiver does not have; counts as no use."""
        with self._lock:
            return [i for i, key in enumerate(keys) if key not in self._sizes]

    def send(self, items: Sequence[tuple[str, int, T | None]]) -> Message[T]:
        """Make the message for a request.

        Args:
            items: key, size in bytes, and data; None where the receiver should have it. What the
                receiver has is not sent, whatever is given.

        Raises:
            CacheMissError: items without data that the receiver does not have; nothing has changed.
        """
        with self._lock:
            given = {key for key, _, data in items if data is not None}
            lost = [key for key, _, _ in items if key not in self._sizes and key not in given]
            if lost:
                raise CacheMissError(dict.fromkeys(lost))
            for key, _, _ in items:  # what the request needs is not evicted for it
                if key in self._sizes:
                    self._sizes.move_to_end(key)
            drop: list[str] = []
            needed = {key for key, _, _ in items}
            data_of = {key: (size, data) for key, size, data in items if data is not None}
            parts: list[Part[T]] = []
            seen: set[str] = set()
            for key, _, _ in items:
                if key in self._sizes or key in seen:
                    if key in self._sizes:
                        self._sizes.move_to_end(key)
                    parts.append(Part(key, sent=False))
                else:
                    size, data = data_of[key]
                    parts.append(Part(key, sent=True, data=data, stored=self._store(key, size, needed, drop)))
                seen.add(key)
            self._number += 1
            return Message(self._name, self._number, parts, drop)

    def forget(self, keys: Iterable[str]) -> None:
        """Take note that the receiver does not have the items of ``keys``."""
        with self._lock:
            for key in keys:
                self._bytes -= self._sizes.pop(key, 0)

    def keys_by_age(self) -> list[str]:
        """Give the keys that the receiver has, the least recently used first."""
        with self._lock:
            return list(self._sizes)

    @property
    def bytes(self) -> int:
        """What the receiver's items add up to."""
        return self._bytes

    def _store(self, key: str, size: int, needed: set[str], drop: list[str]) -> bool:
        if size + sum(self._sizes.get(other, 0) for other in needed) > self._max_bytes:
            return False
        victims = []
        used = self._bytes + size
        for other, held in self._sizes.items():
            if used <= self._max_bytes:
                break
            if other not in needed:
                victims.append(other)
                used -= held
        for other in victims:
            self._bytes -= self._sizes.pop(other)
        drop += victims
        self._sizes[key] = size
        self._bytes += size
        return True


class ReceiverCache(Generic[T]):
    """Has the data, and decides nothing. Thread-safe."""

    def __init__(self) -> None:
        """Begin empty."""
        self._sender = ""
        self._number = 0
        self._data: dict[str, T | None] = {}
        self._lock = threading.Lock()

    def receive(self, message: Message[T]) -> list[T | None]:
        """Take a message in and give the request's items.

        Raises:
            CacheMissError: items that were not sent and are not here. Those that were sent are
                stored nevertheless.
        """
        with self._lock:
            if message.sender != self._sender or message.number != self._number + 1:
                self._data.clear()  # what the sender thinks is here is another's, or incomplete
            self._sender, self._number = message.sender, message.number
            for key in message.drop:
                self._data.pop(key, None)
            here: dict[str, T | None] = {}
            lost: list[str] = []
            for part in message.parts:
                if part.sent:
                    here[part.key] = part.data
                    if part.stored:
                        self._data[part.key] = part.data
                elif part.key in self._data:
                    here[part.key] = self._data[part.key]
                elif part.key not in here:
                    lost.append(part.key)
            if lost:
                raise CacheMissError(dict.fromkeys(lost))
            return [here[part.key] for part in message.parts]

    def keys(self) -> set[str]:
        """Give the keys of all items that are here."""
        with self._lock:
            return set(self._data)
