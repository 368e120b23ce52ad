"""The proof page: what was measured and what was compared, with the machine, the versions and the commands.

Measures mmcpp and its peers on pictures of growing size and in growing numbers of threads, draws both, and writes
python/docs/proof.md with the plots beside it, and the short table of README.md. `run.py --json` gives the table of all
cases, if its file is named.
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
PAGE, README = ROOT / "python/docs/proof.md", ROOT / "README.md"
FIGURES = BUILD / "proof.json"
FILES = {  # megapixels: name in pictures.py
    640 * 480 / 1e6: "640x480_q90.jpg",
    1152 * 864 / 1e6: "1152x864_q90.jpg",
    1920 * 1080 / 1e6: "hd_q90.jpg",
    2048 * 1536 / 1e6: "2048x1536_q90.jpg",
    2880 * 2160 / 1e6: "2880x2160_q90.jpg",
    4000 * 3000 / 1e6: "phone_q90.jpg",
}
THREADS_FILE, THREADS_SIZE = "hd_q90.jpg", "2.07"
SIDES = {  # title: library, whose arithmetic, how it is drawn
    "mmcpp": ("mmcpp", "torchvision", {"color": "#00695c"}),
    "transformers": ("hf", "torchvision", {"color": "#ef6c00"}),
    "sglang-mm": ("sglang-mm", "torchvision", {"color": "#8e24aa"}),
    "mmcpp, Pillow's": ("mmcpp", "pil", {"color": "#00695c", "linestyle": "--"}),
    "transformers, Pillow's": ("hf", "pil", {"color": "#ef6c00", "linestyle": "--"}),
}
EQUAL = {"transformers": "mmcpp", "transformers, Pillow's": "mmcpp, Pillow's"}
"""Sides whose bytes must be those of another."""


def arguments(backend: str) -> dict[str, Any]:
    """Give the arguments of the case that all sides do."""
    return {"max_pixels": DEFAULT_BUDGET, "dtype": "float32", "backend": backend}


def growth(bench: Bench, options: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """Time every side on every picture in turn: processor time in milliseconds, by megapixels."""
    found: dict[str, dict[str, list[float]]] = {title: {} for title in SIDES}
    for round_ in range(options.rounds):
        for megapixels, file in FILES.items():
            digests = {}
            for title, (library, backend, _) in SIDES.items():
                process = bench.process(library)
                digests[title] = prepare(process, "preprocess", file, arguments(backend), check=round_ == 0)
                times = ask(process, "time", seconds=options.seconds, least=1, warm=True)["cpu"]
                found[title].setdefault(f"{megapixels:.2f}", []).extend(times)
            for theirs, ours in EQUAL.items():
                if digests[theirs] != digests[ours]:
                    raise SystemExit(f"{file}: {theirs} gives other bytes")
        print(f"-- sizes, round {round_ + 1} of {options.rounds}", file=sys.stderr, flush=True)
    return found


def rates(bench: Bench, options: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """Let every side work in one thread and in several, in turn: pictures a second, by threads."""
    found: dict[str, dict[str, list[float]]] = {title: {} for title in SIDES}
    for round_ in range(options.rounds):
        for threads in options.threads:
            for title, (library, backend, _) in SIDES.items():
                process = bench.process(library, threads, pinned=False)
                prepare(process, "preprocess", THREADS_FILE, arguments(backend), check=False)
                answer = ask(process, "rate", seconds=options.seconds * 5, threads=threads)
                found[title].setdefault(str(threads), []).append(answer["rate"])
        print(f"-- threads, round {round_ + 1} of {options.rounds}", file=sys.stderr, flush=True)
    return found


PARTS = {"sizes": growth, "threads": rates}


def measure(options: argparse.Namespace) -> None:
    """Do the parts that are asked for, and keep what the last run found of the others."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    for part in options.parts:
        bench = Bench(options)
        try:
            found = PARTS[part](bench, options)
        finally:
            bench.close()
        about = {"machine": machine(), "versions": bench.versions, "command": shlex.join(sys.argv)}
        figures[part] = about | {"found": found, "rounds": options.rounds}
    FIGURES.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def throughput(figures: dict[str, Any]) -> dict[str, dict[int, float]]:
    """Give pictures a second by threads: of one, from its processor time; of several, times what they gained.

    On a machine with other work the clock on the wall tells of that work, but the pairs of a round share it.
    """
    result = {}
    for title, runs in figures["threads"]["found"].items():
        alone = 1000 / statistics.median(figures["sizes"]["found"][title][THREADS_SIZE])
        result[title] = {
            int(count): alone * statistics.median(several / one for several, one in zip(values, runs["1"], strict=True))
            for count, values in runs.items()
        }
    return result


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
    for title, times in figures["sizes"]["found"].items():
        points = sorted((float(megapixels), statistics.median(values)) for megapixels, values in times.items())
        axes.plot(*zip(*points, strict=True), marker="o", label=title, **SIDES[title][2])
    axes.set_title("JPEG to Qwen2-VL's features, one thread", fontsize=10)
    axes.set(xlabel="megapixels", ylabel="processor time, ms", xlim=(0, None), ylim=(0, None))
    save(figure, axes, "time_megapixels.svg")

    figure, axes = pyplot.subplots(figsize=(6, 3.6))
    for title, by_threads in throughput(figures).items():
        axes.plot(*zip(*sorted(by_threads.items()), strict=True), marker="o", label=title, **SIDES[title][2])
    axes.set_title("1920x1080 JPEG to Qwen2-VL's features", fontsize=10)
    axes.set(xlabel="threads", ylabel="pictures a second", ylim=(0, None))
    axes.set_xticks(sorted(int(threads) for threads in figures["threads"]["found"]["mmcpp"]))
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
    sizes, threads = figures["sizes"], figures["threads"]
    titles, first = list(SIDES), next(iter(SIDES))
    rows = [
        [size, *(f"{statistics.median(sizes['found'][title][size]):.1f}" for title in titles)]
        for size in sizes["found"][first]
    ]
    speed = throughput(figures)
    best = [[str(count), *(f"{speed[title][count]:.1f}" for title in titles)] for count in speed[first]]
    versions = "; ".join(f"{name} {version}" for name, version in sizes["versions"].items())
    parts = [
        "# Proof",
        "What was compared and what was measured, and how to do it again. `./dev bench proof` writes this page.",
        "## Equal bytes",
        "Of the table in [families.md](../../cpp/docs/families.md), which the same command makes anew, summed up:",
        table(["arithmetic", "specs", "pictures and batches compared", "stored digests", "differences"], parity()),
        "`./dev parity` compares them again. [exactness.md](exactness.md) says what equal means here.",
        "## Time",
        "From the bytes of a JPEG (4:2:0, quality 90) to Qwen2-VL's float32 features, at most 12,845,056 pixels; by "
        "torchvision's arithmetic, or by Pillow's. The bytes of mmcpp are those of transformers in the same "
        "arithmetic, for every file, or the run ends. sglang-mm's JPEG decoder gives other pixels.",
        "![Processor time against megapixels](time_megapixels.svg)",
        f"Processor time in milliseconds, medians of {sizes['rounds']} rounds, one thread each, in turn:",
        table(["megapixels", *titles], rows),
        "![Pictures a second against threads](throughput_threads.svg)",
        "1920x1080 pictures a second in so many Python threads of one process, as many in a library's own pool. "
        "Of one thread, from the processor time above; of several, times what they gained by the clock on the wall, a "
        f"median of {threads['rounds']} pairs: on a shared machine that clock alone tells of the others' work, "
        "and a gain above the number of threads is noise.",
        table(["threads", *titles], best),
        "## Where",
        f"{sizes['machine']['processor']}, {sizes['machine']['cores']} cores, shared with other work; "
        f"CPython {sizes['machine']['python']}. {versions}.",
        "Commands: " + ", ".join(sorted({f"`{part['command']}`" for part in (sizes, threads)})) + ".",
    ]
    if cases:
        parts += ["## All cases", f"Milliseconds of processor time; `{cases['command']}`."]
        for group in dict.fromkeys(case["group"] for case in cases["cases"]):
            parts.append(case_table([case for case in cases["cases"] if case["group"] == group], "cpu"))
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    short = table(["megapixels", *titles], [rows[0], rows[2], rows[-1]])
    text = README.read_text(encoding="utf-8")
    README.write_text(re.sub(r"\| megapixels .*?(?=\n\n)", short, text, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    """Measure unless told otherwise, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="in which each side gets its turn")
    parser.add_argument("--seconds", type=float, default=0.3, help="of a turn, if one run takes less")
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, 2, os.cpu_count() or 1}))
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="to run on")
    parser.add_argument(
        "--parts",
        nargs="*",
        choices=list(PARTS),
        default=list(PARTS),
        help="to measure anew; none: page and plots alone",
    )
    parser.add_argument("--cases", type=Path, help="the JSON that run.py wrote")
    options = parser.parse_args()
    options.libraries, options.quick = {library for library, *_ in SIDES.values()}, False
    try:
        measure(options)
    except MissingError as error:
        raise SystemExit(f"a library is missing: {error}") from None
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    draw(figures)
    write_page(figures, json.loads(options.cases.read_text(encoding="utf-8")) if options.cases else None)


if __name__ == "__main__":
    main()
