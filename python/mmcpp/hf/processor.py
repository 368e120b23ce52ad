"""Image processors of transformers whose work mmcpp does: subclasses of transformers' own classes, which stay what
they are in every respect but time, and do what mmcpp does not support themselves."""

from __future__ import annotations

import functools
import json
import threading
import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mmcpp.errors import UnsupportedError
from mmcpp.hf.forms import Form, difference, form_of, in_form
from mmcpp.hf.pictures import flat, to_core
from mmcpp.hf.settings import Native, class_and_backend, native_for, plain_settings

if TYPE_CHECKING:
    from mmcpp.spec import Backend

__all__ = ["Accelerated", "FallbackWarning", "Unsupported", "accelerate"]

Unsupported = Literal["warn", "error"]
"""What becomes of what mmcpp does not do: transformers does it, with a warning once, or an ``UnsupportedError``."""


class FallbackWarning(UserWarning):
    """Something is left to transformers' own class. Given once for each reason in a process."""


@dataclass(frozen=True)
class _State:
    """What an accelerated processor knows besides its attributes."""

    class_name: str
    backend: Backend
    unsupported: Unsupported
    proven: dict[str, Any] = field(default_factory=dict)
    """The settings with which both gave the same."""
    forms: dict[str, Form] = field(default_factory=dict)
    """Key of the result -> its form where no ``return_tensors`` is asked for."""
    calls: dict[str, int] = field(default_factory=lambda: {"mmcpp": 0, "transformers": 0})


class Accelerated:
    """What ``accelerate`` puts before a class of transformers. ``isinstance`` with both is true.

    Copies and pickles, also to other processes. As thread-safe as transformers' class.
    """

    _mmcpp: _State

    @property
    def mmcpp_calls(self) -> dict[str, int]:
        """Who did the calls of this object so far: ``{"mmcpp": n, "transformers": m}``."""
        return dict(self._mmcpp.calls)

    def _preprocess_image_like_inputs(self, images: Any, *args: Any, **kwargs: Any) -> Any:
        """Where transformers comes to after it has checked and merged the arguments of a call."""
        state = self._mmcpp
        try:
            result = self._by_mmcpp(images, args, kwargs)
        except ValueError as error:
            reason = f"{type(self).__name__}: {error}"
            if state.unsupported == "error" and isinstance(error, UnsupportedError):
                raise UnsupportedError(reason) from None
        else:
            state.calls["mmcpp"] += 1
            return result
        parent: Any = super()
        result = parent._preprocess_image_like_inputs(images, *args, **kwargs)  # or what it refuses, in its own words
        if state.unsupported == "error":
            raise UnsupportedError(reason)
        state.calls["transformers"] += 1
        _warn(reason)
        return result

    def _by_mmcpp(self, images: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        native = self._native(kwargs)
        owner: Any = self
        pictures = flat(owner._prepare_images_structure(images))
        if args and args != ([1] * len(pictures),):  # pictures a sample, of LLaVA-OneVision
            raise UnsupportedError("further positional arguments are not supported")
        order = kwargs.get("input_data_format")
        media = [to_core(picture, converts=native.converts, input_data_format=order) for picture in pictures]
        tensors = native.processor(media)
        for name, number in native.constants.items():
            tensors[name] = np.full(len(media), number, np.int64)
        return _batch(tensors, self._mmcpp.forms, kwargs.get("return_tensors"))

    def _native(self, kwargs: dict[str, Any]) -> Native:
        state = self._mmcpp
        settings = plain_settings(kwargs, type(self))
        native = native_for(state.class_name, state.backend, settings)
        off = tuple(f"{name[3:]}_" for name, value in kwargs.items() if name.startswith("do_") and not value)
        for name in sorted(settings.keys() | state.proven.keys()):
            # What belongs to a step that is left out, as pan_and_scan_min_crop_size to do_pan_and_scan, has no effect.
            ignored = name in native.read or name.startswith(off)
            if not ignored and settings.get(name) != state.proven.get(name):
                raise UnsupportedError(f"{name} {json.dumps(settings.get(name))} is not supported")
        # Janus and DeepSeek-VL make this of their mean once, when they are made.
        if hasattr(self, "background_color") and settings.get("image_mean") != state.proven.get("image_mean"):
            raise UnsupportedError("another image_mean than that of the background is not supported")
        return native

    def to_dict(self) -> dict[str, Any]:
        """As transformers: what ``save_pretrained`` writes, without a trace of mmcpp."""
        parent: Any = super()
        attributes: dict[str, Any] = parent.to_dict()
        attributes.pop("_mmcpp", None)
        return attributes

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Name the class of transformers: this one is made when it is needed."""
        return _empty, (type(self).__mro__[2],), self.__dict__


def accelerate(processor: Any, *, unsupported: Unsupported = "warn") -> Any:
    """Let mmcpp do the work of an image processor of transformers, or of the one within a processor.

    Before anything is replaced, both process two small pictures; only where keys, types, shapes, dtypes and bytes are
    the same is the result an ``Accelerated`` one.

    Args:
        processor: a ``transformers.BaseImageProcessor``, which is left as it is; or a ``ProcessorMixin``, whose
            attribute ``image_processor`` is replaced.
        unsupported: what becomes of what mmcpp does not do: ``"warn"`` leaves it to transformers' own class with a
            ``FallbackWarning`` once, ``"error"`` raises. For this call and for those of the result.

    Returns:
        A subclass's instance with the same attributes, called with the same arguments; ``processor`` itself if it is a
        ``ProcessorMixin`` or not supported.

    Raises:
        UnsupportedError: not supported, and ``unsupported="error"``.
        ValueError: another ``unsupported``.
    """
    if unsupported not in ("warn", "error"):
        raise ValueError(f'unsupported: expected "warn" or "error", got {unsupported!r}')
    if isinstance(processor, Accelerated):
        ours = _empty(type(processor).__mro__[2])
        ours.__dict__.update(processor.__dict__, _mmcpp=replace(processor._mmcpp, unsupported=unsupported))
        return ours
    try:
        inner = getattr(processor, "image_processor", None)
        if inner is not None:
            processor.image_processor = accelerate(inner, unsupported=unsupported)
            return processor
        return _proven(processor, unsupported)
    except UnsupportedError as error:
        if unsupported == "error":
            raise
        _warn(str(error))
        return processor


def _proven(processor: Any, unsupported: Unsupported) -> Any:
    """An accelerated copy, after a comparison."""
    hf_class = type(processor)
    if not hasattr(hf_class, "_preprocess_image_like_inputs") or not hasattr(processor, "_valid_kwargs_names"):
        raise UnsupportedError(f"{hf_class.__name__} is not built like the image processors of transformers 5.24")
    class_name, backend = class_and_backend(hf_class)
    ours = _empty(hf_class)
    ours.__dict__.update(processor.__dict__)
    arguments = processor._standardize_kwargs(**{n: getattr(processor, n, None) for n in processor._valid_kwargs_names})
    settings = plain_settings(arguments, hf_class)
    try:
        native_for(class_name, backend, settings)  # for its errors, before anything costs time
    except UnsupportedError:
        raise
    except ValueError as error:
        raise UnsupportedError(f"{hf_class.__name__}: {error}") from None
    key = json.dumps([class_name, backend, settings], sort_keys=True)
    if key not in _FORMS:
        pictures: list[Any] = [_picture(40, 56), _picture(64, 45)]
        if isinstance(processor._prepare_images_structure(pictures[:1])[0], (list, tuple)):
            pictures = [[picture] for picture in pictures]
        theirs = processor(pictures)
        if isinstance(pictures[0], list) and next(iter(theirs.values()))[0].ndim > _MOST_AXES:
            raise UnsupportedError(f"{hf_class.__name__} puts several pictures into one sample and stays in use")
        converted = processor(pictures[:1], return_tensors="np" if backend == "pil" else "pt")
        forms = {
            name: ("kept", form_of(value)) if isinstance(converted.get(name), list) else form_of(value)
            for name, value in theirs.items()
        }
        ours._mmcpp = _State(class_name, backend, "error", settings, forms)
        try:
            differs = difference(ours(pictures), theirs)
        except UnsupportedError:
            raise
        except (ValueError, TypeError) as error:
            differs = str(error)
        if differs is None and ours.mmcpp_calls["mmcpp"] != 1:
            differs = "the way of a call has changed"
        if differs is not None:
            raise UnsupportedError(
                f"{hf_class.__name__} of the transformers installed is not equalled ({differs}) and stays in use"
            )
        _FORMS[key] = forms
    ours._mmcpp = _State(class_name, backend, unsupported, settings, _FORMS[key])
    return ours


_MOST_AXES = 3
"""Of one picture's pixels: those that have more are of a sample's pictures."""
_FORMS: dict[str, dict[str, Form]] = {}
"""Class and settings that were compared already -> the forms found."""
_WARNED: set[str] = set()
_LOCK = threading.Lock()


def _warn(reason: str) -> None:
    with _LOCK:
        if reason in _WARNED:
            return
        _WARNED.add(reason)
    warnings.warn(f"{reason}; transformers does it, mmcpp does not", FallbackWarning, stacklevel=4)


def _picture(height: int, width: int) -> Any:
    """Something coloured, the same on every machine."""
    from PIL import Image

    index = np.arange(height * width * 3, dtype=np.uint64)
    values = (((index * 2654435761) % 2**32) >> 16) & 255
    return Image.fromarray(values.astype(np.uint8).reshape(height, width, 3))


@functools.cache
def _class_for(hf_class: type) -> Any:
    # Of the same name: it is what transformers writes into files, and what others look for.
    return type(hf_class.__name__, (Accelerated, hf_class), {"__module__": __name__, "__doc__": hf_class.__doc__})


def _empty(hf_class: type) -> Any:
    cls = _class_for(hf_class)
    return cls.__new__(cls)


def _batch(tensors: dict[str, Any], forms: dict[str, Form], return_tensors: Any) -> Any:
    from transformers.image_processing_utils import BatchFeature

    kind = getattr(return_tensors, "value", return_tensors)
    if kind not in (None, "np", "pt"):
        raise UnsupportedError(f"return_tensors {kind!r} is not supported")
    if list(tensors) != list(forms):
        tensors = {name: tensors[name] for name in forms if name in tensors} | tensors
    if kind is not None:
        return BatchFeature(
            {name: _converted(forms.get(name, ("array",)), array, kind) for name, array in tensors.items()}
        )
    unseen = [name for name in tensors if name not in forms]
    if unseen:  # of small pictures there was none
        raise UnsupportedError(f"{unseen[0]} without return_tensors is not supported")
    return BatchFeature({name: in_form(forms[name], array) for name, array in tensors.items()})


def _converted(form: Form, array: Any, kind: str) -> Any:
    """What ``return_tensors`` makes of a result."""
    if form[0] == "kept":
        return in_form(form, array)
    if kind == "np":
        return array
    import torch

    return torch.from_numpy(array)
