"""The examples in docstrings hold."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import mmcpp

MODULES = ["mmcpp"] + [m.name for m in pkgutil.walk_packages(mmcpp.__path__, "mmcpp.") if not m.name.endswith("__")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("_mmcpp")])
def test_examples(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=flags, extraglobs={"np": np}).failed == 0
