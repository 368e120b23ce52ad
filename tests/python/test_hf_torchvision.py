"""Every family against transformers' torchvision classes with torchvision itself, where that is installed: what the
other tests compose from torch's operations is what it does."""

import importlib

import numpy as np
import pytest

from hf import Both, compare

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torchvision", reason="torchvision's classes need it")

MODULES = (
    "patch_grids", "padded_grids", "fixed_size", "internvl", "pixtral", "llava_next", "padded_patches", "idefics3",
    "llama", "global_tiles", "perception_lm", "minicpmv", "ovis2", "deepseek_vl_hybrid", "granite_docling", "lfm2_vl",
    "phi4_multimodal", "inkling",
)  # fmt: skip
CASES = [(module, name) for module in MODULES for name in importlib.import_module(f"test_hf_{module}").CASES]


class Torchvision:
    """The torchvision class of a processor."""

    backend = "torchvision"

    def __init__(self, theirs) -> None:
        name = type(theirs).__name__.removesuffix("Pil")
        self._processor = getattr(transformers, name).from_dict(theirs.to_dict())
        assert self._processor.backend == "torchvision"

    def __call__(self, images, return_tensors):
        assert return_tensors == "np"
        return {name: np.asarray(value) for name, value in self._processor(images, return_tensors="pt").items()}


class OfBoth:
    """The torchvision class of a pair."""

    backend = "torchvision"

    def __init__(self, pair: Both) -> None:
        self._pair = pair

    def __call__(self, images, return_tensors):
        if self._pair.nested and isinstance(images, list):
            images = [[image] for image in images]
        return self._pair.torchvision(images, return_tensors=return_tensors)


@pytest.mark.parametrize(("module", "name"), CASES)
def test_tensors(module, name):
    of = importlib.import_module(f"test_hf_{module}")
    theirs = of.processor(name)
    if "rule" in theirs.backend:
        pytest.skip("there is no class")
    unused = ("num_crops",) if name == "gemma3" else getattr(of, "UNUSED", ())
    real = theirs
    if theirs.backend != "torchvision":
        real = OfBoth(theirs) if isinstance(theirs, Both) else Torchvision(theirs)
    more = getattr(of, "MORE_SIZES", ())
    assert compare(lambda backend: of.spec_of(name, backend), real, unused, more) >= 60
