"""The command ``mmcpp``. One module per subcommand; each has ``add_parser`` and ``run``.

Exit status: 0 for success, 1 when some inputs failed (each is named) or the result could not be
written, 2 for a usage error, 130 when interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from mmcpp import __version__
from mmcpp.cli import bench, count, families, info, inspect, preprocess

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, ``sys.argv`` by default, and give its exit status."""
    parser = argparse.ArgumentParser(
        prog="mmcpp",
        description="Multimodal preprocessing: pictures in, a model's tensors out.",
    )
    parser.add_argument("--version", action="version", version=f"mmcpp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (preprocess, inspect, count, bench, families, info):
        module.add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()  # here, where its failure has words
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".", maxsplit=1)[0]
        if package not in ("rich", "safetensors", "pyarrow"):
            raise
        extra = "arrow" if package == "pyarrow" else "cli"
        parser.exit(2, f"mmcpp: this needs the package {package}: pip install 'mmcpp[{extra}]'\n")
    except KeyboardInterrupt:
        parser.exit(130, "mmcpp: interrupted\n")
    except (OSError, MemoryError) as error:
        _drop_output()
        quiet = isinstance(error, BrokenPipeError)  # as `head` leaves its writers behind
        parser.exit(1, None if quiet else f"mmcpp: {error or 'out of memory'}\n")
    return status


def _drop_output() -> None:
    """Send what is still buffered for stdout nowhere: Python would fail to write it a second time."""
    with contextlib.suppress(OSError, ValueError):  # there may be no real file behind it
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
