"""The level shared on a machine: bounded, least recent use out first, sound after kill -9."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from mmcpp import cache_lmdb
from mmcpp.cache_format import EntryError, pack, unpack
from mmcpp.cache_lmdb import LmdbLevel

pytest.importorskip("lmdb")

MIB = 1 << 20


def test_entries_come_back(tmp_path: Path) -> None:
    level = LmdbLevel(tmp_path, max_bytes=8 * MIB)
    level.put([("a", b"one"), ("b", b"two"), ("é" * 600, b"long key"), ("", b"no key")])
    assert level.get(["b", "x", "a", "é" * 600, ""]) == [b"two", None, b"one", b"long key", b"no key"]
    level.put([("a", b"new")])
    level.invalidate(["b", "x"])
    assert level.get(["a", "b"]) == [b"new", None]


def test_two_levels_of_one_folder_are_one(tmp_path: Path) -> None:
    LmdbLevel(tmp_path, max_bytes=8 * MIB).put([("a", b"one")])
    assert LmdbLevel(tmp_path, max_bytes=8 * MIB).get(["a"]) == [b"one"]


def file_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.iterdir())


def test_the_file_is_bounded(tmp_path: Path) -> None:
    level = LmdbLevel(tmp_path, max_bytes=4 * MIB)
    rng = random.Random(1)
    sizes = {}
    for i in range(400):
        size = rng.choice([10, 5000, 70_000, 300_000])
        sizes[str(i)] = size
        level.put([(str(i), bytes([i % 256]) * size)])
        assert level.bytes_in_use() <= 3 * MIB
    assert file_bytes(tmp_path) <= 4 * MIB + 64 * 1024
    found = level.get(list(sizes))
    kept = [key for key, entry in zip(sizes, found, strict=True) if entry is not None]
    assert kept, "the last ones are there"
    for key, entry in zip(sizes, found, strict=True):
        assert entry is None or entry == bytes([int(key) % 256]) * sizes[key]
    assert kept == [str(i) for i in range(400 - len(kept), 400)], "the oldest went first"


def test_an_entry_too_large_for_the_store_is_left_out(tmp_path: Path) -> None:
    level = LmdbLevel(tmp_path, max_bytes=MIB)
    level.put([("small", b"x"), ("large", b"x" * MIB), ("other", b"y")])
    assert level.get(["small", "large", "other"]) == [b"x", None, b"y"]
    with pytest.raises(ValueError, match="at least 1 MiB"):
        LmdbLevel(tmp_path / "other", max_bytes=1000)


def test_a_read_entry_is_kept_longer(tmp_path: Path) -> None:
    level = LmdbLevel(tmp_path, max_bytes=MIB)
    block = b"x" * 200_000  # three fit
    level.put([("a", block), ("b", block), ("c", block)])
    level.get(["a"])
    level.put([("d", block)])
    assert [entry is not None for entry in level.get(["a", "b", "c", "d"])] == [True, False, True, True]


def test_foreign_entries_are_refused_by_the_format(tmp_path: Path) -> None:
    level = LmdbLevel(tmp_path, max_bytes=MIB)
    level.put([("a", b"not ours"), ("b", pack("another key", 1))])
    for key in ("a", "b"):
        [entry] = level.get([key])
        assert entry is not None
        with pytest.raises(EntryError):
            unpack(key, entry)


def test_a_file_that_is_no_store_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"no database at all" * 1000)
    (tmp_path / "boot_id").write_text(boot_id())
    level = LmdbLevel(tmp_path, max_bytes=MIB)
    level.put([("a", b"one")])
    assert level.get(["a"]) == [b"one"]


def boot_id() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    if not path.exists():
        pytest.skip("no boot id on this system")
    return path.read_text()


def test_a_store_from_before_a_boot_is_emptied(tmp_path: Path) -> None:
    boot_id()
    LmdbLevel(tmp_path, max_bytes=MIB).put([("a", b"one")])
    cache_lmdb._open.pop(str(tmp_path.resolve()))[1].environment.close()
    (tmp_path / "boot_id").write_text("another boot")
    assert LmdbLevel(tmp_path, max_bytes=MIB).get(["a"]) == [None]


def test_threads_share_a_level(tmp_path: Path) -> None:
    level = LmdbLevel(tmp_path, max_bytes=2 * MIB)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(100):
            key = str(rng.randrange(40))
            [entry] = level.get([key])
            if entry is None:
                level.put([(key, pack(key, key * 1000))])
            elif unpack(key, entry) != key * 1000:
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


WRITER = """
    import random, sys
    import numpy as np
    from mmcpp.cache_format import pack
    from mmcpp.cache_lmdb import LmdbLevel

    level = LmdbLevel(sys.argv[1], max_bytes=4 << 20)
    rng = random.Random(int(sys.argv[2]))
    print("ready", flush=True)
    while True:
        i = rng.randrange(200)
        level.put([(str(i), pack(str(i), np.full(rng.randrange(1, 60_000), i, np.uint8)))])
        level.get([str(rng.randrange(200))])
"""


def start_writer(folder: Path, seed: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), str(folder), str(seed)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_store_is_sound_after_writers_were_killed(tmp_path: Path) -> None:
    rng = random.Random(5)
    for seed in range(6):
        writers = [start_writer(tmp_path, 10 * seed + i) for i in range(2)]
        time.sleep(rng.uniform(0.02, 0.3))
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
    level = LmdbLevel(tmp_path, max_bytes=4 * MIB)
    found = 0
    for key in map(str, range(200)):
        [entry] = level.get([key])
        if entry is not None:
            array = unpack(key, entry)
            assert (array == int(key)).all()
            found += 1
    assert found > 0
    # The numbers fit what is stored: everything can be evicted, and the store goes on.
    for i in range(60):
        level.put([(f"new {i}", b"x" * 100_000)])
    assert level.bytes_in_use() <= 3 * MIB
    assert all(entry is None for entry in level.get([str(i) for i in range(200)]))
    assert level.get(["new 59"]) == [b"x" * 100_000]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_leaves_the_store_alone(tmp_path: Path) -> None:
    level = LmdbLevel(tmp_path, max_bytes=MIB)
    level.put([("a", b"one")])
    child = os.fork()
    if child == 0:
        status = 1
        try:
            level.put([("b", b"two")])
        except OSError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert level.get(["a", "b"]) == [b"one", None]
