"""Settings of transformers' image processors as those of a checkpoint's file, on a stand-in of their classes."""

import enum

import pytest

import mmcpp
from mmcpp.hf.settings import class_and_backend, native_for, plain_settings


class PilBackend:
    """Named as transformers' own."""


class CLIPImageProcessorPil(PilBackend):
    """With two of its defaults."""

    do_resize = True
    size = 224
    do_pad = None


class Order(str, enum.Enum):
    FIRST = "channels_first"


class Filter(enum.IntEnum):
    BICUBIC = 3


def test_a_class_is_known_by_its_name_its_module_and_its_backend():
    with pytest.raises(mmcpp.UnsupportedError, match="not a class of transformers"):
        class_and_backend(CLIPImageProcessorPil)
    inside = type("CLIPImageProcessorPil", (PilBackend,), {"__module__": "transformers.models.clip"})
    assert class_and_backend(inside) == ("CLIPImageProcessor", "pil")
    torch = type("TorchvisionBackend", (), {})
    assert class_and_backend(type("XFast", (torch,), {"__module__": "transformers.x"})) == ("X", "torchvision")
    with pytest.raises(mmcpp.UnsupportedError, match="neither of transformers' backends"):
        class_and_backend(type("X", (), {"__module__": "transformers.x"}))


def test_values_are_those_of_json():
    arguments = {
        "size": {"height": 2, "width": None}, "image_mean": (0.5, 1), "data_format": Order.FIRST, "do_pad": None,
        "resample": Filter.BICUBIC, "do_resize": True, "return_tensors": "np", "device": "cpu",
    }  # fmt: skip
    settings = plain_settings(arguments, CLIPImageProcessorPil)
    assert settings == {
        "size": {"height": 2}, "image_mean": [0.5, 1], "data_format": "channels_first", "resample": 3,
        "do_resize": True,
    }  # fmt: skip
    assert [type(settings[name]) for name in ("data_format", "resample")] == [str, int]


def test_none_means_no_where_the_default_is_another():
    assert plain_settings({"do_resize": None}, CLIPImageProcessorPil) == {"do_resize": False}
    with pytest.raises(mmcpp.UnsupportedError, match="size None"):
        plain_settings({"size": None}, CLIPImageProcessorPil)


@pytest.mark.parametrize(("name", "value"), [("device", "cuda:0"), ("size", object()), ("image_mean", [object()])])
def test_values_that_no_file_has_are_refused(name, value):
    with pytest.raises(mmcpp.UnsupportedError):
        plain_settings({name: value}, CLIPImageProcessorPil)


def test_the_native_processor_is_made_once_and_says_what_it_looked_at():
    settings = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}, "do_convert_rgb": True}
    native = native_for("CLIPImageProcessor", "pil", settings)
    assert native is native_for("CLIPImageProcessor", "pil", dict(reversed(settings.items())))
    assert native is not native_for("CLIPImageProcessor", "torchvision", settings)
    assert native.processor.spec["height"] == native.processor.spec["shortest_edge"] == 32
    assert native.converts and {"do_convert_rgb", "do_resize", "size", "image_mean"} <= native.read
    assert "pad_size" not in native.read
    assert not native_for("CLIPImageProcessor", "pil", {}).converts
    assert native_for("Gemma3ImageProcessor", "pil", {}).constants == {"num_crops": 0}


@pytest.mark.parametrize(
    ("name", "settings"),
    [("NoSuchProcessor", {}), ("CLIPImageProcessor", {"do_resize": False}), ("CLIPImageProcessor", {"do_new": True})],
)
def test_what_the_reader_of_files_refuses_is_refused(name, settings):
    with pytest.raises(mmcpp.UnsupportedError):
        native_for(name, "pil", settings)
