import pytest

from mmcpp.config_reader import ConfigReader
from mmcpp.errors import UnsupportedError

READERS = {
    "integer": (5, [3], ["3", 3.0, True, []]),
    "number": (0.5, [3, 0.25], ["3", True, {}]),
    "channels": ((0.5, 0.5, 0.5), [[0.1, 0.2, 0.3]], ["3", [1, 2], [1, 2, "3"], {}]),
}


def test_null_counts_as_absent():
    assert ConfigReader({"a": None}, "x").integer("a", 5) == 5


@pytest.mark.parametrize("reader", READERS)
def test_values_of_another_type_are_refused_by_file_and_key(reader):
    default, good, bad = READERS[reader]
    read = lambda values: getattr(ConfigReader(values, "x.json"), reader)("a", default)  # noqa: E731
    assert read({}) == default
    for value in good:
        assert read({"a": value}) == (tuple(value) if isinstance(value, list) else value)
    for value in bad:
        with pytest.raises(ValueError, match="^x.json: a: expected "):
            read({"a": value})


def test_what_is_valid_and_not_done_is_refused_with_its_meaning():
    config = ConfigReader({"do_x": False}, "x.json")
    config.require("do_x", False, "without x")
    with pytest.raises(UnsupportedError, match="x.json: do_x"):
        config.require("do_x", True, "with x")
