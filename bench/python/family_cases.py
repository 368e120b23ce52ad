"""The families whose whole path is measured: a class of transformers, and the settings of a released checkpoint."""

from __future__ import annotations

from typing import Any

CLIP = {
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}
HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
PINPOINTS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
ONEVISION = [[384 * rows, 384 * columns] for rows in range(1, 7) for columns in range(1, 7)]

FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "GLM-4.6V": ("Glm46VImageProcessor", {"size": {"shortest_edge": 12544, "longest_edge": 9633792}, **CLIP}),
    "GLM-4.1V": ("Glm4vImageProcessor", {"size": {"shortest_edge": 12544, "longest_edge": 9633792}, **CLIP}),
    "GLM-5-Next": ("Glm5NextImageProcessor", {}),
    "PaddleOCR-VL": (
        "PaddleOCRVLImageProcessor",
        {"size": {"shortest_edge": 147384, "longest_edge": 2822400}, **HALF},
    ),
    "ERNIE-4.5-VL": ("Ernie4_5_VLMoeImageProcessor", {}),
    "dots.ocr": (
        "Qwen2VLImageProcessor",
        {"temporal_patch_size": 1, "size": {"shortest_edge": 3136, "longest_edge": 11289600}, **CLIP},
    ),
    "VideoLLaMA3": ("VideoLlama3ImageProcessor", {}),
    "HunyuanOCR": ("HunYuanVLImageProcessor", {}),
    "HY-V4-VL": ("HYV4VLImageProcessor", {}),
    "MiniMax-M3-VL": ("MiniMaxM3VLImageProcessor", {}),
    "Kimi-K2.5": ("Kimi_K25ImageProcessor", {}),
    "Muse": ("MuseGlimmerImageProcessor", {}),
    "CLIP": (
        "CLIPImageProcessor",
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}, **CLIP},
    ),
    "DINOv2": (
        "BitImageProcessor",
        {"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}, **IMAGENET},
    ),
    "SigLIP": ("SiglipImageProcessor", {"size": {"height": 384, "width": 384}, "do_convert_rgb": True}),
    "LLaVA-1.5": (
        "LlavaImageProcessor",
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}, **CLIP},
    ),
    "Gemma 3": ("Gemma3ImageProcessor", {"size": {"height": 896, "width": 896}, "do_convert_rgb": True}),
    "Gemma 4": ("Gemma4ImageProcessor", {}),
    "SigLIP2 NaFlex": ("Siglip2ImageProcessor", {"do_convert_rgb": True}),
    "Janus-Pro": ("JanusImageProcessor", {"do_convert_rgb": True, **HALF}),
    "DeepSeek-VL": ("DeepseekVLImageProcessor", {"do_convert_rgb": True, **HALF}),
    "DeepSeek-VL hybrid": ("DeepseekVLHybridImageProcessor", {"do_convert_rgb": True}),
    "DeepSeek-OCR 2": ("DeepseekOcr2ImageProcessor", {}),
    "Unlimited-OCR": ("UnlimitedOcrImageProcessor", {}),
    "PerceptionLM": ("PerceptionLMImageProcessor", {}),
    "LFM2-VL": ("Lfm2VlImageProcessor", {}),
    "Phi-4-multimodal": ("Phi4MultimodalImageProcessor", {}),
    "InternVL3": (
        "GotOcr2ImageProcessor",
        {"size": {"height": 448, "width": 448}, "crop_to_patches": True, "max_patches": 12, **IMAGENET},
    ),
    "Aya Vision": (
        "GotOcr2ImageProcessor",
        {"size": {"height": 364, "width": 364}, "crop_to_patches": True, "max_patches": 12, **CLIP},
    ),
    "GOT-OCR2": ("GotOcr2ImageProcessor", {"size": {"height": 1024, "width": 1024}, **CLIP}),
    "Command A Vision": ("Cohere2VisionImageProcessor", {"size": {"height": 512, "width": 512}, "max_patches": 12}),
    "Ovis2": (
        "Ovis2ImageProcessor",
        {"size": {"height": 448, "width": 448}, "crop_to_patches": True, "max_patches": 9, **CLIP},
    ),
    "MiniCPM-V 4.6": ("MiniCPMV4_6ImageProcessor", {}),
    "Inkling": ("InklingImageProcessor", {"rescale_image_frac": 2.0, "do_resize": True}),
    "Granite-Docling": ("GraniteDoclingImageProcessor", {}),
    "Idefics3": ("Idefics3ImageProcessor", {}),
    "SmolVLM2": (
        "SmolVLMImageProcessor",
        {"size": {"longest_edge": 2048}, "max_image_size": {"longest_edge": 512}},
    ),
    "Llama 3.2 Vision": ("MllamaImageProcessor", {"size": {"height": 560, "width": 560}, **CLIP}),
    "Llama 4": ("Llama4ImageProcessor", {}),
    "Mistral Small 3.1": ("PixtralImageProcessor", {"size": {"longest_edge": 1540}, "patch_size": 14}),
    "LLaVA-NeXT": (
        "LlavaNextImageProcessor",
        {
            "size": {"shortest_edge": 336},
            "crop_size": {"height": 336, "width": 336},
            "image_grid_pinpoints": PINPOINTS,
        },
    ),
    "LLaVA-OneVision": (
        "LlavaOnevisionImageProcessor",
        {"size": {"height": 384, "width": 384}, "image_grid_pinpoints": ONEVISION, **HALF},
    ),
}
"""Name: the class without its backend, and what the checkpoint's file says."""

TORCHVISION_ALONE = (
    "MiniMax-M3-VL",
    "Kimi-K2.5",
    "Muse",
    "Command A Vision",
    "Llama 4",
    "Unlimited-OCR",
    "PerceptionLM",
    "LFM2-VL",
    "Phi-4-multimodal",
    "Inkling",
)
