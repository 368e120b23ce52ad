"""One module per model family: how a checkpoint's files give its spec. Here: values that many share."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CLIP", "FILTERS", "HALF", "IMAGENET", "Channels"]

Three = tuple[float, float, float]
Channels = tuple[Three, Three]
"""Mean and deviation of the three channels."""

CLIP: Channels = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
IMAGENET: Channels = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALF: Channels = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))

FILTERS: Mapping[int, str] = {1: "lanczos", 2: "bilinear", 3: "bicubic"}
"""A file's ``resample``, Pillow's number of a filter, and our name of it."""
