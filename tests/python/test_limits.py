import dataclasses

import pytest

import mmcpp
from mmcpp import _mmcpp
from mmcpp.spec import preset_spec
from samples import png


def test_defaults_are_those_of_the_core():
    assert dataclasses.astuple(mmcpp.DecodeLimits()) == _mmcpp.default_decode_limits()
    assert dataclasses.astuple(mmcpp.RequestLimits()) == _mmcpp.default_request_limits()


@pytest.mark.parametrize(
    ("value", "error"), [(-1, ValueError), (2**63, ValueError), (1.5, TypeError), (True, TypeError)]
)
@pytest.mark.parametrize("cls", [mmcpp.DecodeLimits, mmcpp.RequestLimits])
def test_what_is_no_size_is_refused(cls, value, error):
    for field in dataclasses.fields(cls):
        with pytest.raises(error, match=field.name):
            cls(**{field.name: value})


def test_a_side_fits_in_31_bits():
    with pytest.raises(ValueError, match="max_side: expected 0 to 2147483647, got 2147483648"):
        mmcpp.DecodeLimits(max_side=2**31)


@pytest.mark.parametrize("limits", [mmcpp.RequestLimits(), mmcpp.DecodeLimits, (1, 2, 3), 5, mmcpp.build_info()])
def test_limits_of_another_kind_are_refused(limits):
    spec = preset_spec("qwen2_vl")
    with pytest.raises(TypeError, match="limits: expected DecodeLimits or None, got "):
        mmcpp.decode_image(png(4, 5), limits=limits)
    with pytest.raises(TypeError, match="limits: expected DecodeLimits or None, got "):
        mmcpp.ImageProcessor.from_spec(spec, limits=limits)
    pipeline, ids = mmcpp.Pipeline.from_spec(spec), [spec["image_token_id"]]
    with pytest.raises(TypeError, match="limits: expected RequestLimits or None, got DecodeLimits"):
        pipeline.process(input_ids=ids, images=[png(4, 5)], limits=mmcpp.DecodeLimits())
