import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {
    "do_image_splitting": True,
    "do_pad": True,
    "image_processor_type": "Idefics3ImageProcessor",
    "max_image_size": {"longest_edge": 512},
    "resample": 1,
    "size": {"longest_edge": 2048},
}


def test_smolvlm(tmp_path):
    path = write(tmp_path, IMAGE, {"model_type": "idefics3"}, {"image_seq_len": 64})
    spec = load_spec(path)
    assert (spec["longest_edge"], spec["tile_size"], spec["tokens_per_tile"]) == (2048, 512, 64)
    assert mmcpp.ImageProcessor.from_pretrained(path).plan(480, 640).grid == (13, 3, 4)
    with pytest.raises(mmcpp.UnsupportedError, match="is not one token"):
        load_spec(path, for_prompts=True)


def test_tokens_of_the_model(tmp_path):
    model = {"model_type": "idefics3", "scale_factor": 2, "vision_config": {"image_size": 364, "patch_size": 14}}
    assert load_spec(write(tmp_path, IMAGE, model))["tokens_per_tile"] == 169


@pytest.mark.parametrize(
    ("change", "match"),
    [({"do_pad": False}, "do_pad false"), ({"size": {"height": 9, "width": 9}}, "longest_edge alone")],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
