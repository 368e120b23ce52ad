"""mmcpp beside other libraries on the same pictures, in turn; bytes are compared before anything is timed.

Each library runs in a process of its own, with one thread, on one core. In every round each side of a case runs for
a while; medians over all rounds are given, of the processor time unless --clock says otherwise, so that what else the
machine does counts little.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np

from cases import Case, Saving, Scaling, Side, cases, savings, scalings
from peers import BUILD, PEERS, MissingError, Process
from pictures import picture, pixel_bytes
from table import case_table, differences, table


class Bench:
    """The processes, and what was found."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Start nothing yet."""
        self._options = options
        self._processes: dict[tuple[str, int, bool], Process | MissingError] = {}
        self.versions: dict[str, str] = {}

    def process(self, name: str, pool: int = 1, *, pinned: bool = True) -> Process:
        """Give the library's worker, whose own pool has so many threads, on one core or on all."""
        key = (name, pool, pinned)
        if key not in self._processes:
            core = self._options.core if pinned else None
            try:
                if name not in self._options.libraries:
                    raise MissingError("not asked for")
                self._processes[key] = Process(name, threads=pool, core=core, may_install=not self._options.quick)
            except MissingError as error:
                self._processes[key] = error
                self.versions[name] = f"missing: {error}"
        process = self._processes[key]
        if isinstance(process, MissingError):
            raise process
        self.versions[name] = process.version
        return process

    def close(self) -> None:
        """End all workers."""
        for process in self._processes.values():
            if isinstance(process, Process):
                process.close()
        self._processes.clear()

    def case(self, case: Case) -> dict[str, Any]:
        """Check and time one case."""
        record: dict[str, Any] = {"group": case.group, "name": case.name, "sides": {}}
        running: list[str] = []
        checked: dict[str, Any] = {}
        for side in (Side("mmcpp"), *case.sides):
            entry: dict[str, Any] = {"exact": side.exact, "note": side.note}
            record["sides"][side.library] = entry
            try:
                process = self.process(side.library)
                checked[side.library] = prepare(process, case.kind, case.file, case.arguments | side.changes)
            except MissingError as error:
                entry["missing"] = str(error)
                continue
            running.append(side.library)
            if not side.note and checked[side.library] != checked["mmcpp"]:
                entry["difference"] = self._difference(side.library)
                if side.exact:
                    raise SystemExit(f"{case.name}: {side.library} gives other bytes, {entry['difference']}")
        if "mmcpp" not in running:
            raise SystemExit(f"mmcpp: {self.versions['mmcpp']}")
        samples: dict[str, dict[str, list[float]]] = {name: {"wall": [], "cpu": []} for name in running}
        for index in range(self._options.rounds):
            for name in running[index % len(running) :] + running[: index % len(running)]:
                answer = self._time(self.process(name))
                for clock in samples[name]:
                    samples[name][clock] += answer[clock]
        for name, clocks in samples.items():
            record["sides"][name] |= {clock: summary(times) for clock, times in clocks.items()}
        return record

    def _time(self, process: Process) -> dict[str, Any]:
        quick = self._options.quick
        return ask(process, "time", seconds=0 if quick else self._options.seconds, least=1, warm=not quick)

    def _difference(self, name: str) -> dict[str, float]:
        """How far a library's result of the case is from mmcpp's."""
        arrays = []
        for library in ("mmcpp", name):
            path = BUILD / "result.npy"
            ask(self.process(library), "check", save=str(path))
            arrays.append(np.load(path))
            path.unlink()
        ours, theirs = arrays
        if ours.shape != theirs.shape:
            raise SystemExit(f"{name}: a result of shape {theirs.shape} beside {ours.shape}")
        wide = np.float32 if ours.dtype.kind == "f" else np.int16
        off = np.abs(ours.astype(wide) - theirs.astype(wide))
        return {"max": float(off.max()), "share": float((off != 0).mean())}

    def scaling(self, row: Scaling) -> dict[str, Any]:
        """Time the same work on one thread and on two, by the clock on the wall."""
        # In one process where the pool allows it: where its memory lies may make it a tenth faster than another.
        sides = [
            (self.process("mmcpp", pinned=False), row.arguments | row.one),
            (self.process("mmcpp", row.pool, pinned=False), row.arguments | row.two),
        ]
        digests = [prepare(process, row.kind, row.file, arguments) for process, arguments in sides]
        if digests[0] != digests[1]:
            raise SystemExit(f"{row.name}: other bytes on two threads")
        samples: list[dict[str, list[float]]] = [{"wall": [], "cpu": []}, {"wall": [], "cpu": []}]
        for _ in range(self._options.rounds):
            for (process, arguments), times in zip(sides, samples, strict=True):
                prepare(process, row.kind, row.file, arguments, check=False)
                answer = self._time(process)
                for clock in times:
                    times[clock] += answer[clock]
        return {
            "name": row.name,
            "work": row.work,
            **{
                key: {clock: summary(t) for clock, t in s.items()}
                for key, s in zip(("one", "two"), samples, strict=True)
            },
        }

    def saving(self, row: Saving) -> list[dict[str, Any]]:
        """Time the ways of making the same pictures ready, and count the bytes that the device is sent."""
        process = self.process("mmcpp")
        samples: dict[str, dict[str, list[float]]] = {name: {"wall": [], "cpu": []} for name, _ in row.ways}
        sizes: dict[str, int] = {}
        for _ in range(self._options.rounds):
            for name, arguments in row.ways:
                prepare(process, row.kind, row.file, arguments, check=False)
                sizes[name] = ask(process, "size")["bytes"]
                answer = self._time(process)
                for clock in samples[name]:
                    samples[name][clock] += answer[clock]
        return [
            {"group": row.name, "name": name, "bytes": sizes[name]}
            | {clock: summary(times) for clock, times in samples[name].items()}
            for name, _ in row.ways
        ]

    def memory(self, case: Case, library: str) -> dict[str, Any]:
        """Give the memory that a run takes in a process that has seen only a small picture."""
        side = next((s for s in case.sides if s.library == library), Side(library))
        self.process(library)  # for its errors
        process = Process(library, core=self._options.core)
        try:
            arguments = case.arguments | side.changes
            prepare(process, case.kind, f"small{Path(case.file).suffix}", arguments)
            prepare(process, case.kind, case.file, arguments, check=False)
            answer = ask(process, "peak")
        finally:
            process.close()
        pixels = pixel_bytes(case.file) if case.kind == "preprocess" else 0
        return {
            "name": f"{case.name}",
            "library": library,
            "peak": answer["peak"],
            "result": answer["result"],
            "pixels": pixels,
            "extra": answer["peak"] - answer["result"] - pixels,
        }


def ask(process: Process, do: str, **arguments: Any) -> dict[str, Any]:
    """Ask, and end everything if that fails."""
    answer = process.ask(do, **arguments)
    if "error" in answer:
        raise MissingError(answer["error"])
    return answer


def prepare(process: Process, kind: str, file: str, arguments: dict[str, Any], *, check: bool = True) -> dict[str, Any]:
    """Make a case ready and give the digest of its result."""
    path = str(picture(BUILD / "pictures", file)) if file else ""
    ask(process, "prepare", kind=kind, case={**arguments, "file": path})
    return ask(process, "check", save=None) if check else {}


def summary(times: list[float]) -> dict[str, float]:
    """Of milliseconds."""
    quarters = statistics.quantiles(times, n=4) if len(times) > 1 else times * 3
    return {
        "median": statistics.median(times),
        "q1": quarters[0],
        "q3": quarters[2],
        "min": min(times),
        "runs": len(times),
    }


def machine() -> dict[str, Any]:
    """What this ran on."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = next((line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name")), "")
    return {"processor": model or platform.processor(), "cores": os.cpu_count(), "python": platform.python_version()}


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="each side of each case once; installs nothing")
    parser.add_argument("--rounds", type=int, default=7, help="in which each side gets its turn")
    parser.add_argument("--seconds", type=float, default=0.15, help="of a turn, if one run takes less")
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu", help="of the tables; the JSON has both")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="to run on")
    parser.add_argument("--filter", default="", help="only cases with this in their group or name")
    parser.add_argument("--libraries", default=",".join(PEERS), help="to compare with, with commas between")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    if options.quick:
        options.rounds = 1
    options.libraries = {"mmcpp", *options.libraries.split(",")}
    return options


def measure_cases(bench: Bench, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time all cases and print a table a group."""
    records: list[dict[str, Any]] = []
    chosen = [case for case in cases() if options.filter in f"{case.group} {case.name}"]
    for index, case in enumerate(chosen):
        records.append(bench.case(case))
        if sys.stderr.isatty():
            print(f"\r[{index + 1}/{len(chosen)}] {case.name:60}", end="\r", file=sys.stderr, flush=True)
        if index + 1 == len(chosen) or chosen[index + 1].group != case.group:
            group = [record for record in records if record["group"] == case.group]
            print("\n" + case_table(group, options.clock), *differences(group), sep="\n", flush=True)
    return records


def measure_scaling(bench: Bench, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time what two threads gain and print it."""
    records = [bench.scaling(row) for row in scalings() if options.filter in f"threads {row.name}"]
    if records:
        rows = []
        for record in records:
            gains = [
                record["work"] * record["one"]["wall"][key] / record["two"]["wall"][key] for key in ("median", "min")
            ]
            times = [f"{record[side]['wall']['median']:.2f}" for side in ("one", "two")]
            rows.append([record["name"], *times, *(f"{gain:.2f}x" for gain in gains)])
        head = ["threads (wall)", "one, ms", "two, ms", "gain, medians", "gain, fastest runs"]
        print("\n" + table(head, rows), flush=True)
    return records


def measure_savings(bench: Bench, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Find what bytes, one frame of two, and the cache save, and print it."""
    records: list[dict[str, Any]] = []
    for row in savings():
        if options.filter not in f"savings {row.name}":
            continue
        found = bench.saving(row)
        records += found
        full = found[0]
        rows = []
        for record in found:
            cells = [record["name"]]
            for value, whole, form in (
                (record[options.clock]["median"], full[options.clock]["median"], "{:.2f}"),
                (record["bytes"] / 2**20, full["bytes"] / 2**20, "{:.2f}"),
            ):
                cells += [form.format(value), f"{100 * (1 - value / whole):.0f} %"]
            rows.append(cells)
        head = [f"savings, Qwen2-VL, {row.name}", "ms", "saved", "MiB to the device", "saved"]
        print("\n" + table(head, rows), flush=True)
    return records


def measure_memory(bench: Bench, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Find the peaks of memory and print them."""
    records: list[dict[str, Any]] = []
    for case in cases():
        if case.kind in {"resize", "expand"} or options.filter not in f"memory {case.name}":
            continue
        for library in ("mmcpp", "pillow", "hf", "sglang-mm"):
            if library != "mmcpp" and not any(s.library == library and not s.note for s in case.sides):
                continue
            try:
                records.append({"group": case.group} | bench.memory(case, library))
            except MissingError:
                continue
    if records:
        rows = [
            [r["name"], PEERS[r["library"]].title, *(f"{r[key] / 2**20:.1f}" for key in ("peak", "result", "extra"))]
            for r in records
        ]
        head = ["memory of a run, MiB", "by", "peak", "result", "besides result and pixels"]
        print("\n" + table(head, rows), flush=True)
    return records


def main() -> None:
    """Measure, print tables, write JSON."""
    options = parse()
    bench = Bench(options)
    print(f"milliseconds of {options.clock} time, medians, one thread; in parentheses: times mmcpp's", flush=True)
    try:
        result = {
            "machine": machine(),
            "command": shlex.join(sys.argv),
            "cases": measure_cases(bench, options),
            "threads": measure_scaling(bench, options),
            "savings": measure_savings(bench, options),
            "memory": measure_memory(bench, options),
        }
    finally:
        bench.close()
    print("\n" + "\n".join(f"{PEERS[name].title}: {version}" for name, version in bench.versions.items()))
    if options.json:
        options.json.write_text(json.dumps(result | {"versions": bench.versions}, indent=1))


if __name__ == "__main__":
    main()
