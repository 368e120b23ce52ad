"""``mmcpp families``: which image processors and checkpoints there are rules for."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from mmcpp.spec import families

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["add_parser", "run"]


def add_parser(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "families",
        help="which image processors there are rules for",
        description="Print, for each family, the image processor classes of transformers that it equals in the\n"
        "arithmetic of either backend, and the model types whose prompts it expands from a checkpoint's files.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print them."""
    known = families()
    if arguments.json:
        print(json.dumps(known))
        return 0
    for name, members in known.items():
        print(name)
        for title, values in members.items():
            print(f"  {title.replace('_', ' '):17} {', '.join(values) or 'none'}")
    return 0
