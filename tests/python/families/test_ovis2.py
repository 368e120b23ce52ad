import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

OVIS2 = {
    "crop_to_patches": True,
    "image_processor_type": "Ovis2ImageProcessor",
    "max_patches": 9,
    "min_patches": 1,
    "size": {"height": 448, "width": 448},
}


def test_ovis2(tmp_path):
    spec = load_spec(write(tmp_path, OVIS2))
    assert (spec["tile_size"], spec["max_tiles"], spec["grid_rule"]) == (448, 9, "covering")
    processor = mmcpp.ImageProcessor.from_pretrained(tmp_path)
    assert processor.plan(1200, 500).grid == (7, 2, 3)
    assert processor.plan(100, 100).tokens == 256
    other = {**OVIS2, "use_covering_area_grid": False, "min_patches": 2}
    assert load_spec(write(tmp_path, other))["min_tiles"] == 2
    assert load_spec(write(tmp_path, {**other, "crop_to_patches": False}))["max_tiles"] == 1


def test_what_is_not_supported_is_refused(tmp_path):
    with pytest.raises(mmcpp.UnsupportedError, match="squares"):
        load_spec(write(tmp_path, {**OVIS2, "size": {"height": 448, "width": 224}}))
    with pytest.raises(mmcpp.UnsupportedError, match="do_center_crop true"):
        load_spec(write(tmp_path, {**OVIS2, "do_center_crop": True}))
