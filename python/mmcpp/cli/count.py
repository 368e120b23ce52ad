"""``mmcpp count``: what pictures cost in prompt tokens, under several models at once."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmcpp.cli import pictures
from mmcpp.image import image_info
from mmcpp.pipeline import ImageProcessor
from mmcpp.spec import preset_names, preset_spec

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["add_parser", "run"]

_SIZE = re.compile(r"([0-9]+)x([0-9]+)")

_EXAMPLES = """\
examples:
  mmcpp count 1080x1920 3000x4000
  mmcpp count photos/ --family qwen2_vl --family qwen3_vl
  mmcpp count cat.jpg --config ./InternVL3-8B --config ./pixtral-12b --json

exit status: 0 success, 1 some pictures failed (each is named), 2 usage error
"""


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "count",
        help="count the prompt tokens of pictures or sizes",
        description="Print how many prompt tokens stand for a picture, from its size alone: only headers are read.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "pictures",
        nargs="+",
        metavar="SIZE|PICTURE",
        help="HEIGHTxWIDTH in pixels, a picture file, or a folder of them",
    )
    parser.add_argument(
        "--family", action="append", default=[], choices=preset_names(), help="a line of checkpoints; may be repeated"
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="a checkpoint's folder; may be repeated (default: each of --family)",
    )
    parser.add_argument(
        "--profile",
        choices=("pillow", "hf", "vllm", "sglang"),
        default="hf",
        help="whose rule for EXIF orientation (default: hf); only vllm turns pictures",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Count and print."""
    from mmcpp.cli.output import printable, show_grid, warn

    models = _models(arguments)
    failed: list[dict[str, str]] = []
    counted: list[dict[str, Any]] = [
        {"picture": name, "height": height, "width": width, "tokens": _tokens(models, height, width)}
        for name, height, width in _sizes(arguments, failed)
    ]
    if arguments.json:
        print(json.dumps({"pictures": counted, "failed": failed}))
        return 1 if failed else 0
    rows = [
        {
            "picture": printable(str(one["picture"])),
            "size": f"{one['height']}x{one['width']}",
            **{name: "refused" if tokens is None else str(tokens) for name, tokens in one["tokens"].items()},
        }
        for one in counted
    ]
    if len(rows) > 1:
        sums = {name: sum(one["tokens"][name] or 0 for one in counted) for name in models}
        rows.append({"picture": "in all", "size": "", **{name: str(tokens) for name, tokens in sums.items()}})
    if rows:
        show_grid(rows, list(models))
    for failure in failed:
        warn(f"failed: {failure['picture']}: {failure['error']}")
    return 1 if failed else 0


def _models(arguments: argparse.Namespace) -> dict[str, ImageProcessor]:
    """Make what was asked for, by the names of columns."""
    names = arguments.family or ([] if arguments.config else preset_names())
    models = {name: ImageProcessor.from_spec(preset_spec(name)) for name in names}
    for folder in arguments.config:
        try:
            models[folder.resolve().name] = ImageProcessor.from_pretrained(folder)
        except (OSError, ValueError) as error:
            arguments.usage_error(f"--config: {error}")
    return models


def _sizes(arguments: argparse.Namespace, failed: list[dict[str, str]]) -> list[tuple[str, int, int]]:
    """Give names and sizes, of files after the turn that the profile makes."""
    sizes: list[tuple[str, int, int]] = []
    for text in arguments.pictures:
        if (match := _SIZE.fullmatch(text)) and not Path(text).exists():
            sizes.append((text, int(match[1]), int(match[2])))
            continue
        for path in pictures.find([Path(text)], failed):
            try:
                info = image_info(path)
            except FileNotFoundError:
                failed.append({"picture": str(path), "error": "no such file, and no HEIGHTxWIDTH"})
                continue
            except (OSError, ValueError) as error:
                failed.append({"picture": str(path), "error": str(error)})
                continue
            turned = arguments.profile == "vllm" and info.orientation >= 5
            sizes.append((str(path), *((info.width, info.height) if turned else (info.height, info.width))))
    return sizes


def _tokens(models: Mapping[str, ImageProcessor], height: int, width: int) -> dict[str, int | None]:
    """Count under each; None where the family refuses the size."""
    counts: dict[str, int | None] = {}
    for name, processor in models.items():
        try:
            counts[name] = processor.count_tokens(height, width)
        except ValueError:
            counts[name] = None
    return counts
