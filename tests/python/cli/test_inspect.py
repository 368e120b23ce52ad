import json

import numpy as np
import pytest
from PIL import Image

import mmcpp
from checkpoints import write
from samples import encode, noise, smooth


@pytest.fixture
def transparent(tmp_path):
    path = tmp_path / "alpha.png"
    path.write_bytes(encode(noise(40, 60, 4)))
    return path


def test_the_header_and_every_profile(run, transparent):
    status, text, err = run("inspect", transparent, "--json")
    assert (status, err) == (0, "")
    (report,) = json.loads(text)["pictures"]
    assert (report["format"], report["mode"], report["has_alpha"]) == ("png", "RGBA", True)
    assert (report["height"], report["width"], report["bytes"]) == (40, 60, transparent.stat().st_size)
    assert set(report["profiles"]) == {"pillow", "hf", "vllm", "sglang"}
    pillow = mmcpp.decode_image(transparent)
    hf = mmcpp.decode_image(transparent, profile="hf")
    assert report["profiles"]["hf"]["differing"] == (pillow != hf).any(axis=2).mean() > 0
    assert report["profiles"]["sglang"]["differing"] == 0
    assert "model" not in report


def test_in_words(run, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / "a.jpg").write_bytes(encode(smooth(40, 90), "JPEG", exif=exif))
    deep = np.arange(60 * 40, dtype=np.uint16).reshape(40, 60)
    (tmp_path / "b.png").write_bytes(encode(Image.fromarray(deep)))
    status, text, _ = run("inspect", tmp_path, "--family", "qwen2_vl")
    assert status == 0
    for words in (
        "EXIF orientation 6",
        "40x90 (height x width)",
        "vllm        90x40\n",
        "hf          40x90, the same pixels as pillow",
        "sglang      refuses: png: ",
        "qwen_vl     sees 56x84, grid 1x4x6, 6 tokens, pixel_values [24, 1176]",
    ):
        assert words in text


def test_sheets_are_drawn_of_patches_and_of_tiles(run, tmp_path, transparent):
    sheet = tmp_path / "seen.png"
    assert run("inspect", transparent, "--family", "qwen2_vl", "--sheet", sheet)[0] == 0
    assert Image.open(sheet).size == (84 * 2, 56 * 2)  # width first; patches of 14 pixels drawn at twice their size
    config = {
        "image_processor_type": "GotOcr2ImageProcessor",
        "crop_to_patches": True,
        "size": {"height": 32, "width": 32},
    }
    folder = write(tmp_path, config)
    status, text, _ = run("inspect", transparent, transparent, "--config", folder, "--sheet", sheet, "--json")
    assert status == 0
    one = json.loads(text)["pictures"][1]
    tiles, rows, columns = one["model"]["grid"]
    assert tiles == rows * columns + 1
    assert one["sheet"] == str(tmp_path / "seen-2.png")
    width, height = Image.open(one["sheet"]).size
    assert (height, width) == ((rows + 1) * 38 - 6, columns * 38 - 6)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["--sheet", "s.png"], "--family or --config"),
        (["--family", "qwen2_vl", "--sheet", "s.jpg"], "expected FILE.png"),
        (["--family", "qwen2_vl", "--sheet", "none/s.png"], "expected FILE.png in a folder that is there"),
        (["--config", "none"], "no such folder"),
    ],
)
def test_usage_errors(run, transparent, arguments, match):
    status, text, err = run("inspect", transparent, *arguments)
    assert (status, text) == (2, "")
    assert match in err


def test_a_picture_is_never_drawn_over(run, transparent):
    before = transparent.read_bytes()
    status, _, err = run("inspect", transparent, "--family", "qwen2_vl", "--sheet", transparent)
    assert status == 2
    assert "would be written over" in err
    assert transparent.read_bytes() == before


def test_failures_are_named(run, tmp_path, transparent):
    (tmp_path / "bad.gif").write_bytes(b"GIF89a")
    status, text, err = run("inspect", tmp_path, tmp_path / "none.png", "--family", "qwen3_vl")
    assert status == 1
    assert "alpha.png" in text
    assert [line.split(": ")[2].rsplit("/", maxsplit=1)[-1] for line in err.splitlines()] == ["bad.gif", "none.png"]
