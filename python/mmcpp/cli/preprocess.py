"""``mmcpp preprocess``: pictures in, a file of the model's tensors and a table out."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mmcpp.cli import model, pictures, seen, tensors
from mmcpp.pipeline import DType, ImageProcessor, Item

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from mmcpp.image import ImageInfo

__all__ = ["add_parser", "run"]

_DTYPES: dict[str, DType] = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "u8": "uint8"}

_EXAMPLES = """\
examples:
  mmcpp preprocess cat.jpg --family qwen2_vl --out cat.safetensors
  mmcpp preprocess cat.jpg --family qwen3_vl --out cat.npz --show seen.png
  mmcpp preprocess photos/ --config ./Qwen2.5-VL-7B-Instruct --out photos.safetensors --dtype bf16
  mmcpp preprocess *.png --family qwen2_vl --out all.npz --json | jq '.pictures[].tokens'

exit status: 0 success, 1 some pictures failed (each is named, the rest are written) or nothing could
be written, 2 usage error, 130 interrupted
"""


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "preprocess",
        help="turn pictures into a model's tensors",
        description="Decode pictures and preprocess them as a vision model takes them: writes the tensors\n"
        "and prints, for each picture, what it is, what the model sees of it, and where the time went.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "pictures",
        nargs="+",
        type=Path,
        metavar="PICTURE",
        help="a JPEG, PNG, WebP, GIF or BMP file, or a folder, whose pictures are taken recursively",
    )
    model.add_arguments(parser, required=True)
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="FILE",
        help="where the tensors go: FILE.safetensors or FILE.npz (.npz has bfloat16 as uint16 bits)",
    )
    parser.add_argument("--dtype", choices=sorted(_DTYPES), default="f32", help="of the feature (default: f32)")
    parser.add_argument(
        "--show",
        type=Path,
        metavar="SEEN.png",
        help="draw what the model sees, with its patches and tokens; of several pictures each has its "
        "number in the name",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(8, os.cpu_count() or 1),
        metavar="N",
        help="pictures at a time (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.set_defaults(run=run, usage_error=parser.error)


@dataclass(frozen=True)
class _Done:
    """A picture that was preprocessed."""

    path: Path
    item: Item
    feature: Any
    read_ms: float
    encoded_bytes: int


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand."""
    from mmcpp.cli.output import progress  # needs rich, which `mmcpp info` does not

    processor = _processor(arguments)
    done: list[_Done] = []
    failed: list[dict[str, str]] = []
    paths = list(pictures.find(arguments.pictures, failed))
    _spare(paths, arguments)
    for path, outcome in progress(_work(processor, paths, arguments), len(paths)):
        if isinstance(outcome, _Done):
            done.append(outcome)
        else:
            failed.append({"picture": str(path), "error": str(outcome).removeprefix("image 0: ")})
    if done:
        _write(arguments, processor, done)
    _report(arguments, done, failed)
    return 1 if failed else 0


def _processor(arguments: argparse.Namespace) -> ImageProcessor:
    """Check what the arguments ask for, before any work."""
    fail = arguments.usage_error
    if arguments.jobs < 1:
        fail(f"--jobs: expected 1 or more, got {arguments.jobs}")
    if arguments.out.suffix not in tensors.WRITERS:
        fail(f"--out: expected FILE.safetensors or FILE.npz, got {arguments.out}")
    if arguments.out.suffix == ".safetensors":
        importlib.import_module("safetensors")  # missing, it is better missed now than after the work
    if arguments.show is not None and arguments.show.suffix.lower() != ".png":
        fail(f"--show: expected FILE.png, got {arguments.show}")
    for path in filter(None, (arguments.out, arguments.show)):
        if not path.parent.is_dir():
            fail(f"{path}: no such folder: {path.parent}")
    processor = model.processor(arguments)
    if arguments.show is not None and not seen.is_drawn(processor):
        fail(f"--show: not drawn for {processor.family}, whose feature has neither tiles nor known patches")
    return processor


def _spare(paths: list[Path], arguments: argparse.Namespace) -> None:
    """Refuse to write over a picture that is to be read."""
    outputs = [arguments.out]
    if arguments.show is not None:
        outputs += [_numbered(arguments.show, number) for number in _numbers(paths)]
    taken = set(map(os.path.realpath, paths))
    for output in outputs:
        if os.path.realpath(output) in taken:
            arguments.usage_error(f"{output} is one of the pictures and would be written over")


def _numbers(paths: list[Path]) -> Sequence[int | None]:
    """Give what the pictures' drawings are numbered with; a single one is not."""
    return range(1, len(paths) + 1) if len(paths) > 1 else [None]


def _work(
    processor: ImageProcessor, paths: list[Path], arguments: argparse.Namespace
) -> Iterator[tuple[Path, _Done | Exception]]:
    """Preprocess, several at a time; results come in order."""

    def one(path: Path, number: int | None) -> _Done | Exception:
        try:
            began = time.perf_counter()
            data = pictures.read(path)
            read_ms = (time.perf_counter() - began) * 1e3
            batch = processor.process_items(data, dtype=_DTYPES[arguments.dtype])
            if arguments.show is not None:
                seen.draw(processor, data, _numbered(arguments.show, number))
            return _Done(path, batch.items[0], batch.features, read_ms, len(data))
        except (OSError, ValueError, MemoryError) as error:
            return error

    with ThreadPoolExecutor(arguments.jobs) as pool:
        yield from zip(paths, pool.map(one, paths, _numbers(paths)), strict=True)


def _numbered(path: Path, number: int | None) -> Path:
    return path if number is None else path.with_stem(f"{path.stem}-{number}")


def _write(arguments: argparse.Namespace, processor: ImageProcessor, done: list[_Done]) -> None:
    values = {processor.feature_name: _joined([one.feature for one in done])}
    for name in done[0].item.aux:
        values[name] = np.stack([one.item.aux[name] for one in done])
    listed = [{"picture": str(one.path), "hash": _hash(one)} for one in done]
    metadata = {"pictures": json.dumps(listed), "spec": processor.spec_json}
    tensors.write(arguments.out, values, _DTYPES[arguments.dtype], metadata)


def _joined(features: list[Any]) -> Any:
    """Put features behind each other; where they differ in other sides, zeros fill the smaller ones."""
    sides = np.max([feature.shape[1:] for feature in features], axis=0)
    if all(feature.shape[1:] == tuple(sides) for feature in features):
        return np.concatenate(features)
    joined = np.zeros((sum(len(feature) for feature in features), *sides), features[0].dtype)
    end = 0
    for feature in features:
        begin, end = end, end + len(feature)
        head = (slice(begin, end), *(slice(side) for side in feature.shape[1:]))
        joined[head] = feature
    return joined


def _hash(one: _Done) -> str:
    return f"{one.item.content_hash:016x}"


def _record(one: _Done) -> dict[str, Any]:
    info = cast("ImageInfo", one.item.info)  # there is one, since encoded bytes were given
    plan, times = one.item.plan, one.item.times
    return {
        "picture": str(one.path),
        "format": info.format,
        "mode": info.mode,
        "height": info.height,
        "width": info.width,
        "seen_height": plan.resized_height,
        "seen_width": plan.resized_width,
        "grid": plan.grid,
        "tokens": plan.tokens,
        "hash": _hash(one),
        "bytes": one.encoded_bytes,
        "ms": {
            "read": one.read_ms,
            "hash": times.hash_ms,
            "decode": times.decode_ms,
            "process": times.process_ms,
        },
    }


def _report(arguments: argparse.Namespace, done: list[_Done], failed: list[dict[str, str]]) -> None:
    records = [_record(one) for one in done]
    out = str(arguments.out) if done else None
    from mmcpp.cli.output import printable, show_table, warn

    if arguments.json:
        print(json.dumps({"pictures": records, "failed": failed, "out": out}))
        return
    if done:
        show_table(records)
        shapes = f"{len(done)} pictures, {sum(r['tokens'] for r in records)} tokens"
        print(f"wrote {printable(str(out))}: {shapes}, {arguments.out.stat().st_size:,} bytes")
    for failure in failed:
        warn(f"failed: {failure['picture']}: {failure['error']}")
