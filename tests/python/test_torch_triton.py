"""The Triton kernel, in Triton's interpreter: the same bits as torch's own operations."""

import os
import subprocess
import sys
import textwrap

import pytest

from mmcpp import torch_triton

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
    torch_triton.normalize(torch.empty(0, 3), torch.ones(3), torch.ones(3), torch.empty(0, 3))
"""


@pytest.mark.skipif(not torch_triton.available(), reason="triton is not installed")
def test_the_kernel_equals_torch_in_the_interpreter() -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}  # read when the kernel is defined
    subprocess.run([sys.executable, "-c", textwrap.dedent(CHECK)], check=True, env=environment)
