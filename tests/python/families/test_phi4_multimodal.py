import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

IMAGE = {
    "auto_map": {"AutoImageProcessor": "processing_phi4mm.Phi4MMImageProcessor"},
    "dynamic_hd": 36,
    "image_processor_type": "Phi4MultimodalImageProcessorFast",
}
MODEL = {"model_type": "phi4_multimodal", "vision_config": {"image_token_id": 200010}}


def test_phi4_multimodal(tmp_path):
    path = write(tmp_path, IMAGE, MODEL)
    spec = load_spec(path, for_prompts=True)
    assert (spec["image_token_id"], spec["tile_size"], spec["patch_size"], spec["max_tiles"]) == (200010, 448, 14, 36)
    assert mmcpp.Pipeline.from_pretrained(path).count_tokens(448, 448) == 545
    other = {**MODEL, "vision_config": {"image_token_id": 7}}
    assert load_spec(write(tmp_path, IMAGE, other), for_prompts=True)["image_token_id"] == 7


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"resample": 2}, "resample 2"),
        ({"size": {"height": 448, "width": 336}}, "squares"),
        ({"do_normalize": False}, "do_normalize false"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**IMAGE, **change}))
