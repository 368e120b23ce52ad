"""Makes torch_float.json: what torch gives for resampling in float, and for the families that do, as digests.

    PYTHONPATH=../python python generate_float.py

Needs mmcpp (for its hash alone) and torch, on a CPU with fused multiply-add. The rules are those of
tests/python/float_rules.py; pictures come from a formula.
"""

import json
import pathlib

import torch
from generate_resize import pixels

import mmcpp
from float_rules import INTERN, MIMO, SIZES, intern_features, mimo_features, planes, resized, threads

HERE = pathlib.Path(__file__).parent
RESIZES = [(1, 1, 5, 7), (7, 5, 7, 5), (20, 31, 40, 33), (90, 211, 13, 100), (64, 48, 1, 1), (33, 20, 100, 9)]


def digest(tensor):
    """Of a tensor's bytes."""
    return f"{mmcpp.content_hash(tensor.numpy().tobytes()):016x}"


def resize_digest(image, height, width, mode, count):
    """Of what torch gives with `count` threads."""
    with threads(count):
        return digest(resized(planes(image), height, width, mode).contiguous())


def main():
    """Write the file."""
    resizes = [
        {"height": h, "width": w, "out_height": out_h, "out_width": out_w, "filter": mode,
         "threads": count, "hash": resize_digest(pixels(h, w), out_h, out_w, mode, count)}
        for mode in ("bilinear", "bicubic") for count in (1, 3) for h, w, out_h, out_w in RESIZES
    ]  # fmt: skip
    features = []
    for spec, rule in ((MIMO, mimo_features), ({**MIMO, "torch_threads": 3}, mimo_features), (INTERN, intern_features)):
        for h, w in SIZES:
            values = rule(pixels(h, w), spec)
            features.append({"spec": spec, "height": h, "width": w, "shape": list(values.shape),
                             "hash": digest(values)})  # fmt: skip
    groups = [
        (name, ",\n  ".join(map(json.dumps, group))) for name, group in (("resizes", resizes), ("features", features))
    ]
    body = ",\n ".join(f'"{name}": [\n  {lines}\n ]' for name, lines in groups)
    versions = json.dumps({"torch": torch.__version__})
    (HERE / "torch_float.json").write_text(f'{{"versions": {versions},\n {body}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
