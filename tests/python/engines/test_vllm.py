"""The plugin of vLLM: it is found, it patches, and it does not get in the way."""

import logging
import sys
from pathlib import Path

import pytest

from mmcpp.engines.vllm import register

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    tomllib = None

PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def test_the_entry_point_names_it():
    tomllib or pytest.skip("Python 3.10 has no tomllib")
    points = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]
    assert points["vllm.general_plugins"] == {"mmcpp": f"{register.__module__}:{register.__name__}"}


@pytest.mark.hf
def test_it_patches_transformers():
    transformers = pytest.importorskip("transformers", minversion="5.24", reason="it patches transformers 5.24")
    from mmcpp.hf import unpatch_transformers

    stock = transformers.AutoImageProcessor.__dict__["from_pretrained"]
    try:
        register()
        register()  # vLLM may
        assert transformers.AutoImageProcessor.__dict__["from_pretrained"] is not stock
    finally:
        unpatch_transformers()
    assert transformers.AutoImageProcessor.__dict__["from_pretrained"] is stock


def test_a_server_starts_without_transformers(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with caplog.at_level(logging.ERROR):
        register()
    assert "transformers is left as it is" in caplog.text
