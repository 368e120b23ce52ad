"""The arguments that choose a model: a well-known line of checkpoints, or a checkpoint's folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmcpp.pipeline import ImageProcessor
from mmcpp.spec import preset_names, preset_spec

__all__ = ["add_arguments", "processor"]


def add_arguments(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add --family, --config, --backend and --profile."""
    which = parser.add_mutually_exclusive_group(required=required)
    which.add_argument("--family", choices=preset_names(), help="a well-known line of checkpoints")
    which.add_argument("--config", type=Path, metavar="FOLDER", help="a checkpoint's folder with its JSON files")
    parser.add_argument(
        "--backend",
        choices=("torchvision", "pil"),
        help="whose arithmetic: of transformers' torchvision or PIL backend (default: the one that "
        "--config names, else torchvision)",
    )
    parser.add_argument(
        "--profile",
        choices=("pillow", "hf", "vllm", "sglang"),
        default="hf",
        help="whose rules for transparency, 16 bits and orientation (default: hf)",
    )


def processor(arguments: argparse.Namespace) -> ImageProcessor:
    """Make what the arguments choose; ends the command with a usage error where that cannot be."""
    try:
        if arguments.config is not None:
            return ImageProcessor.from_pretrained(
                arguments.config, backend=arguments.backend, profile=arguments.profile
            )
        spec = preset_spec(arguments.family, backend=arguments.backend or "torchvision")
        return ImageProcessor.from_spec(spec, profile=arguments.profile)
    except (OSError, ValueError) as error:
        arguments.usage_error(str(error) if arguments.config is None else f"--config: {error}")
        raise AssertionError from None  # usage_error does not return
