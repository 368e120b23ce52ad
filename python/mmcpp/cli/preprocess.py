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

from mmcpp.cli import model, parts, pictures, seen, tensors
from mmcpp.pipeline import DType, ImageProcessor, Item
from mmcpp.results import feature_tensors

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
  mmcpp preprocess photos/ --family qwen3_vl --out tensors/ --part 1000 --format parquet

With --part, a run that was interrupted and is started again makes the parts that are missing.

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
        help="where the tensors go: FILE.safetensors, .npz (has bfloat16 as uint16 bits), .parquet or .arrow\n"
        "(a row a picture); with --part a folder",
    )
    parser.add_argument(
        "--part", type=int, metavar="N", help="write files of N pictures each into the folder --out, and resume there"
    )
    parser.add_argument(
        "--format",
        choices=[suffix[1:] for suffix in tensors.WRITERS],
        help="of the parts (default: safetensors)",
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
    failed: list[dict[str, str]] = []
    paths = list(pictures.find(arguments.pictures, failed))
    todo, kept = _parts(processor, paths, arguments)
    outcome = _Outcome([], failed, kept, [part.out for part in todo])
    waiting = sum(len(part.paths) for part in todo)
    for _ in progress(_work_through(processor, todo, arguments, outcome), waiting):
        pass
    _report(arguments, outcome)
    return 1 if outcome.failed or any(old["failed"] for old in kept.values()) else 0


@dataclass(frozen=True)
class _Outcome:
    """What a run did."""

    records: list[dict[str, Any]]
    """Of the pictures that were preprocessed, as ``--json`` prints them."""
    failed: list[dict[str, str]]
    kept: dict[Path, dict[str, Any]]
    """The parts of an earlier run, with what they hold."""
    written: list[Path]


def _parts(
    processor: ImageProcessor, paths: list[Path], arguments: argparse.Namespace
) -> tuple[list[parts.Part], dict[Path, dict[str, Any]]]:
    """Give the files that are to be made, and those that an earlier run made."""
    numbers = _numbers(paths)
    if arguments.part is None:
        todo = parts.of_one(arguments.out, paths, numbers)
    else:
        settings = json.dumps([processor.spec_json, arguments.dtype, arguments.profile])
        suffix = f".{arguments.format or 'safetensors'}"
        todo = parts.split(paths, numbers, folder=arguments.out, suffix=suffix, size=arguments.part, settings=settings)
    _spare(paths, numbers, [part.out for part in todo], arguments)
    kept: dict[Path, dict[str, Any]] = {}
    try:
        for part in todo:
            if (old := part.finished()) is not None:
                kept[part.out] = old
    except ValueError as error:
        arguments.usage_error(str(error))
    return [part for part in todo if part.out not in kept], kept


def _work_through(
    processor: ImageProcessor, todo: list[parts.Part], arguments: argparse.Namespace, outcome: _Outcome
) -> Iterator[None]:
    """Make and write one part after another; a step a picture."""
    for part in todo:
        done: list[_Done] = []
        failed: list[dict[str, str]] = []
        for path, result in _work(processor, part, arguments):
            if isinstance(result, _Done):
                done.append(result)
            else:
                failed.append({"picture": str(path), "error": str(result).removeprefix("image 0: ")})
            yield
        if done or part.key is not None:
            _write(part, processor, done, failed, arguments)
        else:
            outcome.written.remove(part.out)
        outcome.records.extend(map(_record, done))
        outcome.failed.extend(failed)


def _processor(arguments: argparse.Namespace) -> ImageProcessor:
    """Check what the arguments ask for, before any work."""
    fail = arguments.usage_error
    if arguments.jobs < 1:
        fail(f"--jobs: expected 1 or more, got {arguments.jobs}")
    _check_output(arguments)
    if arguments.show is not None and arguments.show.suffix.lower() != ".png":
        fail(f"--show: expected FILE.png, got {arguments.show}")
    for path in filter(None, (arguments.out, arguments.show)):
        if not path.parent.is_dir():
            fail(f"{path}: no such folder: {path.parent}")
    processor = model.processor(arguments)
    if arguments.show is not None and not seen.is_drawn(processor):
        fail(f"--show: not drawn for {processor.family}, whose feature has neither tiles nor known patches")
    return processor


def _check_output(arguments: argparse.Namespace) -> None:
    suffix = arguments.out.suffix if arguments.part is None else f".{arguments.format or 'safetensors'}"
    if arguments.part is None:
        if arguments.format is not None:
            arguments.usage_error("--format: of parts; say how many pictures with --part, or name --out FILE.SUFFIX")
        if suffix not in tensors.WRITERS:
            names = ", ".join(f"FILE{known}" for known in tensors.WRITERS)
            arguments.usage_error(f"--out: expected {names}, or a folder with --part, got {arguments.out}")
    elif arguments.part < 1:
        arguments.usage_error(f"--part: expected 1 or more pictures, got {arguments.part}")
    if (package := tensors.PACKAGES[suffix]) is not None:
        importlib.import_module(package)  # missing, it is better missed now than after the work
    if arguments.part is not None:
        if arguments.out.exists() and not arguments.out.is_dir():
            arguments.usage_error(f"--out: with --part a folder, but {arguments.out} is a file")
        if arguments.out.parent.is_dir():
            arguments.out.mkdir(exist_ok=True)


def _spare(
    paths: list[Path], numbers: Sequence[int | None], outputs: list[Path], arguments: argparse.Namespace
) -> None:
    """Refuse to write over a picture that is to be read."""
    if arguments.show is not None:
        outputs = outputs + [_numbered(arguments.show, number) for number in numbers]
    taken = set(map(os.path.realpath, paths))
    for output in outputs:
        if os.path.realpath(output) in taken:
            arguments.usage_error(f"{output} is one of the pictures and would be written over")


def _numbers(paths: list[Path]) -> Sequence[int | None]:
    """Give what the pictures' drawings are numbered with; a single one is not."""
    return range(1, len(paths) + 1) if len(paths) > 1 else [None]


def _work(
    processor: ImageProcessor, part: parts.Part, arguments: argparse.Namespace
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
        yield from zip(part.paths, pool.map(one, part.paths, part.numbers), strict=True)


def _numbered(path: Path, number: int | None) -> Path:
    return path if number is None else path.with_stem(f"{path.stem}-{number}")


def _write(
    part: parts.Part,
    processor: ImageProcessor,
    done: list[_Done],
    failed: list[dict[str, str]],
    arguments: argparse.Namespace,
) -> None:
    names = list(done[0].item.aux) if done else []
    held = tensors.Pictures(
        names=[str(one.path) for one in done],
        hashes=[_hash(one) for one in done],
        tokens=[one.item.plan.tokens for one in done],
        feature_name=processor.feature_name,
        features=[feature_tensors(processor.feature_name, one.item.plan, one.feature) for one in done],
        aux={name: [one.item.aux[name] for one in done] for name in names},
        pack_axis=processor.pack_axis,
        joined_aux=processor.joined_aux,
        ones_aux=processor.ones_aux,
    )
    listed = [{"picture": str(one.path), "hash": _hash(one)} for one in done]
    metadata = {"pictures": json.dumps(listed), "spec": processor.spec_json}
    if part.key is not None:
        metadata |= {"failed": json.dumps(failed), "key": part.key}
    tensors.write(part.out, held, _DTYPES[arguments.dtype], metadata)


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


def _report(arguments: argparse.Namespace, outcome: _Outcome) -> None:
    from mmcpp.cli.output import printable, show_table, warn

    records = outcome.records
    failed = [*outcome.failed, *(failure for old in outcome.kept.values() for failure in old["failed"])]
    if arguments.json:
        out = str(arguments.out) if outcome.written or outcome.kept else None
        print(json.dumps({"pictures": records, "failed": failed, "out": out, "kept": list(map(str, outcome.kept))}))
        return
    if records:
        show_table(records)
    if outcome.kept:
        held = sum(len(old["pictures"]) for old in outcome.kept.values())
        print(f"kept {len(outcome.kept)} parts of an earlier run: {held} pictures")
    if outcome.written:
        shapes = f"{len(records)} pictures, {sum(r['tokens'] for r in records)} tokens"
        size = sum(path.stat().st_size for path in outcome.written)
        print(f"wrote {printable(str(arguments.out))}: {shapes}, {size:,} bytes")
    for failure in failed:
        warn(f"failed: {failure['picture']}: {failure['error']}")
