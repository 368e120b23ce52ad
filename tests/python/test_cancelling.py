import struct
import threading
import zlib

import numpy as np
import pytest

import mmcpp
from mmcpp.cancelling import CancelFlag, Stop
from png_writer import chunk
from samples import SPEC, encode, noise

STAGE = "(header|decode|process)"  # which one, is a matter of the machine


@pytest.fixture(scope="module")
def processor():
    return mmcpp.ImageProcessor.from_spec(SPEC)


def large_png():
    """Tens of kilobytes that take long to decode: longer than the deadline of the test below."""
    side = 12000
    rows = zlib.compress(bytes((side + 1) * side), 1)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


def test_a_flag_stays_set():
    flag = CancelFlag()
    assert not flag.cancelled
    flag.cancel()
    flag.cancel()
    assert flag.cancelled


def test_every_call_that_is_cancelled_says_so(processor):
    flag = CancelFlag()
    flag.cancel()
    picture = noise(56, 56)
    pipeline = mmcpp.Pipeline.from_spec(SPEC)
    calls = [
        lambda **stop: processor(picture, **stop),
        lambda **stop: processor.process_items([picture], **stop),
        lambda **stop: pipeline.process(input_ids=[SPEC["image_token_id"]], images=[picture], **stop),
    ]
    for call in calls:
        with pytest.raises(mmcpp.CancelledError, match="the request was cancelled") as caught:
            call(cancel=flag)
        assert (caught.value.code, caught.value.item) == ("cancelled", None)
        with pytest.raises(mmcpp.DeadlineError, match="the deadline has passed") as caught:
            call(timeout=0)
        assert (caught.value.code, caught.value.item) == ("deadline_exceeded", None)
        assert isinstance(caught.value, TimeoutError)
        call(timeout=1000, cancel=CancelFlag())
        call(timeout=float("inf"))


def test_each_item_says_so(processor):
    flag = CancelFlag()
    flag.cancel()
    results = processor.process_each([noise(56, 56), noise(28, 28)], cancel=flag)
    assert [type(result) for result in results] == [mmcpp.CancelledError] * 2


def test_a_deadline_that_comes_while_it_works(processor):
    with pytest.raises(mmcpp.DeadlineError, match=f"^{STAGE}: the deadline has passed"):
        processor(large_png(), timeout=0.03)


def test_a_flag_that_is_set_while_it_works(processor):
    flag = CancelFlag()
    encoded = large_png()
    timer = threading.Timer(0.03, flag.cancel)
    timer.start()
    with pytest.raises(mmcpp.CancelledError, match=f"^{STAGE}: the request was cancelled"):
        processor(encoded, cancel=flag)
    timer.join()


def test_a_source_that_is_slow(processor, web_server):
    policy = mmcpp.FetchPolicy(allowed_networks=["127.0.0.0/8"])
    with pytest.raises(mmcpp.DeadlineError, match="fetch: the deadline has passed"):
        processor(web_server.url("/hang"), policy=policy, timeout=0.2)
    flag = CancelFlag()
    flag.cancel()
    with pytest.raises(mmcpp.CancelledError, match="fetch: the request was cancelled"):
        processor(web_server.url("/hang"), policy=policy, cancel=flag)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"timeout": "1"}, TypeError, "timeout: expected seconds or None, got str"),
        ({"timeout": True}, TypeError, "timeout: expected seconds or None, got bool"),
        ({"timeout": -1}, ValueError, "timeout: expected seconds from 0, got -1"),
        ({"timeout": float("nan")}, ValueError, "timeout: expected seconds from 0, got nan"),
        ({"cancel": threading.Event()}, TypeError, "cancel: expected a CancelFlag or None, got Event"),
    ],
)
def test_arguments_that_cannot_be_meant(processor, arguments, error, match):
    with pytest.raises(error, match=match):
        processor(encode(noise(28, 28)), **arguments)


def test_seconds_left():
    assert Stop(None, None).native() is None
    assert Stop(float("inf"), None).left() is None
    assert Stop(1e300, None).left() == 1e9
    assert 0 < Stop(100, None).left() <= 100
    assert Stop(0, None).left() == 0
    assert np.isscalar(Stop(np.float64(1), None).left())
