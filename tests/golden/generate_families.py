"""Makes families.json: what transformers gives for the families' specs, as digests of the features.

    PYTHONPATH=../python python generate_families.py

Needs mmcpp (for its hash alone), transformers, Pillow and torch. The specs and the processors are those of the parity
tests, tests/python/test_hf_*.py; pictures come from a formula.
"""

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
MODULES = (
    "test_hf_patch_grids",
    "test_hf_padded_grids",
    "test_hf_fixed_size",
    "test_hf_internvl",
    "test_hf_pixtral",
    "test_hf_llava_next",
    "test_hf_padded_patches",
    "test_hf_idefics3",
    "test_hf_llama",
    "test_hf_global_tiles",
    "test_hf_perception_lm",
    "test_hf_minicpmv",
    "test_hf_ovis2",
    "test_hf_deepseek_vl_hybrid",
    "test_hf_granite_docling",
    "test_hf_lfm2_vl",
    "test_hf_phi4_multimodal",
    "test_hf_inkling",
)
SIZES = ((3, 7), (90, 211), (150, 61))


def cases():
    """Every spec of the parity tests for both backends, with what its processor gives."""
    for module in map(__import__, MODULES):
        for name in module.CASES:
            theirs = module.processor(name)
            for backend in hf.backends_of(theirs):
                spec = module.spec_of(name, backend)
                hashes = []
                for size in SIZES:
                    picture = PIL.Image.fromarray(pixels(*size))
                    values = feature(hf.run(theirs, backend, picture), getattr(module, "PARTS", {}).get(name))
                    hashes.append({"height": size[0], "width": size[1], "shape": values.shape,
                                   "hash": f"{mmcpp.content_hash(values.tobytes()):016x}"})  # fmt: skip
                yield {"name": name, "spec": spec, "features": hashes}, theirs.backend


def feature(values, parts):
    """What a picture's feature is: one tensor, or several in a row."""
    if parts is None:
        name = next(name for name in ("pixel_values", "image_pixel_values") if name in values)
        return numpy.asarray(values[name])
    return numpy.concatenate([numpy.asarray(values[name]).ravel() for name in parts if name in values])


def table(made):
    """The families of cpp/docs/families.md: what is compared, and how often."""
    live = len(hf.SIZES) * len(hf.MODES) + 1  # each picture, then a batch
    rows = {}
    for case, reference in made:
        rows.setdefault((case["spec"]["family"], case["name"]), []).append((case, reference))
    lines = ["| family | spec | backend | pictures and batches compared | stored digests | differences |"]
    lines.append("|---|---|---|---|---|---|")
    for (family, name), cases_of in sorted(rows.items()):
        for case, reference in cases_of:
            backend = "PIL" if case["spec"]["resample"] == "pil" else "torchvision's arithmetic"
            if "rule" in reference:
                backend += ", by rule"
            lines.append(f"| `{family}` | `{name}` | {backend} | {live} | {len(case['features'])} | 0 |")
    return "\n".join(lines) + "\n"


DOCS = """# Families

Each family equals image processors of transformers {transformers}, with Pillow {pillow} and torch {torch}. A spec below
is one of those that `tests/python/test_hf_*.py` compare with the class, byte for byte, names, dtypes and shapes too;
`tests/cpp/families/golden_test.cc` compares the stored digests, on every machine. Where transformers has a processor,
the same tests compare the expansion of prompts with its rule. torchvision's arithmetic is composed from torch's own
operations, as torchvision's functions call them; a family with that backend alone has no other class. "By rule":
transformers has no class, and the test has the rule of the model's own code, written independently.
Of Qwen2-VL to 3.5 `tests/python/test_hf_qwen2_vl.py` compares more.

What is not given: `num_crops` of Gemma 3, which its processor drops. The rule of `deepseek_vl2` is that of requests of
one or two pictures; of more, its model shows the whole alone, as a spec with one resolution of one tile does.
`mmcpp families` lists classes and model types. This page is written by `tests/golden/generate_families.py`.

Positions that are not plain are compared with `get_rope_index` of models of transformers, in
`tests/python/test_mrope_hf.py`, on random mixes of text and pictures:

| positions | models | mixes compared | differences |
|---|---|---|---|
| `mrope` | ten, of Qwen2-VL's rule | 80 each | 0 |
| `mrope` with `row_tokens` | HY-V4-VL | 80 | 0 |
| `xdrope` | HunYuanVL, of 3 and 4 axes, with and without extra tokens | 80 each | 0 |
| `canvas` of `minicpmv` | MiniCPM-V 4.7, both downsample modes, with and without numbers | 80 each | 0 |
| `mmcpp.mrope`, videos too | ten: steps of one, of seconds, merged, or each frame alone | 80 each | 0 |

Where transformers goes on with settings that make no sense, some are refused when a checkpoint is read: a side, a count
or a number of tokens below one; a shortest edge under what is cut out; sides of no square where a rule is for squares;
resolutions that a tile does not divide. `tests/python/test_hf_bad_config.py` changes each setting of each class and
compares all else: what throws, and what is made.

"""

REFERENCE = """
## Families of the reference crate alone

No class of transformers is equalled by these; each follows what sglang 0.5.23 does in Python, written anew in its test,
with Pillow, numpy and torch on a CPU. `from_pretrained` tells their checkpoints by the model type; folders of InternVL
are read as `internvl`. A spec by hand has the keys of the checkpoint's configuration. `kimi_k3` keeps transparency
through its resize and lays the picture over the `background` of its spec: `none` (colours stay), `white`, `black`,
`gray` or `chessboard`; the decode profile has no say in that.
`mmcpp.inkling`, `mmcpp.dsv41` and `mmcpp.kimi_k3` have the crate's functions;
[reference_differences.md](reference_differences.md) says where they differ from it.

| family | checkpoints | compared in | pictures | plans from sizes | stored digests | differences |
|---|---|---|---|---|---|---|
| `inkling` | Inkling | `tests/python/test_inkling.py` | 18 | 3 | 3 | 0 |
| `dsv41` | DeepSeek-V4.1 | `tests/python/test_dsv41.py` | 20 | 1020 | 2 | 0 |
| `kimi_k3` | Kimi K3 | `tests/python/test_kimi_k3.py` | 163 | 1008 | 0 | 0 |
| `kimi_k3` functions | Kimi K3, seven backgrounds | `tests/python/test_kimi_k3.py` | 42 | | 0 | 0 |
| `mimo_v2` | MiMo-V2.5 | `tests/python/test_float_families.py` | 30 in each float type | 1036 | 20 | 0 |
| `intern_vl` | InternVL of sglang | `tests/python/test_float_families.py` | 20 in each float type | 351 | 10 | 0 |

torch resamples bilinearly with other roundings when it runs with several threads; `mimo_v2` follows one thread unless
its spec's `torch_threads` says otherwise.
"""


def main():
    """Write the file."""
    made = list(cases())
    versions = {"transformers": transformers.__version__, "pillow": PIL.__version__, "torch": torch.__version__}
    lines = ",\n  ".join(json.dumps(case) for case, _ in made)
    text = f'{{"versions": {json.dumps(versions)},\n "cases": [\n  {lines}\n]}}\n'
    (HERE / "families.json").write_text(text, encoding="utf-8")
    docs = HERE.parent.parent / "cpp/docs/families.md"
    docs.write_text(DOCS.format(**versions) + table(made) + REFERENCE, encoding="utf-8")
    print(f"families.json: {len(made)} specs, {len(made) * len(SIZES)} features")


if __name__ == "__main__":
    main()
