"""The libraries beside mmcpp: their environments, made when asked for, and their worker processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "bench"
ONE_THREAD = dict.fromkeys(
    ("MMCPP_THREADS", "SGL_MM_RS_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)


class MissingError(Exception):
    """A peer that is not to be had here; the message says why."""


@dataclass(frozen=True)
class Peer:
    """A library and where it comes from."""

    title: str
    """In tables."""
    requirements: tuple[str, ...] = ()
    """For pip, in an environment of its own; none: it is in the environment that runs the benchmarks."""
    pip_options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    """While pip runs."""


PEERS = {
    "mmcpp": Peer("mmcpp"),
    "pillow": Peer("Pillow"),
    # Of PyPI's source, for the instructions that its README asks for. It calls itself PIL too.
    "pillow-simd": Peer(
        "pillow-simd", ("pillow-simd==9.5.0.post2", "numpy"), ("--no-binary=pillow-simd",), {"CC": "cc -mavx2"}
    ),
    "opencv": Peer("OpenCV", ("opencv-python-headless", "numpy")),
    # The newest pair that transformers 5.24 was made for; the arithmetic on uint8 is that of torch 2.13.
    "hf": Peer(
        "HF transformers",
        ("torch==2.14.1", "torchvision==0.29.1", "transformers==5.24.0", "pillow==13.0.0", "numpy"),
    ),
    # Only its extension is loaded, so none of the packages that it requires.
    "sglang-mm": Peer("sglang-mm", ("sglang==0.5.23", "numpy"), ("--no-deps",)),
    # Only its planner of prompts is loaded, which is Python alone, so none of the packages that it requires.
    "vllm": Peer("vLLM", ("vllm==0.33.0", "numpy", "regex", "typing_extensions"), ("--no-deps",)),
    "libjpeg-turbo": Peer("libjpeg-turbo"),
}


def _run(command: list[str], log: Path, **environment: str) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        status = subprocess.run(  # noqa: S603
            command,
            check=False,
            stdout=file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=os.environ | environment,
        ).returncode
    if status != 0:
        raise MissingError(f"{Path(command[0]).name} failed, see {log}")


def install(name: str, *, may_install: bool) -> tuple[Path, dict[str, str]]:
    """Give the peer's interpreter and what its process needs in the environment.

    Raises:
        MissingError: it is not installed, and may not or cannot be.
    """
    if name == "libjpeg-turbo":
        library, source = BUILD / "bare_jpeg.so", HERE / "bare_jpeg.c"
        if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
            options = ["-O2", "-shared", "-fPIC", str(source), "-ljpeg", "-o", str(library)]
            _run([os.environ.get("CC", "cc"), *options], BUILD / "bare_jpeg.log")
        return Path(sys.executable), {"BARE_JPEG_LIBRARY": str(library)}
    peer = PEERS[name]
    if not peer.requirements:
        return Path(sys.executable), {}
    folder = BUILD / f"venv-{name}"
    stamp, python = folder / "installed", folder / "bin" / "python"
    key = json.dumps([peer.requirements, peer.pip_options, peer.environment])
    if not stamp.exists() or stamp.read_text() != key:
        if not may_install:
            raise MissingError("not installed (run without --quick to install it)")
        print(f"-- {name}: installing {', '.join(peer.requirements)}", file=sys.stderr, flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], BUILD / f"venv-{name}.log")
        pip = [str(python), "-m", "pip", "install", *peer.pip_options, *peer.requirements]
        _run(pip, BUILD / f"pip-{name}.log", **peer.environment)
        stamp.write_text(key)
    return python, {}


class Process:
    """A worker of a peer."""

    def __init__(self, name: str, *, threads: int = 1, core: int | None = None, may_install: bool = False) -> None:
        """Start it, on one core if that is given.

        Raises:
            MissingError: the library is not to be had, or does not load.
        """
        python, environment = install(name, may_install=may_install)
        pools = dict.fromkeys(("MMCPP_THREADS", "SGL_MM_RS_THREADS"), str(threads))
        environment = os.environ | ONE_THREAD | environment | pools
        self._child = subprocess.Popen(  # noqa: S603
            [str(python), str(HERE / "worker.py"), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        if core is not None:
            os.sched_setaffinity(self._child.pid, {core})  # before it is asked anything: no thread of it runs yet
        answer = self.ask("hello")
        if "error" in answer:
            raise MissingError(f"does not load: {answer['error']}")
        self.version: str = answer["version"]

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; ``error`` in it says what went wrong."""
        assert self._child.stdin and self._child.stdout  # noqa: S101
        try:
            self._child.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._child.stdin.flush()
            line = self._child.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"error": f"the process ended with status {self._child.wait()}"}

    def close(self) -> None:
        """End it."""
        assert self._child.stdin and self._child.stdout  # noqa: S101
        self._child.stdin.close()
        self._child.wait()
        self._child.stdout.close()
