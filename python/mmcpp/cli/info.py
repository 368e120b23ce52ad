"""``mmcpp info``: what this build is made of."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING

from mmcpp.info import build_info

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["add_parser", "run"]


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "info",
        help="what this build is made of",
        description="Print version, executor, instruction sets and codecs, for logs and bug reports.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    info = build_info()
    if arguments.json:
        print(json.dumps(dataclasses.asdict(info)))
        return 0
    print(f"mmcpp     {info.version}")
    print(f"executor  {info.executor}")
    print(f"kernels   {info.isa} (this machine can run: {', '.join(info.available_isas)})")
    print(f"codecs    {', '.join(f'{name} {version}' for name, version in info.codecs.items())}")
    return 0
