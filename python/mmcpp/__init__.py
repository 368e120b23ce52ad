"""Multimodal preprocessing: pictures in; a model's tensors, prompt tokens and positions out.

Results are bit-exact with what Pillow 13, torch 2.13 and Hugging Face transformers 5.24 give. Sizes
are always height before width. Calls release the GIL and may be made from any thread.
"""

from __future__ import annotations

try:
    from mmcpp import _mmcpp
except ImportError as error:
    raise ImportError(
        "mmcpp's extension module is missing or does not load: run `pip install .` in the checkout"
        f" (and import from outside of its python/ folder). The loader says: {error}"
    ) from error

from mmcpp.cancelling import CancelFlag
from mmcpp.errors import (
    CancelledError,
    DeadlineError,
    DecodeError,
    FetchError,
    LimitError,
    MmError,
    UnsupportedError,
)
from mmcpp.fetching import FetchPolicy, fetch, fetch_all
from mmcpp.hashing import content_digest, content_hash
from mmcpp.image import ImageInfo, decode_image, image_info, resize
from mmcpp.info import BuildInfo, build_info
from mmcpp.limits import DecodeLimits, RequestLimits
from mmcpp.memory import free_waiting_buffers
from mmcpp.pipeline import (
    ImageProcessor,
    Item,
    ItemBatch,
    ItemPlan,
    ItemTimes,
    Pipeline,
    PlannedRequest,
    RequestCounters,
    Response,
    ResponseTimes,
)

__version__: str = _mmcpp.build_info()["version"]

__all__ = [
    "BuildInfo",
    "CancelFlag",
    "CancelledError",
    "DeadlineError",
    "DecodeError",
    "DecodeLimits",
    "FetchError",
    "FetchPolicy",
    "ImageInfo",
    "ImageProcessor",
    "Item",
    "ItemBatch",
    "ItemPlan",
    "ItemTimes",
    "LimitError",
    "MmError",
    "Pipeline",
    "PlannedRequest",
    "RequestCounters",
    "RequestLimits",
    "Response",
    "ResponseTimes",
    "UnsupportedError",
    "build_info",
    "content_digest",
    "content_hash",
    "decode_image",
    "fetch",
    "fetch_all",
    "free_waiting_buffers",
    "image_info",
    "resize",
]
