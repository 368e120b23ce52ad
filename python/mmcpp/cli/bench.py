"""``mmcpp bench``: your pictures and your model, against transformers and Pillow, on your machine."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import io
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmcpp.cli import model, pictures
from mmcpp.image import decode_image
from mmcpp.pipeline import ImageProcessor

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["add_parser", "run"]

# Of the presets' spec, as transformers' class has them too.
_KEYS = ("patch_size", "merge_size", "temporal_patch_size", "min_pixels", "max_pixels", "image_mean", "image_std")

_EXAMPLES = """\
examples:
  mmcpp bench photos/ --family qwen2_vl
  mmcpp bench photos/ --config ./InternVL3-8B --most 20 --json

Results are compared before anything is timed. One thread each; the clock is the processor's time.

exit status: 0 success, 1 some pictures failed (each is named) or results differ, 2 usage error
"""


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "bench",
        help="time your pictures against transformers and Pillow",
        description="Decode and preprocess pictures here and with transformers' own image processor, compare the\n"
        "tensors byte for byte, and print times and ratios. Needs: pip install 'mmcpp[processing]'.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pictures", nargs="+", type=Path, metavar="PICTURE", help="picture files or folders of them")
    model.add_arguments(parser, required=True)
    parser.add_argument("--rounds", type=int, default=5, help="in which every side runs once (default: 5)")
    parser.add_argument("--most", type=int, default=50, metavar="N", help="pictures at most (default: 50)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Compare, time, print."""
    from mmcpp.cli.output import progress, show_grid, warn

    if arguments.rounds < 1 or arguments.most < 1:
        arguments.usage_error("--rounds and --most: expected 1 or more")
    os.environ.setdefault("MMCPP_THREADS", "1")
    theirs, backend = _transformers(arguments)
    arguments.backend = backend
    ours = model.processor(arguments)
    failed: list[dict[str, str]] = []
    encoded = _usable(arguments, ours, theirs, failed)
    sides: dict[str, Callable[[bytes], object]] = {
        "mmcpp": ours,
        "transformers": theirs,
        "decode: mmcpp": decode_image,
        "decode: Pillow": _pillow,
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in progress(range(arguments.rounds if encoded else 0), arguments.rounds, what="rounds"):
        for name, work in sides.items():
            began = time.process_time()
            for data in encoded:
                work(data)
            times[name].append((time.process_time() - began) * 1e3 / len(encoded))
    medians = {name: statistics.median(samples) for name, samples in times.items() if samples}
    if arguments.json:
        print(json.dumps({"pictures": len(encoded), "backend": backend, "ms": medians, "failed": failed}))
    elif medians:
        print(f"{len(encoded)} pictures, equal tensors; {backend} arithmetic; medians of {arguments.rounds} rounds")
        show_grid(_rows(medians), ["ms a picture", "pictures/s", "times mmcpp's"])
    if not arguments.json:
        for failure in failed:
            warn(f"failed: {failure['picture']}: {failure['error']}")
    return 1 if failed else 0


def _rows(medians: dict[str, float]) -> list[dict[str, str]]:
    rows = []
    for name, ms in medians.items():
        base = medians["decode: mmcpp" if name.startswith("decode") else "mmcpp"]
        ratio = f"{ms / base:.2f}x"
        rows.append(
            {"work": name, "ms a picture": f"{ms:.2f}", "pictures/s": f"{1e3 / ms:.1f}", "times mmcpp's": ratio}
        )
    return rows


def _transformers(arguments: argparse.Namespace) -> tuple[Callable[[bytes], Any], str]:
    """Give transformers' processor of encoded bytes, and whose arithmetic it has."""
    try:
        transformers: Any = importlib.import_module("transformers")
        torch: Any = importlib.import_module("torch")
        image: Any = importlib.import_module("PIL.Image")
    except ModuleNotFoundError as error:
        arguments.usage_error(f"needs the package {error.name}: pip install 'mmcpp[processing]'")
    torch.set_num_threads(1)
    has_torchvision = importlib.util.find_spec("torchvision") is not None
    backend = arguments.backend or ("torchvision" if has_torchvision else "pil")
    if backend == "torchvision" and not has_torchvision:
        arguments.usage_error("--backend torchvision: torchvision is not installed")
    if arguments.config is not None:
        processor = transformers.AutoImageProcessor.from_pretrained(arguments.config, backend=backend)
    else:
        arguments.backend = backend
        spec = model.processor(arguments).spec
        name = "Qwen2VLImageProcessor" + ("Pil" if backend == "pil" else "")
        processor = getattr(transformers, name)(**{key: spec[key] for key in _KEYS})

    def call(data: bytes) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return processor(image.open(io.BytesIO(data)), return_tensors="np")

    return call, backend


def _usable(
    arguments: argparse.Namespace, ours: ImageProcessor, theirs: Callable[[bytes], Any], failed: list[dict[str, str]]
) -> list[bytes]:
    """Read the pictures that both sides take and whose tensors are equal."""
    encoded = []
    for path in list(pictures.find(arguments.pictures, failed))[: arguments.most]:
        try:
            data = pictures.read(path)
            mine, other = ours(data), theirs(data)
        except Exception as error:  # transformers' may be any
            failed.append({"picture": str(path), "error": str(error).removeprefix("image 0: ")})
            continue
        unlike = [name for name, value in mine.items() if not np.array_equal(value, np.asarray(other[name]))]
        if unlike:
            failed.append({"picture": str(path), "error": f"transformers gives another {', '.join(unlike)}"})
            continue
        encoded.append(data)
    return encoded


def _pillow(data: bytes) -> object:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
