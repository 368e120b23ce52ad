import io

import numpy as np
import pytest
from PIL import Image

import mmcpp
from checkpoints import write
from mmcpp.cli.seen import draw, encode_png, is_drawn, tile_sheet
from mmcpp.pipeline import ItemPlan
from mmcpp.spec import preset_spec
from samples import encode, noise


@pytest.mark.parametrize("size", [(1, 1), (3, 700), (41, 2)])
def test_png_is_read_by_others(size):
    picture = noise(*size)
    image = Image.open(io.BytesIO(encode_png(picture)))
    assert image.mode == "RGB"
    np.testing.assert_array_equal(np.asarray(image), picture)


def test_lines_part_patches_and_tokens(tmp_path):
    processor = mmcpp.ImageProcessor.from_spec({**preset_spec("qwen3_vl", backend="pil"), "min_pixels": 1})
    draw(processor, encode(np.zeros((64, 96, 3), np.uint8)), tmp_path / "seen.png")
    image = np.asarray(Image.open(tmp_path / "seen.png"))
    assert image.shape == (128, 192, 3)  # patches of 16 pixels drawn at twice their size
    coloured = np.unique(np.nonzero(image[:, :, 0].max(axis=1) > 0)[0])
    assert len(coloured) == 128  # vertical lines cross every row
    column = image[:, 1]  # inside of the first patch
    assert np.nonzero(column.any(axis=1))[0].tolist() == [32, 64, 96]
    assert column[32].tolist() == [89, 89, 89]  # white, faint: between patches
    assert column[64, 0] > 2 * column[64, 1]  # red: between tokens


def test_large_pictures_are_not_enlarged(tmp_path):
    processor = mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl"))
    draw(processor, encode(np.zeros((2800, 1400, 3), np.uint8)), tmp_path / "seen.png")
    assert Image.open(tmp_path / "seen.png").size == (1400, 2800)


@pytest.mark.parametrize(("overview_first", "order"), [(True, [1, 2, 3, 4, 0]), (False, [0, 1, 2, 3, 4])])
def test_tiles_are_laid_out_as_they_were_cut(overview_first, order):
    tiles = np.zeros((5, 3, 4, 2), np.uint8)
    tiles[:, 2] = np.arange(1, 6)[:, None, None]
    sheet = tile_sheet(ItemPlan((5, 3, 4, 2), (5, 2, 2), 5, 8, 4), tiles, overview_first=overview_first)
    assert sheet.shape == (3 * 10 - 6, 2 * 8 - 6, 3)
    corners = sheet[::10, ::8, 2].ravel()
    assert corners.tolist() == [*(tile + 1 for tile in order), 255]  # the last place has none
    assert sheet[4, 0].tolist() == [255, 60, 60]


def test_padding_and_overview_are_drawn(tmp_path):
    size = {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}
    write(tmp_path, {"image_processor_type": "LlavaNextImageProcessor", **size})
    processor = mmcpp.ImageProcessor.from_pretrained(tmp_path)
    assert is_drawn(processor)
    draw(processor, encode(np.full((200, 600, 3), 200, np.uint8)), tmp_path / "seen.png")
    image = np.asarray(Image.open(tmp_path / "seen.png"))
    assert image.shape[1] == 2 * 342 - 6  # two tiles beside each other, the overview below
    assert image[0, 0].max() == 0 and image[168, 0].min() == 200  # padding above the picture
    assert image[-1, 100].min() == 200 and image[-1, -1].tolist() == [255, 255, 255]


def test_what_is_drawn():
    assert is_drawn(mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl")))
    strips = {"family": "minicpmv", "patch_size": 14, "merge_size": 4, "scale_resolution": 448, "max_slices": 9}
    colours = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    assert not is_drawn(mmcpp.ImageProcessor.from_spec({**strips, **colours, "image_token_id": 1}))
