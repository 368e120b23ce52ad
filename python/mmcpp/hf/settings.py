"""An image processor's settings, as transformers merges them for a call, turned into the processor of mmcpp that does
the same: by the reader of checkpoint files, so that there is one place that knows what is supported."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mmcpp.config_reader import ConfigReader
from mmcpp.errors import UnsupportedError
from mmcpp.pipeline import ImageProcessor
from mmcpp.spec import Backend, image_spec, per_picture_constants

__all__ = ["Native", "class_and_backend", "native_for", "plain_settings"]

# They decide on the form of the result, or on nothing: the caller looks at them, or they were used up by transformers.
_NOT_OF_PIXELS = ("return_tensors", "input_data_format", "disable_grouping", "default_to_square", "image_seq_length")
# To a file's reader too, null means no.
_NONE_IS_NO = ("rescale_image_max_upscaled_long_edge",)


@dataclass(frozen=True)
class Native:
    """What does the work of an image processor with some settings."""

    processor: ImageProcessor
    converts: bool
    """Whether pictures that are not RGB are converted; if not, transformers works on the channels that there are."""
    read: frozenset[str]
    """The settings that were looked at. Others have no effect here."""
    constants: Mapping[str, int]
    """Further keys of the result, with the number that each picture has there."""


def class_and_backend(hf_class: type) -> tuple[str, Backend]:
    """Give the name of ``hf_class`` without the suffix of its backend, and the backend.

    Raises:
        UnsupportedError: not an image processor of transformers itself, or of a backend that mmcpp does not know.
    """
    name = hf_class.__name__
    if not hf_class.__module__.startswith("transformers."):
        raise UnsupportedError(f"{name} of {hf_class.__module__} is not a class of transformers; its rules are unknown")
    bases = {base.__name__ for base in hf_class.__mro__}
    if "PilBackend" in bases:
        return name.removesuffix("Pil"), "pil"
    if "TorchvisionBackend" in bases:
        return name.removesuffix("Fast"), "torchvision"
    raise UnsupportedError(f"{name} uses neither of transformers' backends for pictures, torchvision and PIL")


def plain_settings(arguments: Mapping[str, Any], defaults: type) -> dict[str, Any]:
    """Give merged arguments of a call as the JSON values that a checkpoint's file would have.

    Args:
        arguments: name -> value, with the types of transformers.
        defaults: the class whose attributes are the defaults.

    Raises:
        UnsupportedError: a value that no file has, such as None for a size.
    """
    settings: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in _NOT_OF_PIXELS:
            continue
        if name == "device":
            if value is not None and str(value) != "cpu":
                raise UnsupportedError(f"device {str(value)!r} is not supported; supported: the CPU")
            continue
        if value is not None:
            settings[name] = _plain(value)
        elif getattr(defaults, name, None) is not None:
            # To a file's reader null means the default, to a call it means no.
            if name not in _NONE_IS_NO and not name.startswith("do_"):
                raise UnsupportedError(f"{name} None is not supported; supported: a value")
            settings[name] = None if name in _NONE_IS_NO else False
    return settings


def native_for(class_name: str, backend: Backend, settings: Mapping[str, Any]) -> Native:
    """Give what does the work of the class with these settings.

    Args:
        class_name: of transformers, without the suffix of its backend.
        backend: whose arithmetic to follow.
        settings: from ``plain_settings``.

    Raises:
        UnsupportedError: a class or a setting that mmcpp does not do.
        ValueError: a value of the wrong type or out of range.
    """
    return _native(class_name, backend, json.dumps(settings, sort_keys=True))


@functools.lru_cache(maxsize=256)
def _native(class_name: str, backend: Backend, settings: str) -> Native:
    values = json.loads(settings)
    converts = bool(values.pop("do_convert_rgb", False))
    reader = _Recorder(values, class_name)
    spec = image_spec(class_name, reader, backend=backend)
    read = frozenset(reader.read | {"do_convert_rgb"})
    return Native(ImageProcessor.from_spec(spec), converts, read, per_picture_constants(class_name))


class _Recorder(ConfigReader):
    """Notes which settings were looked at."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        super().__init__(values, where)
        self.read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, str)):
        return getattr(value, "value", value)  # ChannelDimension is a str too
    if isinstance(value, int):
        return int(value)  # Pillow's filters are
    if isinstance(value, float):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(member) for member in value]
    try:
        members = dict(value)  # a mapping or transformers' SizeDict
    except (TypeError, ValueError):
        raise UnsupportedError(f"a value of type {type(value).__name__} is not supported") from None
    return {str(key): _plain(member) for key, member in members.items() if member is not None}
