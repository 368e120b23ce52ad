import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {
    "do_image_splitting": True,
    "encoder_patch_size": 16,
    "image_processor_type": "Lfm2VlImageProcessorFast",
    "max_image_tokens": 256,
    "max_pixels_tolerance": 2.0,
    "max_tiles": 10,
    "resample": 2,
    "size": {"height": 512, "width": 512},
    "tile_size": 512,
}


def test_lfm2_vl(tmp_path):
    path = write(tmp_path, IMAGE, {"model_type": "lfm2_vl"})
    spec = load_spec(path)
    assert (spec["patch_size"], spec["min_tiles"], spec["max_tiles"], spec["filter"]) == (16, 2, 10, "bilinear")
    processor = mmcpp.ImageProcessor.from_pretrained(path)
    assert processor.plan(512, 512).feature_shape == (1, 1024, 768)
    assert processor.plan(1024, 1024).grid == (5, 2, 2)
    assert processor.count_tokens(1024, 1024) == 5 * 256
    with pytest.raises(mmcpp.UnsupportedError, match="'<image>' is not one token"):
        load_spec(path, for_prompts=True)


def test_no_splitting(tmp_path):
    path = write(tmp_path, {**IMAGE, "do_image_splitting": False})
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(1024, 1024).grid == (1, 1, 1)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"do_pad": False}, "do_pad false"),
        ({"return_row_col_info": True}, "return_row_col_info true"),
        ({"max_pixels_tolerance": "2"}, "max_pixels_tolerance"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
