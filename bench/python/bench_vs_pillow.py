"""mmcpp beside Pillow on the same pictures, one thread each; bytes are compared before anything is timed."""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("MMCPP_THREADS", "1")  # read once, when the first call fans out

import numpy as np
import numpy.typing as npt
from PIL import Image, __version__

import mmcpp

Pixels = npt.NDArray[np.uint8]
Job = Callable[[], Pixels]


def photo(height: int, width: int) -> Pixels:
    """Slow waves and fine noise."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    noise = np.random.default_rng(1).integers(0, 16, (height, width, 3))
    waves = [np.sin(x * 0.011 * (c + 1)) + np.cos(y * 0.017 + c) for c in range(3)]
    return (124 + 55 * np.stack(waves, axis=2) + noise).astype(np.uint8)


def screenshot(height: int, width: int) -> Pixels:
    """Flat areas with rows of small marks."""
    pixels = np.full((height, width, 3), 250, np.uint8)
    pixels[:40] = (40, 44, 52)
    marks = np.random.default_rng(2).random((height // 20, width // 8)) < 0.6
    for row, line in enumerate(marks):
        for column in np.flatnonzero(line):
            pixels[row * 20 + 5 : row * 20 + 14, column * 8 : column * 8 + 5] = (50, 60, 70)
    return pixels


def encoded(pixels: Pixels, kind: str, **options: int) -> bytes:
    """The picture as a file of the kind."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def cases() -> list[tuple[str, Job, Job]]:
    """Name, Pillow's way, ours."""
    hd, phone = photo(1080, 1920), photo(3000, 4000)
    files = {
        "decode JPEG 1920x1080": encoded(hd, "JPEG", quality=85),
        "decode JPEG 4000x3000": encoded(phone, "JPEG", quality=85),
        "decode PNG 1920x1080 photo": encoded(hd, "PNG"),
        "decode PNG 1920x1080 screenshot": encoded(screenshot(1080, 1920), "PNG"),
        "decode WebP 1920x1080": encoded(hd, "WEBP", quality=80),
    }
    result: list[tuple[str, Job, Job]] = [
        (
            name,
            lambda data=data: np.asarray(Image.open(io.BytesIO(data)).convert("RGB")),  # type: ignore[misc]
            lambda data=data: mmcpp.decode_image(data),  # type: ignore[misc]
        )
        for name, data in files.items()
    ]
    for source, height, width in ((hd, 756, 1344), (phone, 868, 1148), (photo(480, 640), 1024, 1024)):
        name = f"resize {source.shape[1]}x{source.shape[0]} to {width}x{height} bicubic"
        picture = Image.fromarray(source)
        result.append(
            (
                name,
                lambda p=picture, h=height, w=width: np.asarray(p.resize((w, h), Image.Resampling.BICUBIC)),  # type: ignore[misc]
                lambda s=source, h=height, w=width: mmcpp.resize(s, h, w),  # type: ignore[misc]
            )
        )
    return result


def median_ms(job: Job, runs: int) -> float:
    """Milliseconds of a call."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        job()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="of each case; the median counts")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    figures = {}
    print(f"{'':44}{'Pillow ' + __version__:>16}{'mmcpp':>10}{'ratio':>8}   (ms, one thread)")
    for name, theirs, ours in cases():
        if not np.array_equal(theirs(), ours()):
            raise SystemExit(f"{name}: other bytes than Pillow's")
        figures[name] = {"pillow": median_ms(theirs, arguments.runs), "mmcpp": median_ms(ours, arguments.runs)}
        pillow, mine = figures[name]["pillow"], figures[name]["mmcpp"]
        print(f"{name:44}{pillow:16.2f}{mine:10.2f}{pillow / mine:7.2f}x", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"build": str(mmcpp.build_info()), "ms": figures}, indent=1))


if __name__ == "__main__":
    main()
