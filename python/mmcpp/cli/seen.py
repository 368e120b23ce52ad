"""What a model sees of a picture, drawn from the feature itself, as a PNG file.

Patches are put back into the picture that they were cut from; tiles are laid out as they were cut, the overview apart.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mmcpp.cli.files import replacing
from mmcpp.families import qwen_vl
from mmcpp.pipeline import ImageProcessor, ItemPlan

__all__ = ["draw", "encode_png", "is_drawn", "tile_sheet"]

Picture = npt.NDArray[np.uint8]
"""``uint8 [h, w, 3]``."""

_MIN_PATCH = 24  # pixels that a patch is enlarged to, so that its lines leave something to see
_MAX_SIDE = 4096  # pixels, beyond which nothing is enlarged
_PATCH_LINE = (0.35, (255, 255, 255))  # opacity, colour
_TOKEN_LINE = (0.85, (255, 60, 60))
_GAP = 6  # pixels between tiles
_GAP_COLOUR = (255, 60, 60)
_NOTHING = (255, 255, 255)  # where no tile stands
# The other families have the picture as a whole behind its tiles.
_OVERVIEW_FIRST = ("llava_next", "global_tiles", "perception_lm", "ovis2")


def is_drawn(processor: ImageProcessor) -> bool:
    """Tell whether ``draw`` can: of ``qwen_vl``'s patches, and of every feature that is a stack of tiles."""
    shape = processor.plan(448, 448).feature_shape
    return processor.family == "qwen_vl" or (len(shape) >= 4 and shape[-3] == 3 and processor.pack_axis == 0)


def draw(processor: ImageProcessor, encoded: bytes, path: Path) -> None:
    """Write what the model sees of a picture: thin lines part patches, red ones prompt tokens or tiles.

    It is made from the feature itself, as ``uint8``, so it shows what the model gets, its padding
    included, and not what was meant for it.
    """
    batch = processor.process_items(encoded, dtype="uint8")
    plan = batch.items[0].plan
    if processor.family == "qwen_vl":
        picture = _patches(processor, plan, batch.features)
    else:
        tiles = batch.features.reshape(-1, *batch.features.shape[-3:])  # some families have axes of one before them
        picture = tile_sheet(plan, tiles, overview_first=processor.family in _OVERVIEW_FIRST)
    with replacing(path) as temporary:
        temporary.write_bytes(encode_png(picture))


def _patches(processor: ImageProcessor, plan: ItemPlan, feature: Picture) -> Picture:
    spec = processor.spec
    picture = qwen_vl.seen_image(spec, plan.grid, feature)
    patch = spec["patch_size"]
    scale = max(1, min(-(-_MIN_PATCH // patch), _MAX_SIDE // max(picture.shape)))
    picture = picture.repeat(scale, axis=0).repeat(scale, axis=1)
    _lines(picture, patch * scale, *_PATCH_LINE)
    _lines(picture, patch * scale * spec["merge_size"], *_TOKEN_LINE)
    return picture


def tile_sheet(plan: ItemPlan, tiles: Picture, *, overview_first: bool) -> Picture:
    """Lay tiles ``uint8 [n, 3, h, w]`` out by ``plan.grid``, those that are not of the grid below."""
    count, _, height, width = tiles.shape
    rows, columns = plan.grid[1:] if plan.grid[0] > 1 else (1, 1)
    rows, columns = (rows, columns) if rows * columns <= count else (1, count)
    extra = count - rows * columns
    order = [*range(extra, count), *range(extra)] if overview_first else range(count)
    sheet_rows = rows + -(-extra // columns)
    sheet = np.empty((sheet_rows * (height + _GAP) - _GAP, columns * (width + _GAP) - _GAP, 3), np.uint8)
    sheet[:] = _GAP_COLOUR
    for place in range(sheet_rows * columns):
        y, x = place // columns * (height + _GAP), place % columns * (width + _GAP)
        tile = tiles[order[place]].transpose(1, 2, 0) if place < count else _NOTHING
        sheet[y : y + height, x : x + width] = tile
    return sheet


def _lines(picture: Picture, step: int, opacity: float, colour: tuple[int, int, int]) -> None:
    """Blend lines of one pixel over the start of every ``step`` rows and columns."""
    for lines in (picture[step::step], picture[:, step::step]):
        lines[:] = (lines * (1 - opacity) + np.array(colour) * opacity).astype(np.uint8)


def encode_png(picture: Picture) -> bytes:
    """Encode ``uint8 [h, w, 3]`` as PNG."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + width * 3), np.uint8)  # each row behind its filter byte, 0: none
    rows[:, 1:] = picture.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # PNG has width first; 8-bit RGB
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
