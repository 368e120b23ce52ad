"""How many items a request may have, and what an engine sets aside for them.

Arithmetic of vLLM 0.33: limits per modality, the length of a dummy prompt, and how many tokens of
items an encoder computes and keeps at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mmcpp.errors import LimitError

__all__ = [
    "UNLIMITED",
    "EncoderBudget",
    "allowed_items",
    "check_counts",
    "dummy_length",
    "encoder_budget",
    "largest_picture",
]

UNLIMITED = 999
"""Items of a modality that a request may have where nothing is said."""


def allowed_items(
    modality: str, limits: Mapping[str, int | Mapping[str, int]], supported: Mapping[str, int | None] | None = None
) -> int:
    """Give how many items of a modality a request may have.

    Args:
        modality: such as ``"image"``.
        limits: modality -> a number, or a mapping with the key ``"count"``; ``UNLIMITED`` for those
            left out.
        supported: modality -> how many the model can take, None for any number, nothing for
            modalities left out; None if nobody knows.
    """
    limit = limits.get(modality, UNLIMITED)
    count = limit if isinstance(limit, int) else limit.get("count", UNLIMITED)
    if supported is None:
        return count
    most = supported.get(modality, 0)
    return count if most is None else min(count, most)


def check_counts(
    counts: Mapping[str, int],
    limits: Mapping[str, int | Mapping[str, int]],
    supported: Mapping[str, int | None] | None = None,
) -> None:
    """Refuse a request with too many items.

    Args:
        counts: modality -> items of the request.
        limits: as for ``allowed_items``.
        supported: as for ``allowed_items``.

    Raises:
        LimitError: names the modality, the number and the limit, and whose limit it is.
    """
    for modality, count in counts.items():
        allowed = allowed_items(modality, limits, supported)
        if count > allowed:
            most = None if supported is None else supported.get(modality, 0)
            whose = "the model takes no more" if most is not None and most <= allowed else "as configured"
            raise LimitError(f"request: {count} {modality} item(s), the limit is {allowed}, {whose}")


def dummy_length(max_model_len: int, max_num_batched_tokens: int, *, chunked_prefill: bool) -> int:
    """Give the tokens of the prompt that an engine measures its memory with.

    Args:
        max_model_len: tokens of a prompt at most.
        max_num_batched_tokens: tokens of a step at most.
        chunked_prefill: whether a prompt may be spread over steps; a step bounds it then.
    """
    return min(max_model_len, max_num_batched_tokens) if chunked_prefill else max_model_len


def largest_picture(max_pixels: int, unit: int) -> tuple[int, int]:
    """Give height and width of a Qwen-VL picture with the most tokens, to measure memory with.

    Its sides are multiples of ``unit`` whose product is the largest within ``max_pixels`` that a pair with
    an aspect ratio of at most 200 has, and of these the nearest to a square.

    Args:
        max_pixels: the upper bound of the picture's size.
        unit: the patch size times the merge size.

    Raises:
        ValueError: not even one unit fits.
    """
    for cells in range(max_pixels // unit**2, 0, -1):
        rows = next(rows for rows in range(math.isqrt(cells), 0, -1) if cells % rows == 0)
        if cells // rows <= 200 * rows:
            return rows * unit, cells // rows * unit
    raise ValueError(f"budget: no picture of {unit}x{unit} within {max_pixels} pixels")


@dataclass(frozen=True)
class EncoderBudget:
    """What an engine computes and keeps of items, in tokens, and the items that this allows."""

    compute: int
    """Tokens of items that one step may encode."""
    cache: int
    """Tokens of items whose embeddings are kept."""
    items_per_prompt: dict[str, int]
    """Modality -> items that a prompt can have."""
    items_per_batch: dict[str, int]
    """Modality -> items that a step can have."""


def encoder_budget(
    tokens_per_item: Mapping[str, int],
    limits: Mapping[str, int | Mapping[str, int]],
    *,
    max_model_len: int,
    max_num_batched_tokens: int,
    max_num_seqs: int,
    chunked_prefill: bool,
    max_num_encoder_input_tokens: int,
    encoder_cache_size: int,
    chunked_items: bool = True,
) -> EncoderBudget:
    """Compute what an engine sets aside, so that the largest item always fits.

    Args:
        tokens_per_item: modality -> tokens of its largest item.
        limits: as for ``allowed_items``.
        max_model_len: tokens of a prompt at most.
        max_num_batched_tokens: tokens of a step at most.
        max_num_seqs: prompts of a step at most.
        chunked_prefill: whether a prompt may be spread over steps.
        max_num_encoder_input_tokens: tokens of items that a step should encode.
        encoder_cache_size: tokens of items that should be kept.
        chunked_items: whether an item may be spread over steps.

    Raises:
        LimitError: an item is larger than a step and may not be spread.
    """
    if not tokens_per_item:
        return EncoderBudget(0, 0, {}, {})
    modality, largest = max(tokens_per_item.items(), key=lambda pair: pair[1])
    if not chunked_items and largest > max_num_batched_tokens:
        raise LimitError(
            f"budget: an item of {largest} tokens ({modality}) in steps of {max_num_batched_tokens} that take whole"
            " items only"
        )
    compute, cache = max(max_num_encoder_input_tokens, largest), max(encoder_cache_size, largest)
    per_prompt: dict[str, int] = {}
    per_batch: dict[str, int] = {}
    for modality, tokens in tokens_per_item.items():
        if tokens == 0:
            per_prompt[modality] = per_batch[modality] = 0
            continue
        per_prompt[modality] = max(1, min(allowed_items(modality, limits), max_model_len // tokens))
        prompts = max_num_seqs if chunked_prefill else min(max_num_seqs, max_num_batched_tokens // tokens)
        per_batch[modality] = max(1, min(min(compute, cache) // tokens, prompts * per_prompt[modality]))
    return EncoderBudget(compute, cache, per_prompt, per_batch)
