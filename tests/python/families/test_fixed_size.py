import numpy as np
import pytest

import mmcpp
from checkpoints import write
from mmcpp.spec import load_spec

# As the released checkpoints have them.
LLAVA = {
    "crop_size": {"height": 336, "width": 336},
    "do_center_crop": True,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_processor_type": "CLIPImageProcessor",
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "resample": 3,
    "size": {"shortest_edge": 336},
}
GEMMA3 = {
    "do_convert_rgb": None,
    "do_pan_and_scan": None,
    "image_processor_type": "Gemma3ImageProcessor",
    "image_seq_length": 256,
    "resample": 2,
    "size": {"height": 896, "width": 896},
}
PROCESSOR = {"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}


def test_llava(tmp_path):
    spec = load_spec(write(tmp_path, LLAVA, {"model_type": "llava", "image_token_index": 32000}, PROCESSOR))
    assert (spec["height"], spec["width"], spec["shortest_edge"], spec["filter"]) == (336, 336, 336, "bicubic")
    assert (spec["tokens_per_image"], spec["image_token_id"]) == (576, 32000)
    response = mmcpp.Pipeline.from_pretrained(tmp_path).process(
        input_ids=[1, 32000], images=[np.zeros((5, 9, 3), np.uint8)]
    )
    assert len(response.input_ids) == 577


def test_gemma3(tmp_path):
    path = write(tmp_path, GEMMA3, {"model_type": "gemma3"})
    spec = load_spec(path)
    assert (spec["height"], spec["filter"], spec["tokens_per_image"]) == (896, "bilinear", 256)
    assert "shortest_edge" not in spec
    with pytest.raises(mmcpp.UnsupportedError, match="'<image_soft_token>' is not one token"):
        load_spec(path, for_prompts=True)


def test_vipllava(tmp_path):
    spec = load_spec(write(tmp_path, LLAVA, {"model_type": "vipllava"}, PROCESSOR), for_prompts=True)
    assert (spec["tokens_per_image"], spec["image_token_id"]) == (576, 32000)


def test_colpali(tmp_path):
    image = {"image_processor_type": "SiglipImageProcessor", "size": {"height": 448, "width": 448}}
    model = {"model_type": "colpali", "vlm_config": {"image_token_index": 257152}}
    spec = load_spec(write(tmp_path, {**image, "image_seq_length": 1024}, model), for_prompts=True)
    assert (spec["tokens_per_image"], spec["image_token_id"]) == (1024, 257152)


def test_gemma3n(tmp_path):
    image = {
        "image_processor_type": "SiglipImageProcessorFast",
        "size": {"height": 768, "width": 768},
        "resample": 2,
        "do_normalize": False,
    }
    spec = load_spec(write(tmp_path, image, {"model_type": "gemma3n", "vision_soft_tokens_per_image": 256}))
    assert (spec["tokens_per_image"], spec["do_normalize"], spec["filter"]) == (256, False, "bilinear")
    assert "image_mean" not in spec


def test_paligemma_and_old_sizes(tmp_path):
    image = {"image_processor_type": "SiglipImageProcessor", "size": 224}
    spec = load_spec(write(tmp_path, image, {"model_type": "paligemma", "image_token_index": 257152}))
    assert (spec["height"], spec["tokens_per_image"], spec["image_token_id"]) == (224, 256, 257152)
    old = {"feature_extractor_type": "CLIPFeatureExtractor", "size": 224, "crop_size": 224}
    spec = load_spec(write(tmp_path, old, {}))
    assert (spec["height"], spec["shortest_edge"]) == (224, 224)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"do_center_crop": False}, "do_center_crop false"),
        ({"do_pad": True}, "do_pad true"),
        ({"resample": 0}, "resample 0"),
        ({"size": {"height": 336, "width": 336}}, "size .*shortest_edge alone"),
        ({"crop_size": {"shortest_edge": 336}}, "crop_size .*height and width"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, change, match):
    with pytest.raises(mmcpp.UnsupportedError, match=match):
        load_spec(write(tmp_path, {**LLAVA, **change}))


def test_pan_and_scan_is_refused(tmp_path):
    with pytest.raises(mmcpp.UnsupportedError, match="do_pan_and_scan true"):
        load_spec(write(tmp_path, {**GEMMA3, "do_pan_and_scan": True}))
