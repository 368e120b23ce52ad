"""What is read of a spec, what is refused, and what copies and other processes get."""

import copy
import json
import multiprocessing
import pickle

import numpy as np
import pytest

import mmcpp
from mmcpp.spec import preset_spec
from samples import SPEC, noise


@pytest.fixture(scope="module", params=["torchvision", "pil"])
def processor(request):
    return mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl", backend=request.param))


@pytest.fixture(scope="module")
def pipeline():
    return mmcpp.Pipeline.from_spec(SPEC)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"patch_size": None}, "patch_size"),
        ({"patch_sise": 14}, "patch_sise.*patch_size"),
        ({"patch_size": 0}, "patch_size"),
        ({"patch_size": -1}, "patch_size"),
        ({"patch_size": 14.5}, "patch_size"),
        ({"image_mean": [0.5, 0.5]}, "image_mean"),
        ({"image_std": [0, 1, 1]}, "image_std"),
        ({"resample": "bicubic"}, "resample"),
        ({"family": "nosuch"}, "nosuch.*qwen_vl"),
    ],
)
def test_bad_specs(change, match):
    spec = {**SPEC, **change}
    with pytest.raises(ValueError, match=match) as caught:
        mmcpp.ImageProcessor.from_spec({k: v for k, v in spec.items() if v is not None})
    assert caught.value.code == "invalid_argument"


def test_specs_that_are_none():
    for text in ("", "{", "[]", "null", '{"family": "qwen_vl"'):
        with pytest.raises(ValueError, match="spec"):
            mmcpp.Pipeline.from_spec(text)
    with pytest.raises(TypeError, match="spec: .*int"):
        mmcpp.Pipeline.from_spec(5)


def test_the_spec_can_be_had_back(pipeline):
    assert pipeline.spec == json.loads(pipeline.spec_json)
    assert mmcpp.Pipeline.from_spec(pipeline.spec_json).spec == pipeline.spec
    assert pipeline.family == "qwen_vl"
    assert repr(pipeline).startswith("Pipeline.from_spec({")


def _values(processor):
    return processor(noise(56, 84))["pixel_values"]


@pytest.mark.parametrize("make", [lambda p: pickle.loads(pickle.dumps(p)), copy.copy, copy.deepcopy])
def test_processors_copy_and_pickle(processor, pipeline, make):
    np.testing.assert_array_equal(_values(make(processor)), _values(processor))
    request = {"input_ids": [5], "images": [noise(56, 84)]}
    theirs, ours = make(pipeline).process(**request), pipeline.process(**request)
    np.testing.assert_array_equal(theirs.items[0].feature, ours.items[0].feature)


def test_processors_go_to_other_processes(processor):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(_values, (processor,)), _values(processor))
