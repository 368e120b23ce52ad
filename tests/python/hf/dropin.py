"""What the tests of ``mmcpp.hf`` share: image processors of every supported class, and pictures in every form that
transformers takes."""

import functools
import importlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from hf import picture_in
from mmcpp.hf import Accelerated, accelerate
from mmcpp.hf.forms import difference
from mmcpp.spec import backends, families
from samples import encode, noise, smooth
from test_hf_pretrained import CASES


def stand_in(name: str) -> Any:
    """One of transformers' image processors: of the tests of families, or of a class as it is without settings."""
    module = next((module for module, case in CASES if case == name), None)
    if module is not None:
        theirs = importlib.import_module(module).processor(name)
        return getattr(theirs, "whole", theirs)
    return getattr(importlib.import_module("transformers"), f"{name}Pil")()


NESTING = ("Idefics3ImageProcessor", "MllamaImageProcessor", "SmolVLMImageProcessor")
"""Classes whose results have the pictures of a sample together."""


def names(backend: str) -> list[str]:
    """The small ones of the tests of families, and every class of transformers that is not among those; where they
    have the backend. Without those that nest."""
    transformers = importlib.import_module("transformers")
    small = {name: type(stand_in(name)).__name__.removesuffix("Pil") for _, name in CASES}
    others = [name for family in families().values() for name in family["image_processors"]]
    classes = small | {name: name for name in others if name not in small.values()}
    suffix = "Pil" if backend == "pil" else ""
    classes = {name: cls for name, cls in classes.items() if cls not in NESTING}
    return [name for name, cls in classes.items() if backend in backends(cls) and hasattr(transformers, cls + suffix)]


@functools.cache
def processor(name: str, backend: str) -> Any:
    """An image processor of transformers, with the backend's own class."""
    theirs = stand_in(name)
    if backend == "torchvision":
        cls = getattr(importlib.import_module("transformers"), type(theirs).__name__.removesuffix("Pil"))
        theirs = cls(**{k: v for k, v in theirs.to_dict().items() if k in cls.valid_kwargs.__annotations__})
    return theirs


def pair(name: str, backend: str) -> tuple[Any, Any]:
    """Ours, and theirs."""
    theirs = processor(name, backend)
    ours = accelerate(theirs, unsupported="error")
    assert isinstance(ours, Accelerated) and isinstance(ours, type(theirs))
    return ours, theirs


def inputs() -> dict[str, Callable[[], Any]]:
    """Pictures in all forms."""
    import torch

    array = smooth(61, 90)
    images = [Image.fromarray(smooth(61, 90)), Image.fromarray(noise(50, 50)), picture_in("RGBA", 33, 70)]
    return {
        **{f"pil {mode}": functools.partial(picture_in, mode, 61, 90) for mode in ("RGB", "L", "RGBA", "P", "CMYK")},
        "jpeg": lambda: Image.open(io.BytesIO(encode(picture_in("RGB", 61, 90), "JPEG"))),
        "jpeg of CMYK": lambda: Image.open(io.BytesIO(encode(picture_in("CMYK", 61, 90), "JPEG"))),
        "png": lambda: Image.open(io.BytesIO(encode(picture_in("RGBA", 61, 90)))),
        "array, channels last": lambda: array,
        "array, channels first": lambda: array.transpose(2, 0, 1),
        "array of one channel": lambda: array[:, :, :1],
        "tensor": lambda: torch.from_numpy(array.transpose(2, 0, 1).copy()),
        "tensor, channels last": lambda: torch.from_numpy(array.copy()),
        "batch in one array": lambda: np.stack([array, noise(61, 90)]),
        "batch in one tensor": lambda: torch.from_numpy(np.stack([array, noise(61, 90)])).permute(0, 3, 1, 2),
        "list": lambda: images,
        "tuple": lambda: tuple(images),
        "list of arrays": lambda: [np.asarray(image.convert("RGB")) for image in images],
        "samples of one picture": lambda: [[image] for image in images],
    }


def outcome(call: Callable[[], Any]) -> Any:
    """A result as a dict, or what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return dict(call())
        except Exception as error:  # any: both sides must fail alike
            return f"{type(error).__name__}: {error}"


def assert_alike(ours: Callable[[], Any], theirs: Callable[[], Any]) -> bool:
    """The same result or the same failure. Gives whether it is a result."""
    got, expected = outcome(ours), outcome(theirs)
    if isinstance(expected, str) or isinstance(got, str):
        assert got == expected
        return False
    assert difference(got, expected) is None
    return True
