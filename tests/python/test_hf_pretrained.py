"""Checkpoint folders as transformers 5.24 saves them, read by both: the same tensors."""

import importlib

import pytest
from PIL import Image

import mmcpp
from hf import Both, assert_equal
from samples import smooth

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="the tables of cases need it")

CASES = [
    *((f"test_hf_{module}", name) for module, names in {
        "patch_grids": ("glm4v", "glm46v", "paddleocr_vl", "ernie4_5_vl", "dots_ocr", "video_llama_3",
                        "hunyuan_vl", "hy_v4_vl", "minimax_m3_vl", "muse_glimmer", "muse_glimmer_3"),
        "padded_grids": ("kimi_k25", "glm5_next"),
        "fixed_size": ("clip", "llava", "dinov2", "siglip", "gemma3", "gemma3n", "janus", "deepseek_vl"),
        "internvl": ("internvl", "got_ocr2", "cohere2_vision"),
        "pixtral": ("pixtral", "mistral3"),
        "llava_next": ("llava_next", "llava_onevision"),
        "llama": ("mllama", "mllama_9", "llama4"),
        "minicpmv": ("minicpmv4_6", "minicpmv4_6_4x", "minicpmv4_6_whole"),
        "ovis2": ("ovis2", "ovis2_closest", "ovis2_whole"),
        "idefics3": ("idefics3", "smolvlm", "smolvlm_whole"),
        "global_tiles": ("deepseek_ocr2", "deepseek_ocr2_colors", "unlimited_ocr"),
        "deepseek_vl_hybrid": ("deepseek_vl_hybrid", "deepseek_vl_hybrid_colors"),
        "granite_docling": ("granite_docling", "granite_docling_3", "granite_docling_whole"),
        "lfm2_vl": ("lfm2_vl", "lfm2_vl_one_tile", "lfm2_vl_bare", "lfm2_vl_whole"),
        "phi4_multimodal": ("phi4_multimodal", "phi4_multimodal_4", "phi4_multimodal_odd", "phi4_multimodal_rest",
                            "phi4_multimodal_one"),
        "perception_lm": ("perception_lm", "perception_lm_7", "perception_lm_whole"),
        "padded_patches": ("siglip2", "gemma4", "gemma4_normalized"),
        "inkling": ("inkling_larger",),
    }.items() for name in names),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name"), CASES)
def test_saved_processors(tmp_path, module, name):
    theirs = importlib.import_module(module).processor(name)
    theirs = theirs.pil if isinstance(theirs, Both) else theirs
    theirs.save_pretrained(tmp_path)
    ours = mmcpp.ImageProcessor.from_pretrained(tmp_path, backend=theirs.backend)
    image = Image.fromarray(smooth(90, 130))
    assert_equal(ours(image), theirs(image, return_tensors="np"), ("num_crops", "rows", "cols"))
