"""The Triton kernel has the bits of torch's own operations: its arithmetic in Triton's interpreter, its rounding by
the instructions that it becomes for a device, of which none is needed here."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from mmcpp import torch_triton
from mmcpp.torch import FusedInputNorm

pytest.importorskip("torch")

CHECK = """
    import torch
    from mmcpp.torch import FusedInputNorm
    from mmcpp import torch_triton

    assert torch_triton.available()
    generator = torch.Generator().manual_seed(1)
    for rows, channels, side in [(1, 1, 1), (1, 3, 1), (3, 3, 7), (2, 4, 63), (4, 3, 1000), (700, 3, 4)]:
        norm = FusedInputNorm([0.48, 0.45, 0.4, 0.3][:channels], [0.26, 0.27, 0.28, 0.5][:channels])
        for source in (torch.uint8, torch.float32, torch.bfloat16):
            pixels = torch.randint(0, 256, (rows, channels * side), generator=generator).to(source)
            for dtype in (torch.float32, torch.bfloat16, torch.float16):
                out = torch.empty(pixels.shape, dtype=dtype)
                torch_triton.normalize(pixels, torch.from_numpy(norm.weight), torch.from_numpy(norm.bias), out)
                expected = norm(pixels, dtype=dtype)
                if dtype == torch.bfloat16:  # the interpreter cuts the last bits off, where a device rounds
                    bits = norm(pixels, dtype=torch.float32).view(torch.int32) & -0x10000
                    expected = bits.view(torch.float32).to(dtype)
                assert torch.equal(out, expected), (rows, channels, side, source, dtype)
                both, wide = norm(pixels, dtype=torch.float32, frames=3), torch.empty(rows, 3 * channels * side)
                torch_triton.normalize(pixels, torch.from_numpy(norm.weight), torch.from_numpy(norm.bias), wide)
                assert torch.equal(wide, both)
    torch_triton.normalize(torch.empty(0, 3), torch.ones(3), torch.ones(3), torch.empty(0, 3))
"""


# The interpreter of Triton 3.9 cuts float32 down to bfloat16 without rounding, whatever is asked for, so there only the
# float32 that is cut is known to be right. How a device rounds it, the instructions say.
EVERY_BYTE = """
    import json, sys
    import torch
    from mmcpp.torch import FusedInputNorm
    from mmcpp import torch_triton

    pixels = torch.arange(256, dtype=torch.uint8)[:, None].repeat(1, 3)
    for mean, std, rescale in json.load(sys.stdin):
        norm = FusedInputNorm(mean, std, rescale_factor=rescale)
        weight, bias = torch.from_numpy(norm.weight), torch.from_numpy(norm.bias)
        out, half = torch.empty(256, 3), torch.empty(256, 3, dtype=torch.float16)
        torch_triton.normalize(pixels, weight, bias, out)
        torch_triton.normalize(pixels, weight, bias, half)
        twice = torch.empty(256, 6)
        torch_triton.normalize(pixels, weight, bias, twice)
        assert torch.equal(twice, norm(pixels, dtype=torch.float32, frames=2))
        assert torch.equal(out, norm(pixels, dtype=torch.float32)), mean
        assert torch.equal(out.to(torch.bfloat16), norm(pixels)), mean
        assert torch.equal(half, norm(pixels, dtype=torch.float16)), mean
"""

triton_only = pytest.mark.skipif(not torch_triton.available(), reason="triton is not installed")


def interpret(code: str, given: object = None) -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}  # read when the kernel is defined
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, env=environment, input=json.dumps(given), text=True
    )


@triton_only
def test_the_kernel_equals_torch_in_the_interpreter() -> None:
    interpret(CHECK)


@triton_only
def test_every_byte_under_every_family_s_parameters_in_the_interpreter() -> None:
    norms = json.loads((Path(__file__).parents[1] / "golden/vllm_processing_cases.json").read_text())["norm"].values()
    parameters = [(norm["image_mean"], norm["image_std"], norm["rescale_factor"]) for norm in norms]
    parameters += [
        ([0.5] * 3, [0.5] * 3, 1 / 255),
        ([0.1, 0.2, 0.3], [0.2, 0.3, 0.7], 1 / 127.5),
        ([0] * 3, [1] * 3, 1),
    ]
    interpret(EVERY_BYTE, [entry for entry in parameters if not FusedInputNorm(*entry[:2]).is_identity])


def instructions(dtype: str, architecture: int, *, fusion: bool = False) -> tuple[list[str], list[str]]:
    """Give the kernel's instructions on floats as it is compiled for uint8 pixels: PTX, and the machine's."""
    from triton import compile as compile_kernel
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.tools.disasm import get_sass

    types = {"pixels": "*u8", "out": "*" + dtype, "weight": "*fp32", "bias": "*fp32", "count": "i32", "side": "i32"}
    constants = {"channels": 3, "frames": 1, "block": 1024}
    source = ASTSource(torch_triton._normalize, types | dict.fromkeys(constants, "constexpr"), constants)
    options = {"num_warps": 4, "enable_fp_fusion": fusion}
    compiled: Any = compile_kernel(source, target=GPUTarget("cuda", architecture, 32), options=options)
    names = re.findall(
        r"^\s*(?:@\S+ )?((?:cvt|fma|mul|add|sub|div)\.\S*f(?:16|32)\S*)", compiled.asm["ptx"], re.MULTILINE
    )
    return names, re.findall(r"\b(F(?:FMA|MUL|ADD)\S*)", get_sass(compiled.asm["cubin"]))


@triton_only
@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize(("dtype", "rounding"), [("bf16", "cvt.rn.bf16"), ("fp16", "cvt.rn.f16"), ("fp32", None)])
def test_a_device_rounds_product_sum_and_result_once_each(architecture: int, dtype: str, rounding: str | None) -> None:
    """``.rn`` is rounding to nearest, ties to even, as torch's; an instruction that says so is not contracted."""
    names, machine = instructions(dtype, architecture)
    counts = {name: names.count(name) for name in names}
    elements = 1024 // (4 * 32)  # of a thread
    assert counts.pop("mul.rn.f32") == counts.pop("add.rn.f32") == counts.pop("cvt.rn.f32.u16") == elements
    if rounding is not None:
        assert counts.pop(f"{rounding}.f32") == elements
    assert not counts
    assert {name.split(".")[0] for name in machine} == {"FMUL", "FADD"}


@triton_only
def test_a_contraction_is_noticed() -> None:
    names, machine = instructions("bf16", 90, fusion=True)
    assert "add.rn.f32" not in names
    assert any(name.startswith("FFMA") for name in machine)
