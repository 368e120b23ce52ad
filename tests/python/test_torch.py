"""Normalisation on the device, on the CPU: vLLM's facts, the three steps, and the byte path."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.torch import FusedInputNorm, one_frame

torch = pytest.importorskip("torch")

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_processing_cases.json").read_text())
NORMS = pytest.mark.parametrize("case", list(CASES["norm"].values()), ids=list(CASES["norm"]))


def norm_of(case: Any) -> FusedInputNorm:
    return FusedInputNorm(case["image_mean"], case["image_std"], rescale_factor=case["rescale_factor"])


def every_byte(channels: int) -> Any:
    """Rows of one pixel: uint8 [256, channels]."""
    return torch.arange(256, dtype=torch.uint8)[:, None].repeat(1, channels)


@NORMS
def test_weights_equal_vllm_s(case: Any) -> None:
    norm = norm_of(case)
    assert [value.tobytes()[::-1].hex() for value in norm.weight] == case["weight_f32_hex_be"]
    assert [value.tobytes()[::-1].hex() for value in norm.bias] == case["bias_f32_hex_be"]
    assert norm.is_identity == case["identity"]


@NORMS
@pytest.mark.parametrize("name", ["f32", "bf16", "f16"])
def test_every_byte_becomes_what_it_does_in_vllm(case: Any, name: str) -> None:
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[name]
    result = norm_of(case)(every_byte(3), dtype=dtype).T  # the facts are digests of [3, 256]
    digest = hashlib.sha256(result.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()
    assert digest == case[f"lut_{name}_sha256_le"]


@NORMS
def test_bfloat16_equals_the_three_steps(case: Any) -> None:
    values = every_byte(3).to(torch.float32) * np.float32(case["rescale_factor"])
    steps = (values - torch.tensor(case["image_mean"])) / torch.tensor(case["image_std"])
    assert torch.equal(norm_of(case)(every_byte(3)), steps.to(torch.bfloat16))


@pytest.mark.parametrize(("mean", "std", "rescale", "identity"), CASES["norm_identity"])
def test_what_is_identity(mean: Any, std: Any, rescale: float, identity: bool) -> None:
    norm = FusedInputNorm(mean, std, rescale_factor=rescale)
    assert norm.is_identity == identity
    if identity:
        assert torch.equal(norm(every_byte(3), dtype=torch.float16), every_byte(3).to(torch.float16))


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("side", [1, 7, 63])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "bfloat16", "float32"])
def test_channels_lie_one_behind_the_other(channels: int, side: int, dtype: str) -> None:
    mean, std = [0.1 * (c + 1) for c in range(channels)], [0.5 + 0.1 * c for c in range(channels)]
    norm = FusedInputNorm(mean, std)
    generator = torch.Generator().manual_seed(1)
    pixels = torch.randint(0, 256, (5, channels * side), generator=generator).to(getattr(torch, dtype))
    result = norm(pixels, dtype=torch.float32)
    for channel in range(channels):
        part = slice(channel * side, (channel + 1) * side)
        product = pixels[:, part].to(torch.float32) * norm.weight[channel]
        assert torch.equal(result[:, part], product + norm.bias[channel])


def test_memory_may_be_strided_and_given() -> None:
    norm = FusedInputNorm([0.5] * 3, [0.5] * 3)
    base = torch.randint(0, 256, (8, 96, 2), dtype=torch.uint8)
    out = torch.empty(8, 96, dtype=torch.float16)
    assert norm(base[..., 0], out=out) is out
    assert torch.equal(out, norm(base[..., 0].contiguous(), dtype=torch.float16))
    assert norm(torch.empty(0, 96, dtype=torch.uint8)).shape == (0, 96)


def test_what_does_not_fit_is_refused() -> None:
    norm = FusedInputNorm([0.5] * 3, [0.5] * 3)
    pixels = torch.zeros(4, 6, dtype=torch.uint8)
    for wrong in (torch.zeros(4, 7), torch.zeros(6), torch.zeros(1, 4, 6)):
        with pytest.raises(ValueError, match="is not rows of 3 channels"):
            norm(wrong)
    for out in (torch.zeros(5, 6), torch.zeros(4, 12)[:, ::2]):
        with pytest.raises(ValueError, match="an output of"):
            norm(pixels, out=out)
    with pytest.raises(ValueError, match="an output of"):
        norm(pixels, out=torch.zeros(4, 6), dtype=torch.float16)
    with pytest.raises(ValueError, match="3 means and 2 deviations"):
        FusedInputNorm([0.5] * 3, [0.5] * 2)
    with pytest.raises(ValueError, match="of 0"):
        FusedInputNorm([0.5], [0.0])
    with pytest.raises(ValueError, match="of 0"):
        FusedInputNorm([0.5], [0.5], rescale_factor=0)


def test_parameters_are_those_of_a_checkpoint() -> None:
    clip = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.3, 0.4], "rescale_factor": 0.5}
    assert (
        FusedInputNorm.from_config(clip).weight.tolist()
        == FusedInputNorm([0.4, 0.5, 0.6], [0.2, 0.3, 0.4], rescale_factor=0.5).weight.tolist()
    )
    assert FusedInputNorm.from_config({**clip, "do_normalize": False}).weight.tolist() == [0.5] * 3
    assert FusedInputNorm.from_config({**clip, "do_normalize": False, "do_rescale": False}).is_identity
    assert FusedInputNorm.from_config({}).is_identity


def test_bytes_end_to_end_equal_floats_and_take_a_quarter() -> None:
    from mmcpp import ImageProcessor
    from mmcpp.spec import preset_spec

    spec = preset_spec("qwen2_vl")
    processor = ImageProcessor.from_spec(spec)
    picture = np.random.default_rng(1).integers(0, 256, (100, 76, 3), dtype=np.uint8)
    floats = processor(picture, return_tensors="pt")["pixel_values"]
    data = processor(picture, dtype="uint8", return_tensors="pt")["pixel_values"]
    norm = FusedInputNorm(spec["image_mean"], spec["image_std"])
    assert data.nbytes * 4 == floats.nbytes
    assert torch.equal(norm(data), floats.to(torch.bfloat16))


@pytest.mark.parametrize("frames", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_frames_that_were_left_out_are_repeated_on_the_device(frames: int, dtype: str) -> None:
    norm = FusedInputNorm([0.4, 0.5, 0.6], [0.2, 0.3, 0.4])
    once = torch.randint(0, 256, (7, 3 * 5), dtype=torch.uint8)
    whole = once.reshape(7, 3, 1, 5).expand(-1, -1, frames, -1).reshape(7, -1)
    expected = norm(whole, dtype=getattr(torch, dtype))
    assert torch.equal(one_frame(whole, frames), once)
    assert (one_frame(whole.numpy(), frames) == once.numpy()).all()
    assert torch.equal(norm(one_frame(whole, frames), dtype=getattr(torch, dtype), frames=frames), expected)
    out = torch.empty(whole.shape, dtype=getattr(torch, dtype))
    assert norm(once, out=out, frames=frames) is out
    assert torch.equal(out, expected)
    same = FusedInputNorm([0.0] * 3, [1.0] * 3, rescale_factor=1.0)
    assert torch.equal(same(once, frames=frames), whole.to(torch.bfloat16))


def test_frames_of_a_video_are_not_left_out() -> None:
    with pytest.raises(ValueError, match="2 frames that differ"):
        one_frame(torch.arange(12).reshape(1, 12), 2)
    with pytest.raises(ValueError, match="is not rows of 3 channels of 2 frames"):
        one_frame(torch.zeros(1, 9), 2)
    with pytest.raises(ValueError, match="0 frames"):
        FusedInputNorm([0.5], [0.5])(torch.zeros(1, 9), frames=0)
