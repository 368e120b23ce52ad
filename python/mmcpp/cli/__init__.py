"""The command ``mmcpp``. One module per subcommand; each has ``add_parser`` and ``run``.

Exit status: 0 for success, 1 when some inputs failed (each is named), 2 for a usage error.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mmcpp import __version__
from mmcpp.cli import info, preprocess

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, ``sys.argv`` by default, and give its exit status."""
    parser = argparse.ArgumentParser(
        prog="mmcpp",
        description="Multimodal preprocessing: pictures in, a model's tensors out.",
    )
    parser.add_argument("--version", action="version", version=f"mmcpp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (preprocess, info):
        module.add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        status: int = arguments.run(arguments)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".", maxsplit=1)[0]
        if package not in ("rich", "safetensors"):
            raise
        parser.exit(2, f"mmcpp: this needs the package {package}: pip install 'mmcpp[cli]'\n")
    return status
