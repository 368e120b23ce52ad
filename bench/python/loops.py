"""A training loop and a serving loop with transformers' image processors, and with mmcpp's in their place.

Both loops run over the same JPEG files. First all tensors of all pictures are compared; a difference ends the program.
Then the sides run in turn, and the medians go to a table: of the time on the wall, and of the processor time of all
processes together, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("MMCPP_THREADS", "1")  # the loops have workers of their own

import numpy as np
import torch
import transformers
from PIL import Image

from mmcpp.hf import accelerate
from peers import BUILD
from pictures import photo
from table import table

Tensors = dict[str, torch.Tensor]

PROCESSORS: dict[str, tuple[str, dict[str, Any]]] = {
    # name: class without the suffix of its backend, settings
    "Qwen2-VL": ("Qwen2VLImageProcessor", {"size": {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 1280}}),
    "CLIP": ("CLIPImageProcessor", {}),
    "SigLIP": ("SiglipImageProcessor", {"do_convert_rgb": True}),
    "LLaVA-OneVision": ("LlavaOnevisionImageProcessor", {}),
    "InternVL": ("GotOcr2ImageProcessor", {"crop_to_patches": True, "size": {"height": 448, "width": 448}}),
    "Pixtral": ("PixtralImageProcessor", {}),
}


def make(name: str, backend: str) -> Any:
    """Make transformers' image processor of a name."""
    cls, settings = PROCESSORS[name]
    return getattr(transformers, cls + ("Pil" if backend == "pil" else ""))(**settings)


def files(folder: Path, count: int, longest: int) -> list[Path]:
    """Give JPEG files with photographs' sizes, made unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(3)
    source = photo(longest, longest)
    paths = []
    for index in range(count):
        height, width = (int(side) for side in draw.integers(longest // 4, longest, 2))
        top, left = (int(draw.integers(0, longest - side)) for side in (height, width))
        path = folder / f"{index:04}_{height}x{width}.jpg"
        if not path.exists():
            part = path.with_suffix(".part")
            Image.fromarray(source[top : top + height, left : left + width]).save(part, "JPEG", quality=88)
            part.rename(path)
        paths.append(path)
    return paths


class Pictures(torch.utils.data.Dataset[Any]):
    """The files, opened and not decoded, as a training set has them."""

    def __init__(self, paths: list[Path]) -> None:
        """Open nothing yet."""
        self._paths = paths

    def __len__(self) -> int:
        """Give the number of files."""
        return len(self._paths)

    def __getitem__(self, index: int) -> Image.Image:
        """Open a file."""
        return Image.open(self._paths[index])


class Collate:
    """A batch of pictures to tensors, in the worker."""

    def __init__(self, processor: Any) -> None:
        """Take transformers' or ours."""
        self._processor = processor

    def __call__(self, images: list[Image.Image]) -> Tensors:
        """Process a batch."""
        return dict(self._processor(images, return_tensors="pt"))


def train(processor: Any, paths: list[Path], *, workers: int, batch: int) -> Iterator[Tensors]:
    """Give the batches of an epoch from a DataLoader."""
    loader = torch.utils.data.DataLoader(
        Pictures(paths), batch_size=batch, num_workers=workers, collate_fn=Collate(processor)
    )
    yield from loader


def serve(processor: Any, paths: list[Path], *, workers: int, batch: int) -> Iterator[Tensors]:
    """Give what requests with a picture each become in a pool of threads; ``batch`` says nothing here."""

    def answer(body: bytes) -> Tensors:
        return dict(processor(images=[Image.open(io.BytesIO(body))], return_tensors="pt"))

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(answer, [path.read_bytes() for path in paths])


LOOPS: dict[str, Callable[..., Iterator[Tensors]]] = {"training": train, "serving": serve}


def digest(results: Iterator[Tensors]) -> tuple[str, int]:
    """Give a hash of all keys, dtypes, shapes and bytes in order, and the number of tensors."""
    sha, count = hashlib.sha256(), 0
    for tensors in results:
        for name, tensor in tensors.items():
            array = tensor.numpy()
            sha.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
            count += 1
    return sha.hexdigest(), count


def timed(results: Callable[[], Iterator[Tensors]]) -> dict[str, float]:
    """Run a loop to its end: seconds on the wall, and of processor time of this process and its children."""
    before, began = _processor_time(), time.perf_counter()
    for _ in results():
        pass
    return {"wall": time.perf_counter() - began, "cpu": _processor_time() - before}


def _processor_time() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(name: str, loop: str, paths: list[Path], options: argparse.Namespace) -> dict[str, Any]:
    """Compare, then time one processor in one loop.

    Raises:
        SystemExit: a tensor differs.
    """
    theirs = make(name, options.backend)
    sides = {"transformers": theirs, "mmcpp": accelerate(theirs, unsupported="error")}
    how = {"workers": options.workers, "batch": options.batch}
    if name in ("Pixtral", "LLaVA-OneVision") and loop == "training":
        how["batch"] = 1  # padded to the largest, a batch says little
    digests = {side: digest(LOOPS[loop](processor, paths, **how)) for side, processor in sides.items()}
    if digests["transformers"] != digests["mmcpp"]:
        raise SystemExit(f"{name}, {loop}: other tensors")
    record: dict[str, Any] = {"name": name, "loop": loop, "tensors": digests["mmcpp"][1], "sides": {}}
    times: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    timed_paths = paths[: options.timed]
    for turn in range(options.rounds):
        for side in list(sides)[:: 1 if turn % 2 else -1]:
            times[side].append(timed(lambda side=side: LOOPS[loop](sides[side], timed_paths, **how)))  # type: ignore[misc]
    for side, runs in times.items():
        record["sides"][side] = {clock: statistics.median(run[clock] for run in runs) for clock in ("wall", "cpu")}
    return record


def rows(records: list[dict[str, Any]], pictures: int) -> str:
    """The table: pictures a second on the wall and milliseconds of processor time a picture."""
    lines = []
    for record in records:
        theirs, ours = record["sides"]["transformers"], record["sides"]["mmcpp"]
        lines.append(
            [
                f"{record['name']}, {record['loop']}",
                *(f"{pictures / side['wall']:.1f}" for side in (theirs, ours)),
                f"{theirs['wall'] / ours['wall']:.2f}x",
                *(f"{1000 * side['cpu'] / pictures:.2f}" for side in (theirs, ours)),
                f"{theirs['cpu'] / ours['cpu']:.2f}x",
            ]
        )
    head = ["loop", "HF, pictures/s", "mmcpp, pictures/s", "faster", "HF, CPU ms/picture", "mmcpp, CPU ms", "less"]
    return table(head, lines)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    has_torchvision = bool(transformers.utils.is_torchvision_available())
    parser.add_argument(
        "--backend", choices=("pil", "torchvision"), default="torchvision" if has_torchvision else "pil"
    )
    parser.add_argument("--pictures", type=int, default=1000, help="to compare")
    parser.add_argument("--timed", type=int, default=200, help="of them to time in each round")
    parser.add_argument("--longest", type=int, default=1280, help="side of a picture, pixels")
    parser.add_argument("--rounds", type=int, default=3, help="in which each side gets its turn")
    parser.add_argument("--workers", type=int, default=2, help="processes of the DataLoader, threads of the server")
    parser.add_argument("--batch", type=int, default=8, help="pictures of a training batch")
    parser.add_argument("--filter", default="", help="only loops with this in their name")
    parser.add_argument("--folder", type=Path, default=BUILD / "pictures", help="where the pictures are kept")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Compare, measure, print the table, write JSON."""
    options = parse(arguments)
    torch.set_num_threads(1)
    paths = files(options.folder / f"loops_{options.longest}", options.pictures, options.longest)
    records = []
    for name in PROCESSORS:
        for loop in LOOPS:
            if options.filter in f"{name}, {loop}":
                records.append(measure(name, loop, paths, options))
                print(f"{name}, {loop}: {records[-1]['tensors']} tensors are the same", file=sys.stderr, flush=True)
    timed_pictures = len(paths[: options.timed])
    print(rows(records, timed_pictures))
    print(
        f"\n{len(paths)} pictures compared, {timed_pictures} timed, {options.workers} workers; transformers "
        f"{transformers.__version__}, {options.backend} backend; torch {torch.__version__}"
    )
    if options.json:
        options.json.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
