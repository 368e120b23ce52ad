"""The kernel of ``mmcpp.torch.FusedInputNorm`` for CUDA, in Triton.

Importing this module does not need Triton; ``available`` says whether it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import triton
    import triton.language as tl
except ImportError:  # torch's own operations do
    triton = None

if TYPE_CHECKING:
    import torch

__all__ = ["available", "normalize"]

_BLOCK = 1024


def available() -> bool:
    """Tell whether Triton is installed."""
    return triton is not None


def normalize(pixels: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, out: torch.Tensor) -> None:
    """Write ``pixels * weight + bias`` to ``out``: float32 arithmetic, not contracted, rounded once.

    Args:
        pixels: contiguous [rows, channels * n], channels one behind the other.
        weight: float32 [channels].
        bias: float32 [channels].
        out: contiguous [rows, channels * frames * n], fewer than 2**31 elements; each channel is written
            ``frames`` times.
    """
    count = pixels.numel()
    if count == 0:
        return
    channels = weight.numel()
    _normalize[(triton.cdiv(count, _BLOCK),)](
        pixels,
        out,
        weight,
        bias,
        count,
        pixels.shape[1] // channels,
        channels=channels,
        frames=out.shape[1] // pixels.shape[1],
        block=_BLOCK,
        num_warps=4,
        enable_fp_fusion=False,
    )


if triton is not None:

    @triton.jit  # type: ignore[untyped-decorator]
    def _normalize(  # type: ignore # noqa: PLR0917
        pixels, out, weight, bias, count, side, channels: tl.constexpr, frames: tl.constexpr, block: tl.constexpr
    ):
        # Each element is read and written once: keep them out of the way of what stays in the cache.
        index = tl.program_id(0) * block + tl.arange(0, block)
        inside = index < count
        channel = (index // side) % channels
        value = tl.load(pixels + index, mask=inside, other=0, eviction_policy="evict_first").to(tl.float32)
        value = value * tl.load(weight + channel) + tl.load(bias + channel)
        value = value.to(out.dtype.element_ty)
        first = index + (index // side) * (side * (frames - 1))
        for frame in tl.static_range(frames):
            tl.store(out + first + frame * side, value, mask=inside, eviction_policy="evict_first")
