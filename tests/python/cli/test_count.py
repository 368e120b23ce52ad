import json

import pytest
from PIL import Image

import mmcpp
from checkpoints import write
from mmcpp.spec import preset_names, preset_spec
from samples import encode, smooth


@pytest.fixture
def turned(tmp_path):
    """A picture of 40x90 that is to be turned by a quarter."""
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / "turned.jpg").write_bytes(encode(smooth(40, 90), "JPEG", exif=exif))
    return tmp_path / "turned.jpg"


def test_sizes_and_files_under_every_preset(run, turned):
    status, text, err = run("count", "1080x1920", turned, "--json")
    assert (status, err) == (0, "")
    first, second = json.loads(text)["pictures"]
    assert (second["height"], second["width"]) == (40, 90)
    assert list(first["tokens"]) == preset_names()
    for one in (first, second):
        for name, tokens in one["tokens"].items():
            processor = mmcpp.ImageProcessor.from_spec(preset_spec(name))
            assert tokens == processor.count_tokens(one["height"], one["width"])
    assert first["tokens"]["qwen2_vl"] == 2691  # 39 x 69 tokens of 28 x 28 pixels


def test_only_vllm_turns(run, turned):
    _, text, _ = run("count", turned, "--profile", "vllm", "--json")
    one = json.loads(text)["pictures"][0]
    assert (one["height"], one["width"]) == (90, 40)


def test_a_table_with_a_sum_and_refusals(run, tmp_path):
    config = write(tmp_path, {"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14})
    status, text, _ = run("count", "100x76", "1x300", "--family", "qwen3_vl", "--config", config)
    assert status == 0
    head, first, second, total = text.splitlines()
    assert head.split() == ["picture", "size", "qwen3_vl", config.name]
    assert first.split() == ["100x76", "100x76", "70", "12"]
    assert second.split()[-1] == "refused"  # a side 300 times the other
    assert total.split() == ["in", "all", "70", "12"]


def test_what_cannot_be_counted_is_named(run, tmp_path):
    (tmp_path / "bad.gif").write_bytes(b"GIF89a")
    status, text, err = run("count", tmp_path / "bad.gif", tmp_path / "none.png", "1080x")
    assert (status, text) == (1, "")
    assert [line.split(": ")[1] for line in err.splitlines()] == ["failed"] * 3
    assert err.splitlines()[2].endswith("1080x: no such file, and no HEIGHTxWIDTH")
    status, _, err = run("count", "10x10", "--config", tmp_path / "none")
    assert status == 2
    assert "no such folder" in err
