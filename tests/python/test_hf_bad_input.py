"""Pictures that are hardly any, of every spec of the parity tests: where transformers 5.24 throws, a typed error; where
it makes something, the same bytes."""

import json
from pathlib import Path

import numpy as np
import pytest

import mmcpp
from hf import assert_equal, backends_of, picture_in, run

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/families.json").read_text(encoding="utf-8"))
MODULES = sorted(path.stem for path in Path(__file__).parent.glob("test_hf_*.py"))
THIN = [(1, 1), (1, 7), (7, 1), (1, 199), (1, 200), (1, 201), (200, 1), (201, 1), (2, 402)]
THINNER = [(3, 1000), (1000, 3), (1, 1000), (1000, 1), (1, 3000)]
OF_THE_PROCESSOR = ("num_crops", "rows", "cols")
"""What theirs gives for its own use, or that is the same for each picture."""


def modules():
    """Those that have specs and processors for them."""
    for name in MODULES:
        if name == Path(__file__).stem:
            continue
        try:
            module = __import__(name)
        except pytest.skip.Exception:  # it needs what is not installed
            continue
        if all(hasattr(module, part) for part in ("CASES", "spec_of", "processor")):
            yield module


def result_of(call, picture):
    try:
        return dict(call(picture))
    except (ValueError, mmcpp.MmError, ZeroDivisionError, RuntimeError) as error:
        return error


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_thin_pictures(module):
    compared = 0
    for name in module.CASES:
        theirs = module.processor(name)
        for backend in backends_of(theirs):
            spec = module.spec_of(name, backend)
            ours = mmcpp.ImageProcessor.from_spec(spec)
            # What cuts out the middle enlarges all of the picture first.
            for size in THIN[:3] if "shortest_edge" in spec else THIN + THINNER:
                picture, where = picture_in("RGB", *size), (name, backend, size)
                expected = result_of(lambda image, args=(theirs, backend): run(*args, image), picture)
                got = result_of(ours, picture)
                compared += 1
                if "by rule" in theirs.backend and "vanishes on a canvas" in str(got):
                    continue  # Pillow makes a picture without pixels of it, silently
                assert isinstance(got, Exception) == isinstance(expected, Exception), (where, got, expected)
                if not isinstance(got, Exception):
                    unused = [key for key in OF_THE_PROCESSOR if key in expected]
                    assert_equal(got, {key: np.asarray(v) for key, v in expected.items() if key not in unused})
    assert compared >= 3


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
@pytest.mark.parametrize("std", [[0, 1, 1], [0.0, 0.0, 0.0]])
def test_zero_std_is_refused(case, std):
    if "image_std" in case["spec"]:
        with pytest.raises(ValueError, match="image_std"):
            mmcpp.ImageProcessor.from_spec({**case["spec"], "image_std": std})
