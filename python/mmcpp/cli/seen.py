"""The picture that a model sees, with its patches and tokens drawn in, as a PNG file."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mmcpp.cli.files import replacing
from mmcpp.families import qwen_vl
from mmcpp.pipeline import ImageProcessor

__all__ = ["draw", "encode_png"]

_MIN_PATCH = 24  # pixels that a patch is enlarged to, so that its lines leave something to see
_MAX_SIDE = 4096  # pixels, beyond which nothing is enlarged
_PATCH_LINE = (0.35, (255, 255, 255))  # opacity, colour
_TOKEN_LINE = (0.85, (255, 60, 60))


def draw(processor: ImageProcessor, encoded: bytes, path: Path) -> None:
    """Write what the model sees of a picture: thin lines part patches, red ones prompt tokens.

    It is made from the feature itself, as ``uint8``, so it shows what the model gets and not what
    was meant for it.
    """
    batch = processor.process_items(encoded, dtype="uint8")
    spec = processor.spec
    picture = qwen_vl.seen_image(spec, batch.items[0].plan.grid, batch.features)
    patch = spec["patch_size"]
    scale = max(1, min(-(-_MIN_PATCH // patch), _MAX_SIDE // max(picture.shape)))
    picture = picture.repeat(scale, axis=0).repeat(scale, axis=1)
    _lines(picture, patch * scale, *_PATCH_LINE)
    _lines(picture, patch * scale * spec["merge_size"], *_TOKEN_LINE)
    with replacing(path) as temporary:
        temporary.write_bytes(encode_png(picture))


def _lines(picture: npt.NDArray[np.uint8], step: int, opacity: float, colour: tuple[int, int, int]) -> None:
    """Blend lines of one pixel over the start of every ``step`` rows and columns."""
    for lines in (picture[step::step], picture[:, step::step]):
        lines[:] = (lines * (1 - opacity) + np.array(colour) * opacity).astype(np.uint8)


def encode_png(picture: npt.NDArray[np.uint8]) -> bytes:
    """Encode ``uint8 [h, w, 3]`` as PNG."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + width * 3), np.uint8)  # each row behind its filter byte, 0: none
    rows[:, 1:] = picture.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # PNG has width first; 8-bit RGB
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
