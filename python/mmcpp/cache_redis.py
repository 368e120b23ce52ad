"""A cache level shared by machines: Redis or Valkey.

Needs the package ``redis`` (``pip install 'mmcpp[redis]'``). The server bounds its memory itself
(``maxmemory`` with ``allkeys-lru``). A server that is down or slow costs each request at most the
stated time, and nothing while it is known to be so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mmcpp.cache_format import FORMAT_VERSION

__all__ = ["RedisLevel", "RedisUnavailableError"]

T = TypeVar("T")


class RedisUnavailableError(ConnectionError):
    """The server did not answer in time, or not so shortly before that it was not asked."""


class RedisLevel:
    """Entries by key on a server. Any method may be called from any thread."""

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        *,
        timeout_s: float = 0.25,
        pause_s: float = 5.0,
        expire_s: float | None = 24 * 3600,
        max_entry_bytes: int = 64 << 20,
        prefix: str = "mmcpp",
        name: str = "redis",
        client: Any = None,
    ) -> None:
        """Prepare to use a server; it is asked for the first time by a request.

        Args:
            url: as ``redis.Redis.from_url`` takes it.
            timeout_s: what one call (``get``, ``put``, ``invalidate``) may take, whatever the server
                does.
            pause_s: after a call that failed the server is not asked for so long.
            expire_s: entries not written for so long are dropped; None keeps them.
            max_entry_bytes: larger entries are not sent.
            prefix: of all keys, followed by the format's version.
            name: for statistics.
            client: a ``redis.Redis`` to use instead of ``url``.

        Raises:
            ImportError: the package ``redis`` is missing.
        """
        self.name = name
        self._timeout_s = timeout_s
        self._pause_s = pause_s
        self._expire_ms = None if expire_s is None else int(expire_s * 1000)
        self._max_entry_bytes = max_entry_bytes
        self._prefix = f"{prefix}:{FORMAT_VERSION}:"
        self._paused_until = 0.0
        self._client = client if client is not None else _client(url, timeout_s)

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Give the entries of ``keys``, None for those that are not there.

        Raises:
            RedisUnavailableError: at once, or after ``timeout_s``.
        """
        names = [self._prefix + key for key in keys]
        return list(self._bounded(lambda: self._client.mget(names)))

    def put(self, entries: Sequence[tuple[str, bytes]]) -> None:
        """Send entries.

        Raises:
            RedisUnavailableError: at once, or after ``timeout_s``; some may have been stored.
        """
        sent = [(self._prefix + key, entry) for key, entry in entries if len(entry) <= self._max_entry_bytes]
        if not sent:
            return

        def call() -> None:
            with self._client.pipeline(transaction=False) as pipeline:
                for name, entry in sent:
                    pipeline.set(name, entry, px=self._expire_ms)
                pipeline.execute()

        self._bounded(call)

    def invalidate(self, keys: Sequence[str]) -> None:
        """Drop the entries of ``keys``.

        Raises:
            RedisUnavailableError: at once, or after ``timeout_s``.
        """
        self._bounded(lambda: self._client.delete(*(self._prefix + key for key in keys)))

    def _bounded(self, call: Callable[[], T]) -> T:
        """Run a call for ``timeout_s`` at most.

        A socket's timeout starts anew with every byte; a thread that is left behind does not.
        """
        if time.monotonic() < self._paused_until:
            raise RedisUnavailableError(f"cache: {self.name} is left alone after a failure")
        result: list[T] = []
        failure: list[Exception] = []

        def run() -> None:
            try:
                result.append(call())
            except Exception as error:  # handed to the caller
                failure.append(error)

        worker = threading.Thread(target=run, name=f"mmcpp-{self.name}", daemon=True)
        worker.start()
        worker.join(self._timeout_s)
        if result:
            return result[0]
        self._paused_until = time.monotonic() + self._pause_s
        if failure:
            raise RedisUnavailableError(f"cache: {self.name} failed: {failure[0]}") from failure[0]
        raise RedisUnavailableError(f"cache: {self.name} did not answer within {self._timeout_s} s")


def _client(url: str, timeout_s: float) -> Any:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return redis.Redis.from_url(
        url,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        retry=Retry(NoBackoff(), 0),
    )
