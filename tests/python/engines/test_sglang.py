"""SGLang's extension replaced: what its code imports is mmcpp's."""

import sys
from types import ModuleType

import pytest

import mmcpp.common
import mmcpp.dsv41
import mmcpp.inkling
import mmcpp.qwen_vl
from mmcpp.engines import sglang
from mmcpp.engines.sglang import MODULE, install, make_module, uninstall
from samples import noise


@pytest.fixture(autouse=True)
def taken_back(monkeypatch):
    monkeypatch.setattr(sglang, "_CACHE", {})
    yield
    uninstall()
    assert MODULE not in sys.modules


def test_the_module_has_what_sglang_takes_from_it():
    module = make_module()
    assert module.common is mmcpp.common
    assert module.dsv41 is mmcpp.dsv41
    assert module.inkling is mmcpp.inkling
    assert module.qwen_vl is mmcpp.qwen_vl
    picture = noise(20, 30)
    resized = module.common.resize_rgb(picture, 15, 10, "pil_lanczos")  # as muse_spark_omni.py calls it
    assert resized.shape == (10 * 15 * 3,)


def test_it_is_found_where_sglang_looks():
    install(processors=False)
    module = sys.modules[MODULE]
    install(processors=False)  # once more changes nothing
    assert sys.modules[MODULE] is module
    uninstall()
    uninstall()
    assert MODULE not in sys.modules


def test_it_is_an_attribute_of_the_package_too(monkeypatch):
    package = ModuleType("sglang.srt.rust_extensions")
    monkeypatch.setitem(sys.modules, "sglang.srt.rust_extensions", package)
    install(processors=False)
    assert package._multimodal is sys.modules[MODULE]
    uninstall()
    assert not hasattr(package, "_multimodal")


def test_what_was_loaded_before_comes_back(monkeypatch):
    before = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, before)
    install(processors=False)
    assert sys.modules[MODULE] is not before
    uninstall()
    assert sys.modules[MODULE] is before
    monkeypatch.delitem(sys.modules, MODULE)


def test_the_rest_is_sglangs_own(monkeypatch):
    own = ModuleType("_multimodal")
    own.later = object()
    monkeypatch.setattr(sglang, "_load_own", lambda: own)
    assert make_module().later is own.later
    with pytest.raises(AttributeError):
        make_module().no_such_part  # noqa: B018


def test_without_sglang_the_rest_is_missing(monkeypatch):
    monkeypatch.setattr(sglang.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AttributeError, match="mmcpp has no later, and SGLang's own extension is not installed"):
        make_module().later  # noqa: B018
    assert not hasattr(make_module(), "__path__")


@pytest.mark.hf
def test_image_processors_too():
    transformers = pytest.importorskip("transformers", minversion="5.24", reason="it patches transformers 5.24")
    stock = transformers.AutoImageProcessor.__dict__["from_pretrained"]
    install()
    assert transformers.AutoImageProcessor.__dict__["from_pretrained"] is not stock
    uninstall()
    assert transformers.AutoImageProcessor.__dict__["from_pretrained"] is stock


def test_its_own_file_is_loaded_where_it_is_installed():
    own = sglang._load_own()
    if own is None:
        pytest.skip("sglang is not installed")
    assert callable(own.common.resize_rgb)
