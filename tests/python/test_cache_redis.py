"""The level shared between machines: a real server, one that is down, and ones that never answer."""

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mmcpp.cache_redis import RedisLevel, RedisUnavailableError

redis = pytest.importorskip("redis")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        pytest.skip("neither redis-server nor valkey-server is installed")
    path: Path = tmp_path_factory.mktemp("redis") / "socket"
    command = [program, "--port", "0", "--unixsocket", str(path), "--save", "", "--maxmemory", "16mb"]
    process = subprocess.Popen([*command, "--maxmemory-policy", "allkeys-lru"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if path.exists():
                break
            time.sleep(0.05)
        yield f"unix://{path}"
    finally:
        process.terminate()
        process.wait()


def patient(url: str, **options: Any) -> RedisLevel:
    """Make a level for tests that are not about time."""
    return RedisLevel(url, timeout_s=30, **options)


def test_entries_come_back(server: str) -> None:
    level = patient(server)
    level.put([("a", b"one"), ("b", b"\x00\xff")])
    assert level.get(["b", "x", "a"]) == [b"\x00\xff", None, b"one"]
    level.invalidate(["a"])
    assert level.get(["a"]) == [None]


def test_prefixes_are_apart_and_name_the_format(server: str) -> None:
    patient(server, prefix="one").put([("k", b"1")])
    assert patient(server, prefix="two").get(["k"]) == [None]
    assert redis.Redis.from_url(server).get("one:1:k") == b"1"


def test_entries_expire(server: str) -> None:
    patient(server, expire_s=100, prefix="e").put([("k", b"1")])
    patient(server, expire_s=None, prefix="f").put([("k", b"1")])
    client = redis.Redis.from_url(server)
    assert 0 < client.pttl("e:1:k") <= 100_000
    assert client.pttl("f:1:k") == -1


def test_large_entries_are_not_sent(server: str) -> None:
    level = patient(server, max_entry_bytes=10, prefix="l")
    level.put([("a", b"x" * 11), ("b", b"x" * 10)])
    assert level.get(["a", "b"]) == [None, b"x" * 10]


def test_the_server_bounds_its_memory(server: str) -> None:
    level = patient(server, prefix="m")
    for i in range(40):
        level.put([(str(i), b"x" * MEBIBYTE)])
    assert redis.Redis.from_url(server).info("memory")["used_memory"] < 24 * MEBIBYTE
    assert level.get(["0", "39"]) == [None, b"x" * MEBIBYTE]


MEBIBYTE = 1 << 20


def silent_server(answer: Callable[[socket.socket], None]) -> tuple[str, socket.socket]:
    """Listen, and do with each connection what ``answer`` does."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return f"redis://127.0.0.1:{listener.getsockname()[1]}/0", listener


def never(connection: socket.socket) -> None:
    time.sleep(60)
    connection.close()


def one_byte_at_a_time(connection: socket.socket) -> None:
    """Answer for ever: a socket's own timeout never comes."""
    try:
        connection.sendall(b"$100\r\n")
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        pass


@pytest.mark.parametrize("answer", [never, one_byte_at_a_time])
def test_a_server_that_does_not_answer_is_given_up(answer: Any) -> None:
    url, listener = silent_server(answer)
    with listener:
        level = RedisLevel(url, timeout_s=0.2, pause_s=1000)
        with pytest.raises(RedisUnavailableError):
            level.get(["a"])
        for call in (lambda: level.get(["a"]), lambda: level.put([("a", b"1")]), lambda: level.invalidate(["a"])):
            with pytest.raises(RedisUnavailableError, match="left alone"):
                call()


def test_a_server_that_is_down_is_asked_again_after_a_pause(server: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    level = RedisLevel(f"redis://127.0.0.1:{port}/0", timeout_s=30, pause_s=0)
    for _ in range(2):
        with pytest.raises(RedisUnavailableError, match="redis failed"):
            level.get(["a"])
    level._client = redis.Redis.from_url(server)
    assert level.get(["none such"]) == [None]


def test_a_client_of_ones_own_is_used(server: str) -> None:
    level = RedisLevel(client=redis.Redis.from_url(server), prefix="c", timeout_s=30)
    level.put([("a", b"1")])
    assert level.get(["a"]) == [b"1"]
