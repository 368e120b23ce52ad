"""`fixed_size` against the image processors of transformers 5.24 that show every picture at one size."""

from types import SimpleNamespace

import pytest

from hf import Both, Tokens, compare, compare_prompt, processing
from samples import CLIP

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")
hf_rules = pytest.importorskip("hf_rules")  # imports transformers

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
CASES = {
    # name: their class, their arguments, our keys
    "clip": (
        "CLIPImageProcessorPil",
        {"size": {"shortest_edge": 224}, "crop_size": {"height": 224, "width": 224}, **CLIP},
        {"height": 224, "width": 224, "shortest_edge": 224, **CLIP},
    ),
    "llava": (
        "LlavaImageProcessorPil",
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}, **CLIP},
        {"height": 336, "width": 336, "shortest_edge": 336, **CLIP},
    ),
    "dinov2": (
        "BitImageProcessorPil",
        {"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}, **IMAGENET},
        {"height": 224, "width": 224, "shortest_edge": 256, **IMAGENET},
    ),
    "siglip": (
        "SiglipImageProcessorPil",
        {"size": {"height": 224, "width": 384}, "do_convert_rgb": True, **HALF},
        {"height": 224, "width": 384, **HALF},
    ),
    "gemma3": (
        "Gemma3ImageProcessorPil",
        {"size": {"height": 448, "width": 448}, "do_convert_rgb": True, "resample": 2, **HALF},
        {"height": 448, "width": 448, "filter": "bilinear", **HALF},
    ),
    "gemma3n": (
        "SiglipImageProcessor",
        {"size": {"height": 256, "width": 256}, "do_convert_rgb": True, "resample": 2, "do_normalize": False},
        {"height": 256, "width": 256, "filter": "bilinear", "do_normalize": False},
    ),
    "glm4v_9b": (hf_rules.Stretched, {"side": 280, **CLIP}, {"height": 280, "width": 280, **CLIP}),
    "janus": (
        "JanusImageProcessor",
        {"size": {"height": 384, "width": 384}, "do_convert_rgb": True, **HALF},
        {"height": 384, "width": 384, "min_padded_side": 14, "background": [127] * 3, **HALF},
    ),
    "deepseek_vl": (
        "DeepseekVLImageProcessor",
        {"size": {"height": 225, "width": 225}, "min_size": 30, "do_convert_rgb": True, **CLIP},
        {"height": 225, "width": 225, "min_padded_side": 30, "background": [122, 116, 104], **CLIP},
    ),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    return {
        "family": "fixed_size",
        "image_token_id": 1,
        "tokens_per_image": 256,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **CASES[name][2],
        **keys,
    }


def processor(name: str):
    cls, arguments, _ = CASES[name]
    if not isinstance(cls, str):
        return cls(**arguments)
    if not cls.endswith("Pil"):
        return Both.of("siglip" if cls.startswith("Siglip") else name, cls, **arguments)
    return getattr(transformers, cls)(**arguments)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    unused = ("num_crops",) if name == "gemma3" else ()
    assert compare(lambda backend: spec_of(name, backend), processor(name), unused) >= 60


def test_llava_prompt():
    from transformers.models.llava.processing_llava import LlavaProcessor

    tokens = Tokens("<image>")
    rule = SimpleNamespace(
        patch_size=14, num_additional_image_tokens=1, vision_feature_select_strategy="default", image_token="<image>"
    )
    spec = spec_of("llava", image_token_id=tokens.id("<image>"), tokens_per_image=576)
    compare_prompt(
        spec,
        tokens,
        "<image>",
        lambda inputs, i: LlavaProcessor.replace_image_token(rule, inputs, i),
        processor("llava"),
    )


def test_gemma3_prompt():
    from transformers.models.gemma3.processing_gemma3 import Gemma3Processor

    tokens = Tokens("\n\n", "<start_of_image>", "<image_soft_token>", "<end_of_image>")
    breaks, begin, token, end = map(tokens.id, ("\n\n", "<start_of_image>", "<image_soft_token>", "<end_of_image>"))
    rule = SimpleNamespace(full_image_sequence=f"\n\n<start_of_image>{'<image_soft_token>' * 256}<end_of_image>\n\n")
    spec = spec_of(
        "gemma3",
        image_token_id=token,
        placeholder_token_id=begin,
        prefix_token_ids=[breaks, begin],
        suffix_token_ids=[end, breaks],
    )
    compare_prompt(
        spec,
        tokens,
        "<start_of_image>",
        lambda inputs, i: Gemma3Processor.replace_image_token(rule, inputs, i),
        processor("gemma3"),
    )


def test_gemma3n_prompt():
    replace = processing("gemma3n").Gemma3nProcessor.replace_image_token
    tokens = Tokens("\n\n", "<image_soft_token>", "<start_of_image>", "<end_of_image>")
    breaks, token, begin, end = map(tokens.id, ("\n\n", "<image_soft_token>", "<start_of_image>", "<end_of_image>"))
    rule = SimpleNamespace(full_image_sequence=f"\n\n<start_of_image>{'<image_soft_token>' * 256}<end_of_image>\n\n")
    spec = spec_of("gemma3n", image_token_id=token, prefix_token_ids=[breaks, begin], suffix_token_ids=[end, breaks])
    theirs = processor("gemma3n")
    compare_prompt(spec, tokens, "<image_soft_token>", lambda inputs, i: replace(rule, inputs, i), theirs)


def test_colpali_prompt():
    replace = processing("colpali").ColPaliProcessor.replace_image_token
    tokens = Tokens("<image>")
    rule = SimpleNamespace(image_token="<image>", image_seq_length=256)
    spec = spec_of("siglip", image_token_id=tokens.id("<image>"))
    compare_prompt(spec, tokens, "<image>", lambda inputs, i: replace(rule, inputs, i), processor("siglip"))


def test_paligemma_prompt():
    from transformers.models.paligemma.processing_paligemma import PaliGemmaProcessor

    tokens = Tokens("<image>")
    rule = SimpleNamespace(image_token="<image>", image_seq_length=256)
    spec = spec_of("siglip", image_token_id=tokens.id("<image>"))
    compare_prompt(
        spec,
        tokens,
        "<image>",
        lambda inputs, i: PaliGemmaProcessor.replace_image_token(rule, inputs, i),
        processor("siglip"),
    )
