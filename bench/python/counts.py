"""Instructions of the main kernels, counted by callgrind: the same on a loaded machine as on a quiet one.

bench/counts.json has what was counted last, with the compiler. Counts of another compiler or library are another
program's. callgrind knows no AVX-512, so scalar and avx2 are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from table import table

RECORD = Path(__file__).resolve().parent.parent / "counts.json"
ISAS = ("scalar", "avx2")


def instructions(program: Path, case: str, repetitions: int, isa: str) -> int:
    """Count those of a whole run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), case, str(repetitions)]
    done = subprocess.run(  # noqa: S603
        command, env=os.environ | {"MMCPP_ISA": isa}, capture_output=True, text=True, check=False
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise SystemExit(f"{' '.join(command)}:\n{done.stderr}")
    return int(found[1])


def count(program: Path, case: str, isa: str) -> int:
    """Count those of one repetition, after one that warms pools and tables up."""
    return instructions(program, case, 2, isa) - instructions(program, case, 1, isa)


def main() -> None:
    """Count, print beside the record, and keep if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the built mmcpp_counts")
    parser.add_argument("--filter", default="", help="only cases with this in their name")
    parser.add_argument("--keep", action="store_true", help=f"write {RECORD.name}")
    options = parser.parse_args()
    listed = subprocess.run([str(options.program)], capture_output=True, text=True, check=True)  # noqa: S603
    cases = [name for name in listed.stdout.splitlines() if options.filter in name]
    jobs = [(case, isa) for case in cases for isa in ISAS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda job: count(options.program, *job), jobs))
    found: dict[str, dict[str, int]] = {case: {} for case in cases}
    for (case, isa), number in zip(jobs, counts, strict=True):
        found[case][isa] = number
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {"instructions": {}}
    rows = []
    for case in cases:
        row = [case]
        for isa in ISAS:
            number, before = found[case][isa], record["instructions"].get(case, {}).get(isa)
            row += [f"{number / 1e6:.3f}", "new" if before is None else f"{number / before - 1:+.2%}"]
        rows.append(row)
    head = ["millions of instructions", *(name for isa in ISAS for name in (isa, "since"))]
    print(table(head, rows))
    if "compiler" in record:
        print(f"since: {record['compiler']}")
    if options.keep:
        version = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True)  # noqa: S607
        result = {"compiler": version.stdout.splitlines()[0], "instructions": record["instructions"] | found}
        RECORD.write_text(json.dumps(result, indent=1) + "\n")
        print(f"kept in {RECORD}", file=sys.stderr)


if __name__ == "__main__":
    main()
