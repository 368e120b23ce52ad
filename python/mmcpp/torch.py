"""Normalisation on the device: pixels travel as bytes and become floats where the model is.

    pixels = processor(images, dtype="uint8", return_tensors="pt")["pixel_values"]  # half of bfloat16
    norm = FusedInputNorm.from_config(config)
    inputs = norm(pixels.to("cuda"), dtype=torch.bfloat16)

Needs torch; importing this module does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch

__all__ = ["FusedInputNorm", "one_frame"]

_MAX_TRITON = 2**31 - 1  # its indices have 32 bits


class FusedInputNorm:
    """``(x * rescale - mean) / std`` as one multiplication and one addition, in float32, rounded once.

    With ``weight = rescale / std`` and ``bias = -mean / std``, each computed in float32, the result is
    ``x * weight + bias``. The product is rounded before the sum, so that every device gives the same
    bits: on the CPU, and wherever torch's own operations are used, because they are two operations; on
    CUDA because the Triton kernel is compiled without contraction to fused multiply-adds. For the
    means and deviations of CLIP, SigLIP, ImageNet and DINOv2 the result in bfloat16 equals that of the
    three steps for every byte; in float32 it may differ from them in the last bit.

    Holds no parameters of a module: nothing of it is in checkpoints, or overwritten when weights are
    loaded or made up. Copies for a device are made when it is first met.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], *, rescale_factor: float = 1 / 255) -> None:
        """Compute weight and bias.

        Args:
            mean: per channel, of values from 0 to 1.
            std: per channel.
            rescale_factor: from pixels to values.

        Raises:
            ValueError: lists of different lengths or none, or a factor or deviation of 0.
        """
        if len(mean) != len(std) or not mean:
            raise ValueError(f"norm: {len(mean)} means and {len(std)} deviations")
        if rescale_factor == 0 or 0 in std:
            raise ValueError("norm: a rescale factor or deviation of 0")
        deviation = np.asarray(std, np.float32)
        # As torch divides a number by a tensor, and so vLLM: by way of the reciprocal.
        self.weight: npt.NDArray[np.float32] = np.float32(rescale_factor) * (np.float32(1) / deviation)
        """float32 [channels]."""
        self.bias: npt.NDArray[np.float32] = -np.asarray(mean, np.float32) / deviation
        """float32 [channels]."""
        exact = np.asarray(std, np.float64)
        self.is_identity: bool = bool(
            np.allclose(rescale_factor / exact, 1, rtol=1e-5, atol=1e-8)
            and (np.abs(np.asarray(mean, np.float64) / exact) <= 1e-8).all()
        )
        """Whether the result is the input, but for its type; nothing is computed then."""
        self._on_device: dict[Any, tuple[torch.Tensor, torch.Tensor]] = {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> FusedInputNorm:
        """Read an image processor's configuration.

        Args:
            config: with ``image_mean``, ``image_std``, ``rescale_factor`` and the flags
                ``do_normalize`` and ``do_rescale`` of a checkpoint; a flag that is absent is set if both
                mean and deviation are there.

        Returns:
            Its ``weight`` and ``bias`` are float32 [channels]; without mean and deviation, of 3 channels.

        Raises:
            ValueError: as for a new one.
        """
        mean, std = config.get("image_mean"), config.get("image_std")
        both = mean is not None and std is not None
        if mean is None or std is None or not config.get("do_normalize", both):
            channels = len(mean) if mean is not None else 3
            mean, std = [0.0] * channels, [1.0] * channels
        rescale = config.get("rescale_factor", 1 / 255) if config.get("do_rescale", both) else 1.0
        return cls(mean, std, rescale_factor=rescale)

    def __call__(
        self,
        pixels: torch.Tensor,
        *,
        dtype: torch.dtype | None = None,
        out: torch.Tensor | None = None,
        frames: int = 1,
    ) -> torch.Tensor:
        """Normalise rows of patches.

        Args:
            pixels: uint8, float16, bfloat16 or float32 [rows, channels * n], where each row holds its
                channels one behind the other.
            dtype: of the result; that of ``out`` or ``torch.bfloat16`` by default.
            out: contiguous, for the result: of the same shape, or of ``frames`` times the columns.
            frames: how often each channel of a row stands in the result, one behind the other, as the
                equal frames of a still picture do (see ``one_frame``).

        Raises:
            ValueError: another shape, or an ``out`` that does not fit.
        """
        import torch

        dtype = dtype or (out.dtype if out is not None else torch.bfloat16)
        channels = len(self.weight)
        if pixels.ndim != 2 or pixels.shape[1] % channels != 0:
            raise ValueError(f"norm: {tuple(pixels.shape)} is not rows of {channels} channels")
        if frames < 1:
            raise ValueError(f"norm: {frames} frames")
        shape = (pixels.shape[0], pixels.shape[1] * frames)
        if out is not None and (out.shape != shape or out.dtype != dtype or not out.is_contiguous()):
            raise ValueError(f"norm: an output of {out.dtype} {tuple(out.shape)} for {dtype} {shape}")
        values = pixels.reshape(shape[0], channels, 1, pixels.shape[1] // channels)
        if not self.is_identity:
            weight, bias = self._for(pixels.device)
            if pixels.is_cuda and pixels.numel() * frames <= _MAX_TRITON:
                from mmcpp import torch_triton

                if torch_triton.available():
                    result = torch.empty(shape, dtype=dtype, device=pixels.device) if out is None else out
                    torch_triton.normalize(pixels.contiguous(), weight, bias, result)
                    return result
            values = values.to(torch.float32).mul(weight[:, None, None]).add_(bias[:, None, None])
        values = values.to(dtype).expand(-1, -1, frames, -1)
        if out is None:
            return values.reshape(shape)
        out.view(values.shape).copy_(values)
        return out

    def _for(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        if device not in self._on_device:
            self._on_device[device] = (
                torch.from_numpy(self.weight).to(device),
                torch.from_numpy(self.bias).to(device),
            )
        return self._on_device[device]


def one_frame(pixels: Any, frames: int, *, channels: int = 3) -> Any:
    """Leave out what a still picture is repeated to, for the way to the device.

    Args:
        pixels: array or tensor [rows, channels * frames * n]: Qwen-VL's patches have two frames.
        frames: equal ones that stand one behind the other in each channel.
        channels: of a row.

    Returns:
        [rows, channels * n]; ``FusedInputNorm`` repeats it.

    Raises:
        ValueError: another shape, or frames that differ, as those of a video do.
    """
    if pixels.ndim != 2 or frames < 1 or pixels.shape[1] % (channels * frames) != 0:
        raise ValueError(f"norm: {tuple(pixels.shape)} is not rows of {channels} channels of {frames} frames")
    split = pixels.reshape(pixels.shape[0], channels, frames, pixels.shape[1] // (channels * frames))
    if not bool((split == split[:, :, :1]).all()):
        raise ValueError(f"norm: {frames} frames that differ")
    return split[:, :, 0].reshape(pixels.shape[0], -1)
