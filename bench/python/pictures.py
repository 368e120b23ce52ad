"""The pictures that the benchmarks run on, made here so that nothing has to be downloaded; see bench/data.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, __version__

Pixels = npt.NDArray[np.uint8]


def photo(height: int, width: int) -> Pixels:
    """Slow waves and fine noise."""
    y = np.arange(height, dtype=np.float32)[:, None]
    x = np.arange(width, dtype=np.float32)[None, :]
    picture = np.random.default_rng(1).integers(0, 16, (height, width, 3), np.uint8)
    for c in range(3):
        waves = np.sin(x * 0.011 * (c + 1)) + np.cos(y * 0.017 + c)
        picture[:, :, c] += (124 + 55 * waves).astype(np.uint8)
    return picture


def screenshot(height: int, width: int) -> Pixels:
    """Flat areas with rows of small marks."""
    pixels = np.full((height, width, 3), 250, np.uint8)
    pixels[:40] = (40, 44, 52)
    marks = np.random.default_rng(2).random((height // 20, width // 8)) < 0.6
    for row, line in enumerate(marks):
        for column in np.flatnonzero(line):
            pixels[row * 20 + 5 : row * 20 + 14, column * 8 : column * 8 + 5] = (50, 60, 70)
    return pixels


_JPEG = {"kind": "JPEG", "subsampling": 2}
_FILES: dict[str, tuple[Callable[[int, int], Pixels], int, int, dict[str, Any]]] = {
    "hd_q85.jpg": (photo, 1080, 1920, _JPEG | {"quality": 85}),
    "hd_q90.jpg": (photo, 1080, 1920, _JPEG | {"quality": 90}),
    "hd_444_q95.jpg": (photo, 1080, 1920, {"kind": "JPEG", "subsampling": 0, "quality": 95}),
    "phone_q85.jpg": (photo, 3000, 4000, _JPEG | {"quality": 85}),
    "phone_q90.jpg": (photo, 3000, 4000, _JPEG | {"quality": 90}),
    "square_q90.jpg": (photo, 1024, 1024, _JPEG | {"quality": 90}),
    "hd_photo.png": (photo, 1080, 1920, {"kind": "PNG"}),
    "hd_screenshot.png": (screenshot, 1080, 1920, {"kind": "PNG"}),
    "hd_palette.png": (screenshot, 1080, 1920, {"kind": "PNG", "colors": 256}),
    "hd_q85.webp": (photo, 1080, 1920, {"kind": "WEBP", "quality": 85}),
    "hd_screenshot_lossless.webp": (screenshot, 1080, 1920, {"kind": "WEBP", "lossless": True}),
    **{
        f"{width}x{height}_q90.jpg": (photo, height, width, _JPEG | {"quality": 90})
        for height, width in ((480, 640), (864, 1152), (1536, 2048), (2160, 2880))
    },
    "small.jpg": (photo, 48, 64, {"kind": "JPEG", "quality": 85}),
    "small.png": (photo, 48, 64, {"kind": "PNG"}),
    "small.webp": (photo, 48, 64, {"kind": "WEBP", "quality": 85}),
    "hd_photo.npy": (photo, 1080, 1920, {}),
    "phone_photo.npy": (photo, 3000, 4000, {}),
    "vga_photo.npy": (photo, 480, 640, {}),
}


def pixel_bytes(name: str) -> int:
    """Give the bytes of the picture's pixels in RGB."""
    _, height, width, _ = _FILES[name]
    return height * width * 3


def picture(folder: Path, name: str) -> Path:
    """Give the path of a picture of this name, which is made unless it is in the folder already."""
    draw, height, width, options = _FILES[name]
    recipe = json.dumps([draw.__name__, height, width, options, __version__, 1], sort_keys=True)
    path = folder / f"{hashlib.sha256(recipe.encode()).hexdigest()[:8]}_{name}"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    pixels = draw(height, width)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        if name.endswith(".npy"):
            np.save(file, pixels)
        else:
            options = dict(options)
            image = Image.fromarray(pixels)
            if "colors" in options:
                image = image.quantize(options.pop("colors"))
            image.save(file, options.pop("kind"), **options)
    part.rename(path)
    return path
