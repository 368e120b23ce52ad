"""`qwen_vl` with the size rules and orders of patches of other checkpoints, against their classes in
transformers 5.24."""

import functools
import random
from types import SimpleNamespace

import numpy as np
import pytest

import mmcpp
from hf import Tokens, compare, compare_prompt, processing, torchvision_only
from samples import CLIP

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")
rules = pytest.importorskip("hf_rules")  # imports transformers
Keye = rules.Keye

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: their class, patch, merge, temporal, least and most pixels, mean and std, our other keys
    "glm4v": ("Glm4vImageProcessorPil", 14, 2, 2, 12544, 940800, CLIP, {"smart_resize": "glm"}),
    "glm46v": ("Glm46VImageProcessorPil", 14, 2, 2, 12544, 200000, CLIP, {"smart_resize": "glm"}),
    "paddleocr_vl": (
        "PaddleOCRVLImageProcessorPil", 14, 2, 1, 147384, 400000, HALF,
        {"smart_resize": "paddleocr", "patch_order": "raster_4d"},
    ),
    "ernie4_5_vl": ("Ernie4_5_VLMoeImageProcessorPil", 14, 2, 1, 3136, 484276, CLIP, {}),
    "dots_ocr": ("Qwen2VLImageProcessorPil", 14, 2, 1, 3136, 480000, CLIP, {"positions": "plain"}),
    "video_llama_3": ("VideoLlama3ImageProcessorPil", 14, 1, 1, 3136, 480000, HALF,
        {"positions": "plain", "image_merge_sizes": True}),
    "hunyuan_vl": ("HunYuanVLImageProcessorPil", 16, 2, 1, 4096, 200000, CLIP,
        {"patch_order": "raster", "positions": "xdrope", "row_tokens": 1, "extra_tokens": 2}),
    "hy_v4_vl": ("HYV4VLImageProcessorPil", 16, 2, 1, 65536, 400000, CLIP,
        {"patch_order": "raster", "positions": "plain"}),
    "minimax_m3_vl": ("MiniMaxM3VLImageProcessor", 14, 2, 2, 3136, 451584, CLIP, {"positions": "plain"}),
    "muse_glimmer": ("MuseGlimmerImageProcessor", 14, 2, 2, 0, 300 * 28 * 28, HALF,
        {"smart_resize": "muse", "patch_order": "raster", "filter": "lanczos", "copies_first": True,
         "positions": "plain"}),
    "muse_glimmer_3": ("MuseGlimmerImageProcessor", 8, 3, 3, 0, 50 * 24 * 24, CLIP,
        {"smart_resize": "muse", "patch_order": "raster", "filter": "bicubic", "copies_first": True,
         "positions": "plain"}),
    "keye": (Keye, 14, 2, 1, 28 * 28 * 4, 200000, HALF, {"smart_resize": "keye", "patch_order": "raster_4d"}),
}  # fmt: skip


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    _, patch, merge, temporal, least, most, channels, others = CASES[name]
    return {
        "family": "qwen_vl",
        "image_token_id": 1,
        "patch_size": patch,
        "merge_size": merge,
        "temporal_patch_size": temporal,
        "min_pixels": least,
        "max_pixels": most,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **channels,
        **others,
        **keys,
    }


def processor(name: str):
    cls, patch, merge, temporal, least, most, channels, _ = CASES[name]
    if cls is Keye:
        return Keye(**channels, patch_size=patch, merge_size=merge, min_pixels=least, max_pixels=most)
    if cls == "MuseGlimmerImageProcessor":
        sizes = {"patch_size": patch, "merge_size": merge, "temporal_patch_size": temporal}
        sizes["max_image_tokens"] = most // (patch * merge) ** 2
        filter = {"lanczos": 1, "bicubic": 3}[CASES[name][-1]["filter"]]
        return torchvision_only("muse_glimmer", cls, **sizes, resample=filter, **channels)
    torchvision = {"minimax_m3_vl": functools.partial(torchvision_only, name, cls)}
    return torchvision.get(name, getattr(transformers, cls))(
        patch_size=patch,
        merge_size=merge,
        temporal_patch_size=temporal,
        size={"shortest_edge": least, "longest_edge": most},
        **channels,
    )


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize("name", ["glm4v", "glm46v", "paddleocr_vl"])
def test_what_is_too_thin_is_refused(name):
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of(name)), processor(name)
    refused = 0
    for size in [(1, 199), (1, 200), (1, 201), (1, 5600), (1, 5700), (300, 1), (28, 5600), (28, 5601), (29, 5800)]:
        try:
            expected = theirs.get_number_of_image_patches(*size)
        except ValueError:
            refused += 1
            with pytest.raises(ValueError, match="absolute aspect ratio must be smaller than 200"):
                ours.plan(*size)
        else:
            assert ours.plan(*size).feature_shape[0] == expected
    assert refused


PROCESSORS = {
    "glm4v": "Glm4vProcessor",
    "glm46v": "Glm46VProcessor",
    "paddleocr_vl": "PaddleOCRVLProcessor",
    "video_llama_3": "VideoLlama3Processor",
}


@pytest.mark.parametrize(("name", "rule"), PROCESSORS.items())
def test_prompts(name, rule):
    replace = getattr(processing(name), rule).replace_image_token
    tokens = Tokens("<|image|>")
    theirs = processor(name)
    this = SimpleNamespace(image_processor=theirs, image_token="<|image|>")
    spec = spec_of(name, image_token_id=tokens.id("<|image|>"))
    compare_prompt(spec, tokens, "<|image|>", lambda inputs, i: replace(this, inputs, i), theirs)


def test_hunyuan_prompt():
    replace = processing("hunyuan_vl").HunYuanVLProcessor.replace_image_token
    tokens = Tokens("<begin>", "<image>", "<end>")
    begin, image, end = map(tokens.id, ("<begin>", "<image>", "<end>"))
    theirs = processor("hunyuan_vl")
    spec = spec_of("hunyuan_vl", image_token_id=image, wrapper_token_ids=[begin, end])
    for extra in (True, False):
        this = SimpleNamespace(image_processor=theirs, image_token="<image>", cat_extra_token=extra)
        compare_prompt(
            {**spec, "extra_tokens": 2 if extra else 0},
            tokens,
            "<begin><image><end>",
            lambda inputs, i, this=this: f"<begin>{replace(this, inputs, i)}<end>",
            theirs,
        )
    pipeline = mmcpp.Pipeline.from_spec(spec)
    for ids in ([image, end], [begin, image], [begin, image, 0], [0, image, end]):
        with pytest.raises(ValueError, match="does not stand between tokens"):
            pipeline.process(input_ids=ids, images=[np.zeros((9, 9, 3), np.uint8)])


def test_hy_v4_vl_prompt():
    cls = processing("hy_v4_vl").HYV4VLProcessor
    tokens = Tokens("<|image_pad|>")
    theirs = processor("hy_v4_vl")
    this = SimpleNamespace(image_processor=theirs, image_token="<|image_pad|>", _num_frame_tokens=cls._num_frame_tokens)
    spec = spec_of("hy_v4_vl", image_token_id=tokens.id("<|image_pad|>"), row_tokens=1)
    compare_prompt(spec, tokens, "<|image_pad|>", lambda inputs, i: cls.replace_image_token(this, inputs, i), theirs)


@pytest.mark.parametrize("name", ["muse_glimmer", "muse_glimmer_3"])
def test_muse_sizes(name):
    theirs, spec = processor(name).whole, spec_of(name)
    ours, merge = mmcpp.ImageProcessor.from_spec(spec), spec["merge_size"]
    choose = random.Random(7)
    sizes = [(int(2 ** choose.uniform(0, 14)), int(2 ** choose.uniform(0, 14))) for _ in range(2000)]
    sizes += [(side, side) for side in range(1, 1000)] + [(side, 2 * side) for side in range(1, 500)]
    for height, width in [(1, 1), (1, 60000), (60000, 1), (28, 28), (29, 27), *sizes]:
        expected = theirs.get_number_of_image_patches(height, width, {})
        assert ours.plan(height, width).feature_shape[0] == expected, (height, width)
        assert ours.count_tokens(height, width) * merge**2 == expected


@pytest.mark.parametrize(("model", "rule"), [("muse_glimmer", "MuseGlimmer"), ("muse_spark", "MuseSpark")])
def test_muse_prompt(model, rule):
    cls = getattr(processing(model), f"{rule}Processor")
    begin, image, end = "<|image_start|>", "<|patch|>", "<|image_end|>"
    tokens = Tokens(begin, image, end)
    theirs = processor("muse_glimmer")
    this = SimpleNamespace(image_processor=theirs, image_start_token=begin, image_token=image, image_end_token=end)
    spec = spec_of(
        "muse_glimmer",
        image_token_id=tokens.id(image),
        prefix_token_ids=[tokens.id(begin)],
        suffix_token_ids=[tokens.id(end)],
    )
    compare_prompt(spec, tokens, image, lambda inputs, i: cls.replace_image_token(this, inputs, i), theirs)


def test_minimax_m3_vl_prompt():
    cls = processing("minimax_m3_vl").MiniMaxM3VLProcessor
    begin, image, end = cls.VISION_START_TOKEN, cls.IMAGE_TOKEN, cls.VISION_END_TOKEN
    tokens = Tokens(begin, image, end)
    theirs = processor("minimax_m3_vl")
    this = SimpleNamespace(image_processor=theirs, VISION_START_TOKEN=begin, IMAGE_TOKEN=image, VISION_END_TOKEN=end)
    spec = spec_of(
        "minimax_m3_vl",
        image_token_id=tokens.id(image),
        prefix_token_ids=[tokens.id(begin)],
        suffix_token_ids=[tokens.id(end)],
    )
    compare_prompt(spec, tokens, image, lambda inputs, i: cls.replace_image_token(this, inputs, i), theirs)


def test_keye_vanishes_where_its_rule_does():
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of("keye", max_pixels=100000)), processor("keye")
    theirs.max_pixels = 100000
    assert theirs.size(28, 5500)[0] == 0
    with pytest.raises(ValueError, match="degenerates to 0x"):
        ours.plan(28, 5500)
    with pytest.raises(ValueError, match="smaller than 200"):
        ours.plan(28, 5601)
