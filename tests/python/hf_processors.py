"""Processors of transformers with small pictures and a tokenizer of bytes, made without any file."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

IDEFICS_MARKS = ["<global-img>", *(f"<row_{i}_col_{j}>" for i in range(1, 7) for j in range(1, 7))]


def tokenizer(special: dict[str, str], others: list[str] | None = None) -> Any:
    """Make a tokenizer of bytes and double newlines, which begins with <bos>.

    Args:
        special: attribute, such as ``"image_token"``, -> token.
        others: further tokens.
    """
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*alphabet, "ĊĊ"])}
    bare = Tokenizer(models.BPE(vocabulary, [("Ċ", "Ċ")]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    tokens = ["<bos>", "<pad>", *special.values(), *(others or [])]
    bare.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in tokens])
    bare.post_processor = processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", bare.token_to_id("<bos>"))]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bare, bos_token="<bos>", pad_token="<pad>", extra_special_tokens=special
    )


def without_videos(processor: type) -> type:
    """Let a class of processors be made without one of videos, for which torchvision would be needed."""
    attributes = {"get_attributes": classmethod(lambda cls: ["image_processor", "tokenizer"])}
    return type(processor.__name__, (processor,), attributes)


def qwen2_vl() -> Any:
    images = transformers.Qwen2VLImageProcessorPil(size={"shortest_edge": 28 * 28, "longest_edge": 56 * 84})
    tokens = tokenizer({"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"})
    return without_videos(transformers.Qwen2VLProcessor)(images, tokens, None)


def llava() -> Any:
    images = transformers.CLIPImageProcessorPil(size={"shortest_edge": 42}, crop_size={"height": 42, "width": 42})
    tokens = tokenizer({"image_token": "<image>"})
    return transformers.LlavaProcessor(
        images, tokens, patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )


def llava_next() -> Any:
    images = transformers.LlavaNextImageProcessorPil(
        size={"shortest_edge": 28},
        crop_size={"height": 28, "width": 28},
        image_grid_pinpoints=[[28, 56], [56, 28], [56, 56]],
    )
    tokens = tokenizer({"image_token": "<image>"})
    return transformers.LlavaNextProcessor(
        images, tokens, patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )


def pixtral() -> Any:
    images = transformers.PixtralImageProcessorPil(size={"longest_edge": 64}, patch_size=16)
    tokens = tokenizer({"image_token": "[IMG]", "image_break_token": "[IMG_BREAK]", "image_end_token": "[IMG_END]"})
    # Of torchvision's file the processor only takes a function that the PIL one has too.
    twin = importlib.import_module("transformers.models.pixtral.image_processing_pil_pixtral")
    sys.modules.setdefault("transformers.models.pixtral.image_processing_pixtral", twin)
    from transformers.models.pixtral.processing_pixtral import PixtralProcessor

    return PixtralProcessor(images, tokens, patch_size=16)


def gemma3() -> Any:
    images = transformers.Gemma3ImageProcessorPil(size={"height": 28, "width": 28})
    tokens = tokenizer({"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft>"})
    return transformers.Gemma3Processor(images, tokens, image_seq_length=4)


def internvl() -> Any:
    images = transformers.GotOcr2ImageProcessorPil(
        size={"height": 28, "width": 28}, crop_to_patches=True, min_patches=1, max_patches=4
    )
    tokens = tokenizer(
        {
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        }
    )
    return without_videos(transformers.InternVLProcessor)(images, tokens, None, image_seq_length=3)


def idefics3() -> Any:
    images = transformers.Idefics3ImageProcessorPil(size={"longest_edge": 56}, max_image_size={"longest_edge": 28})
    return transformers.Idefics3Processor(images, tokenizer({}, IDEFICS_MARKS), image_seq_len=4)


def mllama() -> Any:
    images = transformers.MllamaImageProcessorPil(size={"height": 28, "width": 28}, max_image_tiles=4)
    return transformers.MllamaProcessor(images, tokenizer({"image_token": "<|image|>"}, ["<|python_tag|>"]))


PROCESSORS: dict[str, Callable[[], Any]] = {
    make.__name__: make for make in (qwen2_vl, llava, llava_next, pixtral, gemma3, internvl, idefics3, mllama)
}
