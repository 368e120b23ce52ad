"""A process that runs one library's side of the benchmarks: a JSON command a line in, a JSON answer a line out.

Commands: ``prepare`` makes a case ready; ``check`` runs it once and gives the digest of its result; ``time`` runs it
again and again, ``rate`` in several threads; ``peak`` gives the memory that one more run takes; ``size`` that of its
result.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from libraries import LIBRARIES, Job


def _status(field: str) -> int:
    """Bytes that the kernel's account of this process says."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) << 10
    raise ValueError(field)


class Worker:
    """One library, one case at a time."""

    def __init__(self, name: str) -> None:
        """Import the library."""
        self._library = LIBRARIES[name]()
        self._job = Job(lambda: None)

    def hello(self, _: dict[str, Any]) -> dict[str, Any]:
        """Say which version this is."""
        return {"version": self._library.version}

    def prepare(self, command: dict[str, Any]) -> dict[str, Any]:
        """Make the case ready."""
        self._job = getattr(self._library, command["kind"])(command["case"])
        gc.freeze()  # no collection looks at what the libraries consist of
        return {}

    def check(self, command: dict[str, Any]) -> dict[str, Any]:
        """Run once; give the result's digest, and put it into a file if one is named."""
        array = np.ascontiguousarray(self._job.array(self._job.run()))
        if command["save"]:
            np.save(command["save"], array)
        return {"digest": hashlib.sha256(array.data.cast("B")).hexdigest(), "dtype": str(array.dtype)}

    def time(self, command: dict[str, Any]) -> dict[str, Any]:
        """Run for so long, but at least so often; milliseconds of each run but a first one that warms up."""
        wall, cpu = [], []
        if command["warm"]:
            self._job.run()
        stop = time.perf_counter() + command["seconds"]
        while len(wall) < command["least"] or time.perf_counter() < stop:
            began, began_cpu = time.perf_counter_ns(), time.process_time_ns()
            result = self._job.run()
            cpu.append((time.process_time_ns() - began_cpu) / 1e6)
            wall.append((time.perf_counter_ns() - began) / 1e6)
            del result
        return {"wall": wall, "cpu": cpu}

    def rate(self, command: dict[str, Any]) -> dict[str, Any]:
        """Run in so many threads for so long; runs a second of the time on the wall."""

        def work() -> int:
            runs = 0
            while runs < 1 or time.perf_counter() < stop:
                self._job.run()
                runs += 1
            return runs

        with ThreadPoolExecutor(command["threads"]) as pool:
            began = time.perf_counter()
            stop = began + command["seconds"]
            runs = sum(future.result() for future in [pool.submit(work) for _ in range(command["threads"])])
            return {"rate": runs / (time.perf_counter() - began)}

    def size(self, _: dict[str, Any]) -> dict[str, Any]:
        """Give the bytes of a run's result."""
        return {"bytes": int(self._job.array(self._job.run()).nbytes)}

    def peak(self, _: dict[str, Any]) -> dict[str, Any]:
        """Give the most resident memory that a run adds, in bytes, and what of it the result is."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what earlier runs left is given back
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is resident now
        before = _status("VmRSS")
        result = self._job.run()
        peak = _status("VmHWM") - before
        return {"peak": peak, "result": int(self._job.array(result).nbytes)}


def main() -> None:
    """Answer until the input ends; what libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker: Worker | None = None
    for line in sys.stdin:
        try:
            command = json.loads(line)
            worker = worker or Worker(sys.argv[1])
            answer = getattr(worker, command["do"])(command)
        except Exception as error:  # the other side decides what a failure means
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
