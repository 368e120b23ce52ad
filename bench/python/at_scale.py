"""Pictures a second of mmcpp.ray on a local Ray cluster with 1 and 2 workers, beside the same work in one process.

    ./dev scale bench [--pictures N] [--file NAME] [--max-pixels N] [--dtype bfloat16|uint8|...] [--batch N]

Tensors are handed over through Ray's object store and read by the driver, as a trainer on the machine would. The
wall time is from the first begin of a batch to the end of the last, so that starting Ray is not in it. Processor time
is that of the calls, and that of the workers between their first and last call, which has Ray's own part in it.
python/docs/at_scale.md builds on these figures.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

import mmcpp
import pictures
from mmcpp.ray import MapBatches
from mmcpp.spec import preset_spec


class Timed(MapBatches):
    """Says of each row when and on whose processor time its batch was done."""

    def __call__(self, batch: Any) -> Any:
        """Do it and take the time."""
        begin, began = time.time(), time.process_time()
        done = super().__call__(batch)
        rows = len(batch["key"])
        ended = time.process_time()
        new = {"begin": begin, "end": time.time(), "began": began, "ended": ended, "worker": os.getpid()}
        new["seconds"] = (ended - began) / rows
        return done | {name: np.full(rows, value) for name, value in new.items()}


def report(name: str, rows: dict[str, list[Any]], out_bytes: int, in_bytes: int) -> str:
    """Give a line of the table."""
    count, wall = len(rows["key"]), max(rows["end"]) - min(rows["begin"])
    cpu = float(np.median(rows["seconds"])) * 1000
    workers, whole = np.array(rows["worker"]), 0.0
    for worker in set(rows["worker"]):
        mine = workers == worker
        whole += np.array(rows["ended"])[mine].max() - np.array(rows["began"])[mine].min()
    each = whole / count * 1000
    return (
        f"| {name} | {len(set(workers))} | {count / wall:.1f} | {cpu:.1f} | {each:.1f} | {in_bytes / count / 1e6:.2f} "
        f"| {out_bytes / count / 1e6:.2f} | {(in_bytes + out_bytes) / wall / 1e6:.0f} |"
    )


def gather(batches: Any) -> tuple[dict[str, list[Any]], int]:
    """Read every batch; give the small columns, and the tensors' bytes."""
    rows: dict[str, list[Any]] = {name: [] for name in ("key", "begin", "end", "began", "ended", "seconds", "worker")}
    size = 0
    for batch in batches:
        for name, values in rows.items():
            values.extend(batch[name].tolist())
        size += sum(cell.nbytes for name in set(batch) - set(rows) for cell in batch[name])
    return rows, size


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=96, help="how many in all (default: %(default)s)")
    parser.add_argument("--file", default="hd_q90.jpg", help="one of bench/python/pictures.py (default: %(default)s)")
    parser.add_argument("--max-pixels", type=int, default=1_003_520, help="of Qwen2-VL (default: %(default)s)")
    parser.add_argument("--dtype", default="bfloat16", help="of the tensors (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=4, help="pictures a batch (default: %(default)s)")
    options = parser.parse_args()
    os.environ["MMCPP_THREADS"] = "1"

    folder = Path(__file__).parents[2] / "build" / "bench" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    data = pictures.picture(folder, options.file).read_bytes()
    spec = preset_spec("qwen2_vl") | {"max_pixels": options.max_pixels}
    items = [{"key": i, "bytes": data} for i in range(options.pictures)]
    made = Timed(spec, dtype=options.dtype)

    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; ", end=""
    )
    print(f"mmcpp {mmcpp.__version__}, {options.file}, Qwen2-VL at most {options.max_pixels} pixels, {options.dtype}\n")
    columns = ["how", "workers", "pictures/s", "processor ms a picture", "with Ray's part", "MB in", "MB out", "MB/s"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")

    def alone() -> Any:
        for i in range(0, len(items), options.batch):
            cells = np.empty(len(items[i : i + options.batch]), object)
            cells[:] = [data] * len(cells)
            yield made({"key": np.arange(i, i + len(cells)), "bytes": cells})

    size = len(data) * options.pictures
    print(report("one process", *gather(alone()), size))

    import ray
    import ray.data

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    runtime = {"env_vars": {"MMCPP_THREADS": "1", "PYTHONPATH": paths}}
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env=runtime)
    ray.data.DataContext.get_current().enable_progress_bars = False
    for workers in (1, 2):
        dataset = ray.data.from_items(items, override_num_blocks=max(8, options.pictures // 8)).materialize()
        mapped = dataset.map_batches(
            Timed,
            fn_constructor_args=(spec,),
            fn_constructor_kwargs={"dtype": options.dtype},
            batch_size=options.batch,
            compute=ray.data.ActorPoolStrategy(size=workers),
        )
        print(report("Ray Data", *gather(mapped.iter_batches(batch_size=None)), size), flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main()
