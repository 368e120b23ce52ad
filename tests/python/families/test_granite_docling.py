import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {"image_processor_type": "GraniteDoclingImageProcessor", "max_patches": 32}


def test_granite_docling(tmp_path):
    path = write(tmp_path, IMAGE, {"model_type": "granite_docling"}, {"image_seq_len": 64})
    spec = load_spec(path)
    assert (spec["tile_height"], spec["min_tiles"], spec["max_tiles"]) == (512, 1, 32)
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(1100, 850).feature_shape == (1, 13, 3, 512, 512)
    write(tmp_path, {**IMAGE, "crop_to_patches": False, "min_patches": 2})
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(1100, 850).feature_shape == (1, 1, 3, 512, 512)
    with pytest.raises(mmcpp.UnsupportedError, match="is not one token"):
        load_spec(path, for_prompts=True)


@pytest.mark.parametrize(
    ("change", "match"),
    [({"fine_route": True}, "fine_route true"), ({"dense_max_patches": 40}, "dense_max_patches 40")],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
