import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import families, load_spec

IMAGE = {"image_processor_type": "InklingImageProcessor"}


def test_defaults_and_scaling(tmp_path):
    spec = load_spec(write(tmp_path, IMAGE))
    assert (spec["patch_size"], spec["filter"], spec["resample"]) == (40, "lanczos", "aten_u8")
    assert "rescale_image_frac" not in spec  # nothing is scaled, so that no cap counts
    assert mmcpp.ImageProcessor.from_pretrained(tmp_path).plan(80, 80).feature_shape == (6, 2, 40, 40, 3)
    larger = load_spec(write(tmp_path, {**IMAGE, "rescale_image_frac": 2.0}))
    assert (larger["rescale_image_frac"], larger["rescale_image_max_upscaled_long_edge"]) == (2.0, 2048)
    endless = load_spec(
        write(tmp_path, {**IMAGE, "rescale_image_frac": 2.0, "rescale_image_max_upscaled_long_edge": None})
    )
    assert "rescale_image_max_upscaled_long_edge" not in endless
    write(tmp_path, {**IMAGE, "rescale_image_frac": 0.25})
    processor = mmcpp.ImageProcessor.from_pretrained(tmp_path)
    assert processor.plan(160, 160).feature_shape == (2, 2, 40, 40, 3)
    with pytest.raises(ValueError, match="1x160 by 0.25.* leaves nothing of a side"):
        processor.plan(1, 160)


def test_it_is_listed_once():
    assert families()["inkling"] == {
        "image_processors": ["InklingImageProcessor"],
        "model_types": ["inkling_mm_model"],
    }


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"do_resize": False}, "do_resize"),
        ({"size": {"height": 40, "width": 20}}, "squares"),
        ({"resample": 0}, "resample 0"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
    with pytest.raises(mmcpp.UnsupportedError, match="torchvision alone"):
        load_spec(write(tmp_path, IMAGE), backend="pil")
