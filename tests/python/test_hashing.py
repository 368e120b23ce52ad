import array
import ctypes

import numpy as np
import pytest

import mmcpp
from mmcpp.hashing import hash_value

# Of the official BLAKE3 test vectors: input byte i is i mod 251.
VECTORS = {
    0: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    1: "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
    1024: "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
}


@pytest.mark.parametrize("size", VECTORS)
def test_digest_is_blake3(size):
    data = bytes(i % 251 for i in range(size))
    assert mmcpp.content_digest(data).hex() == VECTORS[size]
    assert mmcpp.content_hash(data) == int(VECTORS[size][:16], 16)


@pytest.mark.parametrize(
    "make",
    [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8), lambda b: array.array("b", b)],
)
def test_any_buffer_is_taken(make):
    assert mmcpp.content_hash(make(b"abc")) == 0x6437B3AC38465133


def test_what_is_no_contiguous_buffer_is_refused():
    with pytest.raises(TypeError, match="bytes-like.*str"):
        mmcpp.content_hash("abc")
    with pytest.raises(TypeError, match="bytes-like.*NoneType"):
        mmcpp.content_digest(None)
    with pytest.raises(ValueError, match="not C-contiguous"):
        mmcpp.content_hash(memoryview(b"abcdef")[::2])


@pytest.mark.parametrize(
    "value",
    [
        np.array([object(), 1], dtype=object),
        np.zeros(2, dtype=[("name", "O"), ("size", "i4")]),
        memoryview(np.array(["a"], dtype=object)),
        (ctypes.py_object * 2)(1, 2),
    ],
)
def test_arrays_of_objects_are_refused(value):
    """Their memory holds addresses, so that equal ones would differ and others meet."""
    for function in (mmcpp.content_hash, mmcpp.content_digest, hash_value):
        with pytest.raises(TypeError, match="object"):
            function(value)
    with pytest.raises(TypeError, match="object"):
        mmcpp.decode_image(value)


def test_types_whose_format_numpy_cannot_say_are_bytes_too():
    dates = np.array(["2020-01-01"], dtype="datetime64[D]")
    assert mmcpp.content_hash(dates) == mmcpp.content_hash(dates.tobytes())
