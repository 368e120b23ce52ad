"""The proof page: what was measured and what was compared, with the machine, the versions and the commands.

Measures mmcpp and its peers on pictures of growing size and in growing numbers of threads, draws both, and writes
python/docs/proof.md with the plots beside it. `run.py --json` gives the table of all cases, if its file is named.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import statistics
import sys
from pathlib import Path
from typing import Any

from cases import DEFAULT_BUDGET
from peers import BUILD, HERE, MissingError
from run import Bench, ask, machine, prepare
from table import case_table, table

ROOT = HERE.parent.parent
PAGE = ROOT / "python/docs/proof.md"
FIGURES = BUILD / "proof.json"
FILES = {  # megapixels: name in pictures.py
    640 * 480 / 1e6: "640x480_q90.jpg",
    1152 * 864 / 1e6: "1152x864_q90.jpg",
    1920 * 1080 / 1e6: "hd_q90.jpg",
    2048 * 1536 / 1e6: "2048x1536_q90.jpg",
    2880 * 2160 / 1e6: "2880x2160_q90.jpg",
    4000 * 3000 / 1e6: "phone_q90.jpg",
}
SIDES = {  # title: library, whose arithmetic
    "mmcpp": ("mmcpp", "torchvision"),
    "sglang-mm": ("sglang-mm", "torchvision"),
    "transformers, torchvision": ("hf", "torchvision"),
    "transformers, Pillow": ("hf", "pil"),
}
COLORS = {
    "mmcpp": "#00695c",
    "sglang-mm": "#8e24aa",
    "transformers, torchvision": "#ef6c00",
    "transformers, Pillow": "#1565c0",
}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Time every side on every picture in turn, then every side in one thread and in several."""
    bench = Bench(options)
    growth: dict[str, dict[str, list[float]]] = {title: {} for title in SIDES}
    rates: dict[str, dict[str, list[float]]] = {title: {} for title in SIDES}
    digests: dict[tuple[str, str], str] = {}
    try:
        for round_ in range(options.rounds):
            for megapixels, file in FILES.items():
                for title, (library, backend) in SIDES.items():
                    arguments = {"max_pixels": DEFAULT_BUDGET, "dtype": "float32", "backend": backend}
                    process = bench.process(library)
                    found = prepare(process, "preprocess", file, arguments, check=round_ == 0)
                    if round_ == 0:
                        digests[title, file] = found["digest"]
                    times = ask(process, "time", seconds=options.seconds, least=1, warm=True)["cpu"]
                    growth[title].setdefault(f"{megapixels:.2f}", []).extend(times)
            for threads in options.threads:
                for title, (library, backend) in SIDES.items():
                    arguments = {"max_pixels": DEFAULT_BUDGET, "dtype": "float32", "backend": backend}
                    process = bench.process(library, 1, pinned=False)
                    prepare(process, "preprocess", "hd_q90.jpg", arguments, check=False)
                    answer = ask(process, "rate", seconds=options.seconds * 5, threads=threads)
                    rates[title].setdefault(str(threads), []).append(answer["rate"])
            print(f"-- round {round_ + 1} of {options.rounds}", file=sys.stderr, flush=True)
    finally:
        bench.close()
    for file in FILES.values():
        if digests["mmcpp", file] != digests["transformers, torchvision", file]:
            raise SystemExit(f"{file}: transformers gives other bytes")
    return {
        "machine": machine(),
        "versions": bench.versions,
        "command": shlex.join(sys.argv),
        "growth": growth,
        "rates": rates,
    }


def draw(figures: dict[str, Any]) -> None:
    """Draw both plots beside the page."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "mmcpp", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}
    from matplotlib import pyplot

    def save(figure: Any, axes: Any, name: str) -> None:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, axis="y", alpha=0.3)
        axes.legend(frameon=False)
        figure.savefig(PAGE.with_name(name), metadata={"Date": None}, bbox_inches="tight", transparent=False)
        pyplot.close(figure)

    figure, axes = pyplot.subplots(figsize=(6, 3.6))
    for title, times in figures["growth"].items():
        points = sorted((float(megapixels), statistics.median(values)) for megapixels, values in times.items())
        axes.plot(*zip(*points, strict=True), marker="o", label=title, color=COLORS[title])
    axes.set(xlabel="megapixels of the JPEG", ylabel="processor time, ms", xlim=(0, None), ylim=(0, None))
    save(figure, axes, "time_megapixels.svg")

    figure, axes = pyplot.subplots(figsize=(6, 3.6))
    for title, runs in figures["rates"].items():
        points = sorted((int(threads), statistics.median(values)) for threads, values in runs.items())
        axes.plot(*zip(*points, strict=True), marker="o", label=title, color=COLORS[title])
    axes.set(xlabel="threads", ylabel="pictures a second", ylim=(0, None))
    axes.set_xticks(sorted(int(threads) for threads in figures["rates"]["mmcpp"]))
    save(figure, axes, "throughput_threads.svg")


def parity() -> list[list[str]]:
    """Sum up the table that tests/golden/generate_families.py writes: a row for each kind of arithmetic."""
    sums: dict[str, list[int]] = {}
    for line in (ROOT / "cpp/docs/families.md").read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"\| `\w+` \| `\w+` \| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \|", line)
        if row:
            found = sums.setdefault(row[1], [0, 0, 0, 0])
            for i, value in enumerate((1, *map(int, row.groups()[1:]))):
                found[i] += value
    return [[kind, *map(str, numbers)] for kind, numbers in sums.items()]


def write_page(figures: dict[str, Any], cases: dict[str, Any] | None) -> None:
    """Write the page."""
    growth, rates = figures["growth"], figures["rates"]
    sizes, threads = list(growth["mmcpp"]), list(rates["mmcpp"])
    middle = {title: {key: statistics.median(v) for key, v in times.items()} for title, times in growth.items()}
    speed = {title: {key: statistics.median(v) for key, v in runs.items()} for title, runs in rates.items()}
    versions = "; ".join(f"{name} {version}" for name, version in figures["versions"].items())
    runs = len(next(iter(rates["mmcpp"].values())))
    parts = [
        "# Proof",
        "What was compared and what was measured, and how to do it again. `./dev bench proof` writes this page.",
        "## Equal bytes",
        "Of the table in [families.md](../../cpp/docs/families.md), which the same command makes anew, summed up:",
        table(["arithmetic", "specs", "pictures and batches compared", "stored digests", "differences"], parity()),
        "`./dev parity` compares them again. [exactness.md](exactness.md) says what equal means here.",
        "## Time",
        "From the bytes of a JPEG (4:2:0, quality 90) to Qwen2-VL's float32 features, at most 12,845,056 pixels. "
        "mmcpp's bytes are those of transformers with torchvision's arithmetic; this is checked before anything is "
        "timed. sglang-mm's JPEG decoder gives other pixels.",
        "![Processor time against megapixels](time_megapixels.svg)",
        "Processor time in milliseconds, medians, one thread each, in turn:",
        table(
            ["megapixels", *growth],
            [[size, *(f"{middle[title][size]:.1f}" for title in growth)] for size in sizes],
        ),
        "![Pictures a second against threads](throughput_threads.svg)",
        "1920x1080 pictures a second in so many Python threads of one process, each library with one thread of its "
        f"own; medians of {runs} rounds by the clock on the wall. The machine was shared, so that these tell which "
        "library gains from a second thread rather than how fast it is:",
        table(
            ["threads", *rates],
            [[count, *(f"{speed[title][count]:.1f}" for title in rates)] for count in threads],
        ),
        "## Where",
        f"{figures['machine']['processor']}, {figures['machine']['cores']} cores, shared with other work; "
        f"CPython {figures['machine']['python']}. {versions}.",
        f"Command: `{figures['command']}`.",
    ]
    if cases:
        parts += ["## All cases", f"Milliseconds of processor time; `{cases['command']}`."]
        for group in dict.fromkeys(case["group"] for case in cases["cases"]):
            parts.append(case_table([case for case in cases["cases"] if case["group"] == group], "cpu"))
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def main() -> None:
    """Measure unless told otherwise, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="in which each side gets its turn")
    parser.add_argument("--seconds", type=float, default=0.3, help="of a turn, if one run takes less")
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, 2, os.cpu_count() or 1}))
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="to run on")
    parser.add_argument("--measured", action="store_true", help=f"take the figures of the last run, {FIGURES.name}")
    parser.add_argument("--cases", type=Path, help="the JSON that run.py wrote")
    options = parser.parse_args()
    options.libraries, options.quick = {library for library, _ in SIDES.values()}, False
    try:
        if not options.measured:
            FIGURES.write_text(json.dumps(measure(options), indent=1), encoding="utf-8")
    except MissingError as error:
        raise SystemExit(f"a library is missing: {error}") from None
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    draw(figures)
    write_page(figures, json.loads(options.cases.read_text(encoding="utf-8")) if options.cases else None)


if __name__ == "__main__":
    main()
