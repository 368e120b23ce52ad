"""`minicpmv` against `MiniCPMV4_6ImageProcessor` of transformers 5.24, and against the rule of MiniCPM-V 2.6."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

import mmcpp
from hf import Both, Tokens, compare, compare_prompt, processing

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

from hf_rules import MiniCPMV  # noqa: E402  (needs transformers)

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: our keys, their arguments
    "minicpmv4_6": ({"merge_size": 4, "max_slices": 9}, {"max_slice_nums": 9}),
    "minicpmv4_6_4x": ({"merge_size": 2, "max_slices": 5}, {"max_slice_nums": 5, "downsample_mode": "4x"}),
    "minicpmv4_6_whole": ({"merge_size": 4, "max_slices": 1}, {"slice_mode": False}),
    "minicpmv2_6": (
        {"merge_size": 1, "max_slices": 9, "tokens_per_slice": 64, "sizes": "tgt_sizes"},
        {"max_slice_nums": 9},
    ),
}


def spec_of(name: str, backend: str = "pil", **keys: object) -> dict:
    return {
        "family": "minicpmv",
        "image_token_id": 1,
        "patch_size": 14,
        "scale_resolution": 224,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **HALF,
        **CASES[name][0],
        **keys,
    }


def processor(name: str):
    arguments = {"patch_size": 14, "scale_resolution": 224, **HALF, **CASES[name][1]}
    if name == "minicpmv2_6":
        return MiniCPMV(**arguments)
    return Both.of("minicpmv4_6", "MiniCPMV4_6ImageProcessor", **arguments)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize("name", ["minicpmv4_6", "minicpmv2_6"])
def test_grids(name):
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of(name)), processor(name)
    choose = random.Random(4)
    for _ in range(3000):
        height, width = int(2 ** choose.uniform(0, 13)), int(2 ** choose.uniform(0, 13))
        if name == "minicpmv4_6":
            rows, columns = theirs.pil.get_sliced_grid((height, width), 9, 224) or (1, 1)
        else:
            columns, rows = theirs.grid(width, height) or (1, 1)
        assert ours.plan(height, width).grid[1:] == (rows, columns), (height, width)


@pytest.mark.parametrize("numbered", [False, True])
def test_prompt(numbered):
    cls = processing("minicpmv4_6").MiniCPMV4_6Processor
    names = ["<image>", "<pad>", "</image>", "<slice>", "</slice>", "\n", "<image_id>", "</image_id>", *"0123456789"]
    tokens = Tokens(*names)
    begin, pad, end, slice_begin, slice_end, line, id_begin, id_end, *digits = map(tokens.id, names)
    this = SimpleNamespace(
        slice_mode=True,
        image_token="<pad>",
        image_start_token="<image>",
        image_end_token="</image>",
        slice_start_token="<slice>",
        slice_end_token="</slice>",
        image_id_start_token="<image_id>",
        image_id_end_token="</image_id>",
    )

    def replacement(inputs, i):
        inputs = {name: np.asarray(value) for name, value in inputs.items()}
        whole = cls.replace_image_token(this, inputs, i, image_token_divisor=16)
        if numbered:
            alone = cls._prepend_local_ids(this, ["<pad>" * (i + 1)], [""] * i + [whole], "<pad>")
            whole = alone[i]
        return whole

    spec = spec_of(
        "minicpmv4_6",
        image_token_id=pad,
        image_start_token_ids=[begin],
        image_end_token_ids=[end],
        slice_start_token_ids=[slice_begin],
        slice_end_token_ids=[slice_end],
        row_end_token_ids=[line],
        image_id_token_ids=[id_begin, id_end, *digits] if numbered else [],
    )
    compare_prompt(spec, tokens, "<pad>", replacement, processor("minicpmv4_6"), numbered=numbered)
