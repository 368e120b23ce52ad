"""Settings that are hardly any, one by one, of every image processor of the parity tests.

Where transformers 5.24 throws or silently makes a side of zero, a typed error; where it makes something, the same
bytes, or an error that names the setting.
"""

import copy
import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import mmcpp
from hf import Both, assert_equal, backends_of, picture_in, torchvision_stand_in
from mmcpp.config_reader import ConfigReader
from mmcpp.spec import families, image_spec

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
torch = pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

from float_rules import INTERN, MIMO  # noqa: E402  (needs torch)
from test_hf_pretrained import CASES  # noqa: E402  (needs transformers)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/families.json").read_text(encoding="utf-8"))
PICTURES = [picture_in("RGB", *size) for size in ((1, 1), (150, 110))]
OF_NO_SIZE = ("resample", "high_res_resample", "image_seq_length", "dense_max_patches")
SIDES = ("height", "width", "tile_size")
"""Those of which a small one would make thousands of tiles."""
REFUSED = {
    # what our error says, where theirs makes something: why
    r"sizes must be positive|an integer from 1 |a positive number, got 0": "none of what must be, or of its tokens",
    r"is not supported; supported:": "what the spec has no key for",
    r"is under the \d+ that are cut out": "the rest is black there",
    r"makes more than \d+ tiles": "a limit",
    r"is for square tiles": "as no checkpoint has it",
    r"cannot be cut into tiles of": "the last ones would be smaller",
}


def numbers(settings, path=()):
    """Places of whole numbers, and these."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from numbers(value, (*path, key))
        elif type(value) is int and key not in OF_NO_SIZE:
            yield (*path, key), value


def changes(settings):
    """Places, one or those of one square, and what to put there."""
    squares = {}
    for path, value in numbers(settings):
        key = path[-1]
        others = {0, value - 1} | (set() if key in SIDES or path[0] == "max_image_size" else {1, 3})
        if "min_" in key and key != "min_size":
            others.add(101)  # over the most
        for other in sorted(others - {value, -1}):
            yield [path], other
        if "size" in path[0] and len(path) == 2:
            squares.setdefault(value, []).append(path)
    for value, paths in squares.items():
        if len(paths) > 1:
            yield paths, value - 1


def changed(settings, paths, value):
    settings = copy.deepcopy(settings)
    for path in paths:
        place = settings
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
    return settings


def made_by(theirs, backend):
    """The class of transformers itself, and its settings."""
    whole = getattr(theirs, backend) if isinstance(theirs, Both) else theirs
    while hasattr(whole, "whole"):
        whole = whole.whole
    known = type(whole).valid_kwargs.__annotations__
    return type(whole), {key: value for key, value in whole.to_dict().items() if key in known}


def attempt(make, *arguments):
    """What it makes, or what it throws."""
    try:
        return make(*arguments)
    except (ValueError, mmcpp.MmError, ArithmeticError, RuntimeError, IndexError, TypeError) as error:
        return error


def their_results(cls, settings):
    """What a class gives for each picture, as arrays; where it cannot be made, the same error for each."""
    theirs = attempt(lambda: cls(**settings))

    def one(picture):
        if isinstance(theirs, Exception):
            raise theirs
        result = theirs(picture, return_tensors="pt")
        values = {key: torch.as_tensor(value) for key, value in result.items() if key not in ("rows", "cols")}
        return {k: (v.float() if v.dtype is torch.bfloat16 else v).numpy() for k, v in values.items()}

    return [attempt(one, picture) for picture in PICTURES]


def our_results(name, settings, backend):
    try:
        ours = mmcpp.ImageProcessor.from_spec(image_spec(name, ConfigReader(settings, "settings"), backend=backend))
    except ValueError as error:
        return [error] * len(PICTURES)
    return [attempt(ours, picture) for picture in PICTURES]


def check(got, expected, where):
    """Whether both made something."""
    assert not isinstance(got, Exception) or isinstance(got, (ValueError, mmcpp.MmError)), where
    if isinstance(expected, Exception) and "INTERNAL ASSERT FAILED" in str(expected):
        return False  # of torch, which cannot make a picture of one pixel; there is nothing wrong with it
    if isinstance(expected, Exception) or any(0 in value.shape for value in expected.values()):
        assert isinstance(got, Exception), (where, expected)
        return False
    if isinstance(got, Exception):
        assert any(re.search(pattern, str(got)) for pattern in REFUSED), (where, got)
        return False
    assert_equal(dict(got), expected, ("num_crops",))
    return True


@pytest.mark.parametrize(("module", "name"), CASES)
def test_settings(module, name):
    theirs = importlib.import_module(module).processor(name)
    backend = backends_of(theirs)[0]
    cls, settings = made_by(theirs, backend)
    same = 0
    for paths, value in changes(settings):
        given = changed(settings, paths, value)
        with torchvision_stand_in():
            expected = their_results(cls, given)
        ours = our_results(cls.__name__.removesuffix("Pil"), given, backend)
        results = zip(ours, expected, PICTURES, strict=True)
        same += sum(check(got, wanted, (paths, value, picture.size)) for got, wanted, picture in results)
    assert same or module == "test_hf_llava_next"  # whose resolutions are multiples of its sides


SPECS = [case["spec"] for case in GOLDEN["cases"] if case["spec"].get("resample") != "pil"]


def test_every_family_has_specs():
    assert {spec["family"] for spec in (*SPECS, *OF_THE_REFERENCE)} == set(families())


OF_THE_REFERENCE = [
    MIMO,
    INTERN,
    {
        "family": "dsv41",
        "image_token_id": 1,
        "vision_patch_size": 14,
        "vision_downsample_ratio": 3,
        "vision_min_pixels": 7056,
        "vision_max_n_token": 64,
        "vision_max_wh_ratio": 8,
    },
    {
        "family": "kimi_k3",
        "image_token_id": 1,
        "patch_size": 14,
        "merge_kernel_size": 2,
        "in_patch_limit": 100,
        "patch_limit_on_one_side": 30,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    },
]


@pytest.mark.parametrize("spec", [*SPECS, *OF_THE_REFERENCE], ids=lambda spec: spec["family"])
def test_specs(spec):
    """Of every family of the registry, whether or not transformers has a class of it: a result without empty sides, or
    a typed error."""
    made = 0
    for paths, value in changes(spec):
        try:
            ours = mmcpp.ImageProcessor.from_spec(changed(spec, paths, value))
        except ValueError:
            continue
        for picture in PICTURES:
            try:
                plan = ours.plan(picture.height, picture.width)
            except ValueError:
                continue
            made += 1
            assert min(plan.resized_height, plan.resized_width, *plan.feature_shape) > 0, (paths, value, picture.size)
            if np.prod(plan.feature_shape) < 1 << 22:
                assert all(0 not in tensor.shape for tensor in dict(ours(picture)).values()), (paths, value)
    assert made
