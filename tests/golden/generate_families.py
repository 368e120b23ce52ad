"""Makes families.json: what transformers gives for the families' specs, as digests of the features.

    PYTHONPATH=../python python generate_families.py

Needs mmcpp (for its hash alone), transformers, Pillow and torch. The specs and the processors are those of the parity
tests, tests/python/test_hf_*.py; pictures come from a formula.
"""

import contextlib
import json
import pathlib

import numpy
import PIL
import torch
import transformers
from generate_resize import pixels

import hf
import mmcpp

HERE = pathlib.Path(__file__).parent
MODULES = ("test_hf_patch_grids", "test_hf_fixed_size", "test_hf_internvl", "test_hf_pixtral", "test_hf_llava_next")
SIZES = ((3, 7), (90, 211), (150, 61))


def cases():
    """Every spec of the parity tests for both backends, with what its processor gives."""
    for module in map(__import__, MODULES):
        for name in module.CASES:
            theirs = module.processor(name)
            for backend in ("pil", "torchvision"):
                spec = module.spec_of(name, backend)
                hashes = []
                for size in SIZES:
                    with hf.torchvision_arithmetic() if backend == "torchvision" else contextlib.nullcontext():
                        values = numpy.asarray(
                            theirs(PIL.Image.fromarray(pixels(*size)), return_tensors="np")["pixel_values"]
                        )
                    hashes.append({"height": size[0], "width": size[1], "shape": values.shape,
                                   "hash": f"{mmcpp.content_hash(values.tobytes()):016x}"})  # fmt: skip
                yield {"name": name, "spec": spec, "features": hashes}


def main():
    """Write the file."""
    made = list(cases())
    versions = {"transformers": transformers.__version__, "pillow": PIL.__version__, "torch": torch.__version__}
    lines = ",\n  ".join(json.dumps(case) for case in made)
    text = f'{{"versions": {json.dumps(versions)},\n "cases": [\n  {lines}\n]}}\n'
    (HERE / "families.json").write_text(text, encoding="utf-8")
    print(f"families.json: {len(made)} specs, {len(made) * len(SIZES)} features")


if __name__ == "__main__":
    main()
