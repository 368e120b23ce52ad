"""Prompts of checkpoints whose marks stand in the tokenizer's files alone: the folder that transformers 5.24 saves,
read by `Pipeline.from_pretrained`, against its processor."""

import importlib
import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

import mmcpp
from hf import torchvision_stand_in
from samples import smooth

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

import hf_rules  # noqa: E402  (needs transformers)
from hf_processors import IDEFICS_MARKS, idefics3, internvl, pixtral, tokenizer  # noqa: E402  (needs transformers)

SIZES = [
    (300, 200),
    (50, 50),
    (64, 300),
    (28, 28),
    (120, 160),
    (200, 450),
    (33, 31),
    (90, 91),
    (40, 400),
    (30, 31),
    (56, 57),
]
"""Eleven, so that the last one's number has two digits."""


def of(model: str, module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"transformers.models.{model}.{module}_{model}"), name)


def tiles() -> Any:
    return transformers.GotOcr2ImageProcessorPil(
        size={"height": 28, "width": 28}, crop_to_patches=True, min_patches=1, max_patches=6
    )


def unchecked(processor: type) -> type:
    """Let a class take any parts: that for videos needs torchvision."""
    return type(
        processor.__name__, (processor,), {"check_argument_for_proper_class": lambda _self, _name, part: type(part)}
    )


def minicpmv(model: str, name: str) -> Any:
    names = {f"{part}_token": f"<{part[:5]}>".replace("_", "") for part in ("image_start", "slice_start")}
    names |= {f"{part}_token": f"</{part[:5]}>" for part in ("image_end", "slice_end")}
    names |= {"image_id_start_token": "<image_id>", "image_id_end_token": "</image_id>"}
    names |= {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"}
    images = of("minicpmv4_6", "image_processing_pil", "MiniCPMV4_6ImageProcessorPil")(scale_resolution=112)
    videos = SimpleNamespace(slice_mode=True, downsample_mode="16x")
    return unchecked(of(model, "processing", name))(images, videos, tokenizer(names))


def minicpmv4_6() -> Any:
    return minicpmv("minicpmv4_6", "MiniCPMV4_6Processor")


def minicpmv4_7() -> Any:
    return minicpmv("minicpmv4_7", "MiniCPMV4_7Processor")


def minicpmv4_6_without_numbers() -> Any:
    processor = minicpmv4_6()
    processor.image_processor.use_image_id = processor.default_use_image_id = False
    return processor


def ovis2() -> Any:
    images = of("ovis2", "image_processing_pil", "Ovis2ImageProcessorPil")(
        size={"height": 56, "width": 56}, crop_to_patches=True, max_patches=6
    )
    marks = ["<image>", "<IMG_ATOM>", "<IMG_START>", "<IMG_END>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>"]
    return of("ovis2", "processing", "Ovis2Processor")(images, tokenizer({}, marks), image_seq_length=4)


def aya_vision() -> Any:
    marks = ["<image>", "<|IMG_PATCH|>", "<|START_OF_IMG|>", "<|END_OF_IMG|>", "TILE_GLOBAL"]
    tokens = tokenizer({}, [*marks, *(f"TILE_{i}" for i in range(1, 7))])
    return of("aya_vision", "processing", "AyaVisionProcessor")(tiles(), tokens, patch_size=14, img_size=28)


def cohere2_vision() -> Any:
    images = of("cohere2_vision", "image_processing", "Cohere2VisionImageProcessor")(
        size={"height": 64, "width": 64}, max_patches=6, patch_size=3
    )
    names = {"image_token": "<patch>", "boi_token": "<b>", "eoi_token": "<e>", "img_line_break_token": "<line>"}
    return of("cohere2_vision", "processing", "Cohere2VisionProcessor")(images, tokenizer(names))


def llama4() -> Any:
    images = of("llama4", "image_processing", "Llama4ImageProcessor")(size={"height": 56, "width": 56})
    marks = [f"<|{name}|>" for name in ("image", "image_start", "image_end", "patch")]
    tokens = tokenizer({}, [*marks, "<|tile_x_separator|>", "<|tile_y_separator|>"])
    return of("llama4", "processing", "Llama4Processor")(images, tokens)


def granite_docling() -> Any:
    images = of("granite_docling", "image_processing_pil", "GraniteDoclingImageProcessorPil")(
        size={"height": 64, "width": 64}, max_patches=6
    )
    tokens = tokenizer({}, ["<image>", "<fake_token_around_image>", *IDEFICS_MARKS])
    return of("granite_docling", "processing", "GraniteDoclingProcessor")(images, tokens, image_seq_len=4)


def janus() -> Any:
    images = of("janus", "image_processing_pil", "JanusImageProcessorPil")(size={"height": 56, "width": 56})
    names = {"image_token": "<image_placeholder>", "boi_token": "<begin>", "eoi_token": "<end>"}
    return of("janus", "processing", "JanusProcessor")(images, tokenizer(names), num_image_tokens=16)


def qianfan_ocr() -> Any:
    names = {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>"}
    tokens = tokenizer(names, ["<image>"])
    return of("qianfan_ocr", "processing", "QianfanOCRProcessor")(tiles(), tokens, image_seq_length=3)


def lfm2_vl() -> Any:
    images = of("lfm2_vl", "image_processing", "Lfm2VlImageProcessor")(
        encoder_patch_size=8, tile_size=64, min_image_tokens=4, max_image_tokens=16, max_tiles=6
    )
    marks = [f"<|img_row_{row}_col_{column}|>" for row in range(1, 11) for column in range(1, 11)]
    tokens = tokenizer({}, ["<image>", "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>", *marks])
    return of("lfm2_vl", "processing", "Lfm2VlProcessor")(images, tokens)


def ernie4_5_vl_moe() -> Any:
    images = of("ernie4_5_vl_moe", "image_processing_pil", "Ernie4_5_VLMoeImageProcessorPil")(
        size={"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 40}
    )
    kinds = {"image": "<|IMAGE_PLACEHOLDER|>", "video": "<|VIDEO_PLACEHOLDER|>"}
    names = {f"{kind}_token": token for kind, token in kinds.items()}
    names |= {f"{kind}_{side}_token": f"<|{kind}_{side}|>" for kind in kinds for side in ("start", "end")}
    cls = unchecked(of("ernie4_5_vl_moe", "processing", "Ernie4_5_VLMoeProcessor"))
    return cls(images, tokenizer(names), SimpleNamespace())


def deepseek_vl() -> Any:
    images = of("deepseek_vl", "image_processing_pil", "DeepseekVLImageProcessorPil")(size={"height": 56, "width": 56})
    tokens = tokenizer({"image_token": "<image_placeholder>"})
    return of("deepseek_vl", "processing", "DeepseekVLProcessor")(images, tokens, num_image_tokens=16)


def llava_next_video() -> Any:
    images = transformers.LlavaNextImageProcessorPil(
        size={"shortest_edge": 28},
        crop_size={"height": 28, "width": 28},
        image_grid_pinpoints=[[28, 56], [56, 28], [56, 56]],
    )
    cls = unchecked(of("llava_next_video", "processing", "LlavaNextVideoProcessor"))
    tokens = tokenizer({"image_token": "<image>", "video_token": "<video>"})
    return cls(
        SimpleNamespace(), images, tokens,
        patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1,
    )  # fmt: skip


def hy_v4_vl() -> Any:
    images = of("hy_v4_vl", "image_processing_pil", "HYV4VLImageProcessorPil")(
        size={"shortest_edge": 64 * 64, "longest_edge": 200000}
    )
    tokens = tokenizer({"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"})
    return unchecked(of("hy_v4_vl", "processing", "HYV4VLProcessor"))(images, tokens, SimpleNamespace())


def hunyuan_vl() -> Any:
    images = of("hunyuan_vl", "image_processing_pil", "HunYuanVLImageProcessorPil")(
        size={"shortest_edge": 64 * 64, "longest_edge": 200000}
    )
    tokens = tokenizer({"image_token": "<image>", "image_start_token": "<begin>", "image_end_token": "<end>"})
    return of("hunyuan_vl", "processing", "HunYuanVLProcessor")(images, tokens)


GEMMA = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
LINE_BREAKS = ["\n" * i for i in range(1, 6)]


def gemma3() -> Any:
    images = of("gemma3", "image_processing_pil", "Gemma3ImageProcessorPil")(size={"height": 28, "width": 28})
    return of("gemma3", "processing", "Gemma3Processor")(images, tokenizer(GEMMA, LINE_BREAKS), image_seq_length=4)


def gemma3n() -> Any:
    images = of("siglip", "image_processing_pil", "SiglipImageProcessorPil")(
        size={"height": 28, "width": 28}, do_convert_rgb=True
    )
    names = {**GEMMA, "audio_token": "<audio>", "boa_token": "<boa>", "eoa_token": "<eoa>"}
    cls = unchecked(of("gemma3n", "processing", "Gemma3nProcessor"))
    return cls(SimpleNamespace(model_input_names=[]), images, tokenizer(names, LINE_BREAKS), image_seq_length=4)


def muse(model: str, name: str, tokens: Any) -> Any:
    images = of("muse_glimmer", "image_processing", "MuseGlimmerImageProcessor")(max_image_tokens=40)
    return unchecked(of(model, "processing", name))(images, SimpleNamespace(), tokens)


def muse_glimmer() -> Any:
    return muse(
        "muse_glimmer", "MuseGlimmerProcessor", tokenizer({}, ["<|patch|>", "<|image_start|>", "<|image_end|>"])
    )


def muse_spark() -> Any:
    names = {"image_token": "<|image|>", "image_start_token": "<|begin|>", "image_end_token": "<|end|>"}
    return muse("muse_spark", "MuseSparkProcessor", tokenizer(names))


CASES = [
    # what makes the processor, the model and further keys of its config.json
    (minicpmv4_6, {"model_type": "minicpmv4_6"}),
    (minicpmv4_6_without_numbers, {"model_type": "minicpmv4_6"}),
    (
        minicpmv4_7,
        {
            "model_type": "minicpmv4_7",
            **{
                f"{part}_{side}_id": f"<{'/' * (side == 'end')}{part[:5]}>"
                for part in ("image", "slice")
                for side in ("start", "end")
            },
            "newline_id": "\n",
        },
    ),
    (hy_v4_vl, {"model_type": "hy_v4_vl", "image_token_id": "<|image_pad|>"}),
    (ovis2, {"model_type": "ovis2"}),
    (aya_vision, {"model_type": "aya_vision"}),
    (cohere2_vision, {"model_type": "cohere2_vision"}),
    (llama4, {"model_type": "llama4"}),
    (granite_docling, {"model_type": "granite_docling"}),
    (janus, {"model_type": "janus", "vision_config": {"num_image_tokens": 16}}),
    (qianfan_ocr, {"model_type": "qianfan_ocr"}),
    (internvl, {"model_type": "internvl"}),
    (muse_glimmer, {"model_type": "muse_glimmer"}),
    (muse_spark, {"model_type": "muse_spark"}),
    (pixtral, {"model_type": "llava"}),
    (pixtral, {"model_type": "mistral3"}),
    (idefics3, {"model_type": "idefics3"}),
    (gemma3, {"model_type": "gemma3"}),
    (gemma3n, {"model_type": "gemma3n", "vision_soft_tokens_per_image": 4}),
    (lfm2_vl, {"model_type": "lfm2_vl"}),
    (ernie4_5_vl_moe, {"model_type": "ernie4_5_vl_moe", "image_token_id": "<|IMAGE_PLACEHOLDER|>"}),
    (deepseek_vl, {"model_type": "deepseek_vl", "image_token_id": "<image_placeholder>"}),
    (
        llava_next_video,
        {
            "model_type": "llava_next_video",
            "image_token_index": "<image>",
            "vision_config": {"patch_size": 14, "image_size": 28},
        },
    ),
    (
        hunyuan_vl,
        {
            "model_type": "hunyuan_vl",
            "image_token_id": "<image>",
            "im_start_id": "<begin>",
            "im_end_id": "<end>",
            "text_config": {"rope_parameters": {"mrope_section": [4, 4, 4, 4]}},
        },
    ),
]
"""Texts as ids are those of the tokenizer."""

BETWEEN = ["user\n", "", "\n", "\n\n\n\n", "a\n", " \n\n", "\nb", "\n c \n", "\n\n\n\n\n\n\nd", "", " ", "\n\n"]
"""Of the models that put line breaks around pictures, which become one run with those of the text."""


def save(processor: Any, model: dict[str, Any], folder: Any) -> None:
    texts = {key: str(text).replace("\n", "Ċ") for key, text in model.items() if str(text)[0] in "<\n"}
    ids = {key: processor.tokenizer.convert_tokens_to_ids(text) for key, text in texts.items()}
    model = model | ids
    (folder / "config.json").write_text(json.dumps(model), encoding="utf-8")
    if any(isinstance(part, SimpleNamespace) for part in vars(processor).values()):
        processor.image_processor.save_pretrained(folder)
        processor.tokenizer.save_pretrained(folder)
    else:
        processor.save_pretrained(folder)


@pytest.mark.parametrize(("make", "model"), CASES, ids=[f"{make.__name__}-{m['model_type']}" for make, m in CASES])
def test_prompt(make, model, tmp_path):
    pictures = [smooth(*size) for size in SIZES]
    with torchvision_stand_in():
        processor = make()
        placeholder = getattr(processor, "fake_image_token", "") if make is llama4 else processor.image_token
        placeholder = getattr(processor, "image_placeholder_token", placeholder)
        if make is hunyuan_vl:
            placeholder = f"<begin>{placeholder}<end>"
        texts = [f" {'x' * i} " for i in range(len(SIZES) + 1)]
        text = "begin" + placeholder.join(BETWEEN if "gemma" in make.__name__ else texts) + "end"
        images = [Image.fromarray(picture) for picture in pictures]
        expected = processor(images=images, text=[text], return_tensors="pt")["input_ids"][0].tolist()
        special = getattr(processor, "text_kwargs", {}).get("add_special_tokens", True)
        ids = processor.tokenizer([text], add_special_tokens=special)["input_ids"][0]
        save(processor, model, tmp_path)
    pipeline = mmcpp.Pipeline.from_pretrained(tmp_path)
    assert pipeline.process(input_ids=ids, images=pictures).input_ids.tolist() == expected
    planned = pipeline.plan_request(input_ids=ids, sizes=SIZES)
    assert planned.input_ids.tolist() == expected
    counted = sum(item.tokens for item in planned.items)
    if "gemma" in make.__name__:
        assert counted >= len(expected) - len(ids) + len(SIZES)
    else:
        assert counted == len(expected) - len(ids) + len(SIZES)


def minicpmv2_6(i: int, height: int, width: int) -> str:
    grid = hf_rules.MiniCPMV(**HALF, scale_resolution=112, max_slice_nums=9, patch_size=14).grid(width, height)
    columns, rows = grid or (0, 0)
    slices = "\n".join(("<slice>" + "<unk>" * 9 + "</slice>") * columns for _ in range(rows))
    return f"<image_id>{i}</image_id><image>{'<unk>' * 9}</image>{slices}"


def deepseek_vl2(_: int, height: int, width: int) -> str:
    rule = hf_rules.DeepseekVL2(**HALF, candidate_resolutions=RESOLUTIONS)
    columns, rows = (side // 56 for side in rule.best(width, height))
    return "<image>" * (2 * 3 + 1 + 2 * rows * (2 * columns + 1))


def deepseek_ocr(_: int, height: int, width: int) -> str:
    if max(height, width) <= 640:
        return "<image>" * (16 * 17 + 1)
    columns, rows = hf_rules.closest_grid(width, height, 640, 2, 6)
    return "<image>" * (16 * 17 + 1 + 10 * rows * (10 * columns + 1))


def internvl_chat(_: int, height: int, width: int) -> str:
    columns, rows = hf_rules.closest_grid(width, height, 56, 1, 12)
    tiles = columns * rows + (columns * rows > 1)
    return f"<img>{'<IMG_CONTEXT>' * tiles * 4}</img>"


def kimi_k3(_: int, height: int, width: int) -> str:
    patches = max(1, width // 14) * max(1, height // 14)
    scale = min(1, math.sqrt(100 / patches), 30 * 14 / width, 30 * 14 / height)
    rows, columns = (-(-min(max(1, int(side * scale)), 30 * 14) // 28) for side in (height, width))
    return "<|media_pad|>" * rows * columns


HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
RESOLUTIONS = [[56 * columns, 56 * rows] for columns in range(1, 4) for rows in range(1, 4)]
DEEPSEEK = {"processor_class": "DeepseekVLV2Processor", "patch_size": 14, "downsample_ratio": 2, **HALF}
RULES = [
    # the rule, what stands for a picture, files, tokens
    (
        minicpmv2_6,
        "<unk>",
        {
            "config": {"model_type": "minicpmv"},
            "preprocessor_config": {
                "auto_map": {"AutoImageProcessor": "image_processing_minicpmv.MiniCPMVImageProcessor"},
                "image_processor_type": "MiniCPMVImageProcessor",
                "image_feature_size": 9,
                "scale_resolution": 112,
            },
        },
        ["<unk>", "<image>", "</image>", "<slice>", "</slice>", "<image_id>", "</image_id>"],
    ),
    (
        deepseek_vl2,
        "<image>",
        {
            "config": {"model_type": "deepseek_vl_v2", "architectures": ["DeepseekVLV2ForCausalLM"]},
            "processor_config": {**DEEPSEEK, "candidate_resolutions": RESOLUTIONS},
        },
        ["<image>"],
    ),
    (
        deepseek_ocr,
        "<image>",
        {
            "config": {"model_type": "deepseek_vl_v2", "architectures": ["DeepseekOCRForCausalLM"]},
            "processor_config": {**DEEPSEEK, "patch_size": 16, "downsample_ratio": 4},
        },
        ["<image>"],
    ),
    (
        internvl_chat,
        "<IMG_CONTEXT>",
        {
            "config": {"model_type": "internvl_chat", "force_image_size": 56, "vision_config": {"patch_size": 14}},
            "preprocessor_config": {"image_processor_type": "CLIPFeatureExtractor"},
        },
        ["<img>", "</img>", "<IMG_CONTEXT>"],
    ),
    (
        kimi_k3,
        "<|media_pad|>",
        {
            "config": {"model_type": "kimi_k3"},
            "preprocessor_config": {
                "media_proc_cfg": {
                    "patch_size": 14,
                    "merge_kernel_size": 2,
                    "in_patch_limit": 100,
                    "patch_limit_on_one_side": 30,
                }
            },
        },
        ["<|media_pad|>"],
    ),
]


@pytest.mark.parametrize(("rule", "placeholder", "files", "names"), RULES, ids=[case[0].__name__ for case in RULES])
def test_prompt_by_rule(rule, placeholder, files, names, tmp_path):
    """Of models whose processor is no part of transformers."""
    tokens = tokenizer({}, names)
    tokens.save_pretrained(tmp_path)
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    sizes = [(33, 31), (700, 1300)] if rule is deepseek_vl2 else [*SIZES, (700, 1300)]
    texts = ["begin ", *(f" {'x' * i} " for i in range(1, len(sizes))), " end"]
    expanded = texts[0] + "".join(rule(i, *size) + texts[i + 1] for i, size in enumerate(sizes))
    pipeline = mmcpp.Pipeline.from_pretrained(tmp_path)
    planned = pipeline.plan_request(input_ids=tokens(placeholder.join(texts))["input_ids"], sizes=sizes)
    assert planned.input_ids.tolist() == tokens(expanded)["input_ids"]
