"""``mmcpp inspect``: what is in a picture file, what each profile makes of it, and what a model sees of it."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from mmcpp.cli import model, pictures, seen
from mmcpp.image import Profile, decode_image, image_info
from mmcpp.pipeline import ImageProcessor

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    import numpy.typing as npt

__all__ = ["add_parser", "run"]

_EXAMPLES = """\
examples:
  mmcpp inspect cat.jpg
  mmcpp inspect cat.jpg --family qwen2_vl --sheet seen.png
  mmcpp inspect photos/ --config ./InternVL3-8B --json | jq '.pictures[].model.tokens'

exit status: 0 success, 1 some pictures failed (each is named), 2 usage error
"""


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "inspect",
        help="tell what is in a picture file and what a model sees of it",
        description="Print what a file's header says, what each profile makes of its pixels, and, with a model, the\n"
        "size and the tokens that it gets; --sheet draws what the model sees, with patches, tiles and padding.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pictures", nargs="+", type=Path, metavar="PICTURE", help="a picture file, or a folder of them")
    model.add_arguments(parser, required=False)
    parser.add_argument(
        "--sheet",
        type=Path,
        metavar="SHEET.png",
        help="draw what the model sees; of several pictures each has its number in the name",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Inspect and print."""
    processor = _processor(arguments)
    failed: list[dict[str, str]] = []
    paths = list(pictures.find(arguments.pictures, failed))
    reports: list[dict[str, Any]] = []
    for number, path in enumerate(paths, 1):
        try:
            report = _inspect(path, processor)
            if arguments.sheet is not None and processor is not None:
                sheet = arguments.sheet
                sheet = sheet.with_stem(f"{sheet.stem}-{number}") if len(paths) > 1 else sheet
                seen.draw(processor, pictures.read(path), sheet)
                report["sheet"] = str(sheet)
        except (OSError, ValueError) as error:
            failed.append({"picture": str(path), "error": str(error).removeprefix("image 0: ")})
            continue
        reports.append(report)
        if not arguments.json:
            _show(report)
    if arguments.json:
        print(json.dumps({"pictures": reports, "failed": failed}))
        return 1 if failed else 0
    if failed:
        from mmcpp.cli.output import warn

        for failure in failed:
            warn(f"failed: {failure['picture']}: {failure['error']}")
    return 1 if failed else 0


def _processor(arguments: argparse.Namespace) -> ImageProcessor | None:
    """Check what the arguments ask for, before any work."""
    if arguments.family is None and arguments.config is None:
        if arguments.sheet is not None:
            arguments.usage_error("--sheet: say whose with --family or --config")
        return None
    processor = model.processor(arguments)
    sheet = arguments.sheet
    if sheet is not None:
        if sheet.suffix.lower() != ".png" or not sheet.parent.is_dir():
            arguments.usage_error(f"--sheet: expected FILE.png in a folder that is there, got {sheet}")
        if not seen.is_drawn(processor):
            arguments.usage_error(f"--sheet: not drawn for {processor.family}")
        if sheet.exists() and any(sheet.samefile(path) for path in arguments.pictures if path.exists()):
            arguments.usage_error(f"{sheet} is one of the pictures and would be written over")
    return processor


def _inspect(path: Path, processor: ImageProcessor | None) -> dict[str, Any]:
    data = pictures.read(path)
    report: dict[str, Any] = {"picture": str(path), "bytes": len(data), **dataclasses.asdict(image_info(data))}
    report["profiles"] = _profiles(data)
    if processor is not None:
        item = processor.process_items(data, dtype="uint8").items[0]
        report["model"] = {
            "family": processor.family,
            "seen_height": item.plan.resized_height,
            "seen_width": item.plan.resized_width,
            "grid": item.plan.grid,
            "tokens": item.plan.tokens,
            "feature": processor.feature_name,
            "feature_shape": item.plan.feature_shape,
            "hash": f"{item.content_hash:016x}",
        }
    return report


def _profiles(data: bytes) -> dict[str, dict[str, Any]]:
    """Decode under each: its size and how many pixels differ from ``pillow``'s, or why it refuses."""
    result: dict[str, dict[str, Any]] = {}
    first: npt.NDArray[np.uint8] | None = None
    names: tuple[Profile, ...] = get_args(Profile)
    for name in names:
        try:
            pixels = decode_image(data, profile=name)
        except ValueError as error:
            result[name] = {"refused": str(error)}
            continue
        entry: dict[str, Any] = {"height": pixels.shape[0], "width": pixels.shape[1]}
        if first is None:
            first = pixels
        elif pixels.shape == first.shape:
            entry["differing"] = float((pixels != first).any(axis=2).mean())
        result[name] = entry
    return result


def _show(report: dict[str, Any]) -> None:
    from mmcpp.cli.output import printable

    print(printable(report["picture"]))
    traits = [f"{report['bit_depth']} bits a channel", f"mode {report['mode']}"]
    traits += ["alpha"] if report["has_alpha"] else []
    traits += [f"EXIF orientation {report['orientation']}"] if report["orientation"] != 1 else []
    traits += [f"{report['frames']} frames"] if report["frames"] != 1 else []
    _line("file", f"{report['format']}, {report['bytes']:,} bytes, {', '.join(traits)}")
    _line("size", f"{report['height']}x{report['width']} (height x width)")
    for name, outcome in report["profiles"].items():
        _line(name, printable(_outcome(outcome)))
    if "model" in report:
        one = report["model"]
        grid = "x".join(map(str, one["grid"]))
        _line(
            one["family"],
            f"sees {one['seen_height']}x{one['seen_width']}, grid {grid}, {one['tokens']} tokens, "
            f"{one['feature']} {list(one['feature_shape'])}",
        )
    if "sheet" in report:
        _line("drawn", printable(report["sheet"]))


def _outcome(outcome: dict[str, Any]) -> str:
    if "refused" in outcome:
        return f"refuses: {outcome['refused']}"
    size = f"{outcome['height']}x{outcome['width']}"
    if "differing" not in outcome:
        return size
    share = outcome["differing"]
    return f"{size}, {'the same pixels as pillow' if share == 0 else f'{share:.2%} of pixels unlike pillow'}"


def _line(name: str, text: str) -> None:
    print(f"  {name:11} {text}")
