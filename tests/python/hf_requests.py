"""Requests through processors of transformers, and what they are compared with: the processor called directly."""

import random
from typing import Any

import numpy as np
import torch
from PIL import Image

TEXT_OUTPUTS = {"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids", "cross_attention_mask"}
FORMS = ("text", "ids", "expanded ids")


def picture(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    height, width = rng.integers(20, 100, 2)
    return Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


def directly(processor: Any, text: str, pictures: list[Any]) -> Any:
    images = [pictures] if pictures else None
    return processor(images=images, text=[text], return_tensors="pt")


def text_of(processor: Any, count: int, seed: int = 0) -> str:
    rng = random.Random(seed)
    parts = [rng.choice(["A photo ", "and", " is: ", "\nX", ""]) for _ in range(count + 1)]
    return processor.image_token.join(parts) + "."


def assert_is(request: Any, expected: Any, *, check_ids: bool = True) -> None:
    """Compare ids and every tensor of the media, bit by bit."""
    if check_ids:
        assert request.ids.tolist() == expected["input_ids"][0].tolist()
    tensors = request.tensors(return_tensors="pt")
    media = {name: value for name, value in expected.items() if name not in TEXT_OUTPUTS}
    assert tensors.keys() == media.keys()
    for name, value in media.items():
        assert tensors[name].dtype == value.dtype, name
        assert tensors[name].shape == value.shape, name
        assert torch.equal(tensors[name], value), name


def same_requests(one: Any, other: Any) -> bool:
    a, b = one.tensors(return_tensors="pt"), other.tensors(return_tensors="pt")
    return (
        one.ids.tolist() == other.ids.tolist()
        and one.placeholders == other.placeholders
        and one.keys == other.keys
        and a.keys() == b.keys()
        and all(torch.equal(a[name], b[name]) for name in a)
    )
