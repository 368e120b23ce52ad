"""Faults that users of servers have met in threads, processes and errors, each kind as a whole. Sources from outside
have test_fetch_reports.py, memory has test_memory.py."""

import os
import subprocess
import sys
import threading

import pytest

import mmcpp
from mmcpp import inkling, qwen_vl
from samples import SPEC, encode, noise

PICTURE = noise(700, 900)
LOOPBACK = mmcpp.FetchPolicy(allowed_networks=["127.0.0.0/8"], environment_proxies=False)


def lets_others_run(call) -> bool:
    """Whether another thread has the GIL before the call is done, though nobody is ever asked to give it up."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    try:
        for _ in range(20):  # the other thread may be slow to wake
            started, done = threading.Event(), []

            def work(started=started, done=done):
                started.set()
                call()
                done.append(True)

            thread = threading.Thread(target=work)
            thread.start()
            started.wait()
            early = not done
            thread.join()
            if early:
                return True
        return False
    finally:
        sys.setswitchinterval(interval)


with_gil = pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no GIL")


@with_gil
@pytest.mark.parametrize(
    "call",
    [
        lambda: qwen_vl.mrope_image_only_py(3_000_000, [(3, 8, 1, 4, 6)], 2),
        lambda: mmcpp.resize(PICTURE, 600, 800),
        lambda: mmcpp.content_hash(bytes(20_000_000)),
        lambda: mmcpp.decode_image(FILE),
        lambda: mmcpp.ImageProcessor.from_spec(SPEC)(PICTURE),
        lambda: inkling.rescale_patchify_hash(PICTURE, b"", 40),
    ],
    ids=["mrope", "resize", "hash", "decode", "process", "inkling"],
)
def test_work_leaves_the_gil_to_others(call):
    assert lets_others_run(call)


@with_gil
def test_work_of_python_itself_does_not():
    assert not lets_others_run(lambda: sum(range(100_000)))


FILE = encode(PICTURE)

# The process has its threads by the time it forks; the child works, forks and works again.
FORKS = """
import hashlib, os, sys
import numpy as np
import mmcpp

picture = np.random.default_rng(0).integers(0, 256, (900, 1100, 3)).astype(np.uint8)

def digest():
    return hashlib.sha256(mmcpp.resize(picture, 500, 600)).hexdigest()

before = digest()
for _ in range(4):
    child = os.fork()
    if child == 0:
        same = digest() == before
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0 if digest() == before else 1)
        os._exit(0 if same and os.waitpid(grandchild, 0)[1] == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert digest() == before
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_works():
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=300)


THREADS = """
import os, sys
import numpy as np
import mmcpp

if sys.argv[1]:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

def threads():
    return len(os.listdir("/proc/self/task"))

picture = np.random.default_rng(0).integers(0, 256, (1200, 1200, 3)).astype(np.uint8)
before = threads()
for _ in range(5):
    mmcpp.resize(picture, 500, 500)
print(threads() - before)
"""


@pytest.mark.skipif(mmcpp.build_info().executor != "tbb", reason="another executor has no threads of its own")
@pytest.mark.parametrize("asked", [None, "1", "2", "1000", "0", "-1", "x", ""])
@pytest.mark.parametrize("pinned", ["", "pinned"])
def test_threads_are_as_many_as_processors_or_as_were_asked_for(asked, pinned):
    environment = {name: value for name, value in os.environ.items() if name != "MMCPP_THREADS"}
    if asked is not None:
        environment["MMCPP_THREADS"] = asked
    run = subprocess.run(
        [sys.executable, "-c", THREADS, pinned], env=environment, capture_output=True, text=True, check=True
    )
    usable = 1 if pinned else len(os.sched_getaffinity(0))
    wanted = min(int(asked), usable) if asked in ("1", "2", "1000") else min(8, usable)
    assert int(run.stdout) <= wanted - 1  # the caller is one of them; oneTBB starts them when there is work
    if wanted == 1:
        assert int(run.stdout) == 0


@pytest.mark.parametrize("path", ["/status/503", "/status/429", "/short"])
def test_a_request_that_failed_is_not_sent_again(web_server, path):
    """What may be tried again is the caller's to say."""
    with pytest.raises(mmcpp.FetchError) as caught:
        mmcpp.fetch(web_server.url(path), policy=LOOPBACK)
    assert caught.value.code == "fetch_failed"
    assert len(web_server.seen) == 1


def long_sources() -> list[str]:
    text = "QUJD" * 300_000
    return ["data:image/png;base64," + text[:-2] + "@@", "data:image/png;bas64" + text, text + "@", "http://" + text]


@pytest.mark.parametrize("source", long_sources(), ids=["payload", "no comma", "base64", "url"])
def test_errors_name_the_item_and_not_what_it_held(source):
    good = "data:image/png;base64,iVBORw0KGgo="
    with pytest.raises(mmcpp.MmError) as caught:
        mmcpp.fetch_all([good, good, good, source])
    assert caught.value.item == 3
    assert len(str(caught.value)) < 200
    assert "QUJDQUJD" not in str(caught.value)
    processor = mmcpp.ImageProcessor.from_spec(SPEC)
    with pytest.raises(mmcpp.MmError) as caught:
        processor([PICTURE, PICTURE, source], policy=mmcpp.FetchPolicy())
    assert caught.value.item == 2
    assert len(str(caught.value)) < 200


def test_pictures_in_errors_are_named_and_not_shown():
    processor = mmcpp.ImageProcessor.from_spec(SPEC)
    damaged = FILE[: len(FILE) // 2]
    with pytest.raises(mmcpp.DecodeError, match="^image 1: png: ") as caught:
        processor([FILE, damaged])
    assert caught.value.item == 1
    assert len(str(caught.value)) < 200
