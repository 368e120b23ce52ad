"""In place of transformers' image processors: the same calls, the same tensors, in less time.

    from mmcpp.hf import AutoProcessor
    processor = AutoProcessor.from_pretrained(folder)
    inputs = processor.apply_chat_template(messages, tokenize=True, return_dict=True, return_tensors="pt")

or, for programs that cannot be changed, ``mmcpp.hf.patch_transformers()``. Pictures alone are concerned: text,
videos and audio stay with transformers. Needs transformers 5.24 or later.
"""

from __future__ import annotations

from mmcpp.hf.auto import AutoImageProcessor, AutoProcessor
from mmcpp.hf.patch import patch_transformers, patched_transformers, unpatch_transformers
from mmcpp.hf.processor import Accelerated, FallbackWarning, Unsupported, accelerate

__all__ = [
    "Accelerated",
    "AutoImageProcessor",
    "AutoProcessor",
    "FallbackWarning",
    "Unsupported",
    "accelerate",
    "patch_transformers",
    "patched_transformers",
    "unpatch_transformers",
]
