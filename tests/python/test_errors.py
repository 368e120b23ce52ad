import copy
import pickle

import pytest

import mmcpp
from samples import png


def failure(call, *args, **kwargs):
    with pytest.raises(Exception) as caught:
        call(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize("name", ["MmError", "DecodeError", "UnsupportedError", "LimitError", "FetchError"])
def test_a_class_bears_the_name_that_users_import(name):
    cls = getattr(mmcpp, name)
    assert issubclass(cls, mmcpp.MmError)
    assert issubclass(cls, ValueError)
    assert f"{cls.__module__}.{cls.__qualname__}" == f"mmcpp.{name}"


def test_the_core_raises_them_with_code_and_item():
    error = failure(mmcpp.decode_image, b"\xff\xd8\xff\xe0 no jpeg")
    assert type(error) is mmcpp.DecodeError
    assert (error.code, error.item) == ("corrupt_input", None)

    error = failure(mmcpp.decode_image, b"<!doctype html><html></html>")
    assert isinstance(error, mmcpp.MmError)

    error = failure(mmcpp.decode_image, png(10, 10), limits=mmcpp.DecodeLimits(max_pixels=99))
    assert type(error) is mmcpp.LimitError
    assert error.code == "limit_exceeded"
    assert "99" in str(error)
    assert "100" in str(error)


def test_a_bad_argument_stays_a_value_error_with_a_code():
    error = failure(mmcpp.decode_image, b"")
    assert type(error) is ValueError
    assert (error.code, error.item) == ("invalid_argument", None)


@pytest.mark.parametrize("make", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_errors_survive_pickling_and_copying(make):
    for data in (b"", b"\x89PNG\r\n\x1a\n", b"II*\0" + bytes(20)):
        error = failure(mmcpp.decode_image, data)
        again = make(error)
        assert type(again) is type(error)
        assert (str(again), again.code, again.item) == (str(error), error.code, error.item)


def test_defaults_of_a_class_made_in_python():
    assert (mmcpp.DecodeError("x").code, mmcpp.DecodeError("x").item) == ("corrupt_input", None)
