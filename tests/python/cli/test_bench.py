import json

import pytest

from samples import encode, smooth

pytestmark = pytest.mark.hf


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("transformers", reason="is what it compares with")
    (tmp_path / "a.jpg").write_bytes(encode(smooth(100, 76), "JPEG"))
    (tmp_path / "b.png").write_bytes(encode(smooth(60, 90)))
    return tmp_path


def test_sides_are_compared_and_timed(run, folder):
    status, text, err = run("bench", folder, "--family", "qwen2_vl", "--rounds", "1", "--backend", "pil", "--json")
    assert (status, err) == (0, "")
    report = json.loads(text)
    assert (report["pictures"], report["backend"], report["failed"]) == (2, "pil", [])
    assert list(report["ms"]) == ["mmcpp", "transformers", "decode: mmcpp", "decode: Pillow"]
    status, text, _ = run("bench", folder, "--family", "qwen2_vl", "--rounds", "1", "--backend", "pil", "--most", "1")
    assert "1 pictures, equal tensors; pil arithmetic" in text
    assert "times mmcpp's" in text


def test_what_differs_is_not_timed(run, folder):
    status, text, err = run("bench", folder, "--family", "qwen2_vl", "--backend", "pil", "--profile", "vllm")
    assert (status, err) == (0, "")
    turned = folder / "turned"
    turned.mkdir()
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    (turned / "c.jpg").write_bytes(encode(smooth(40, 90), "JPEG", exif=exif))
    arguments = ("bench", turned, "--family", "qwen2_vl", "--backend", "pil")
    assert run(*arguments)[0] == 0
    status, text, err = run(*arguments, "--profile", "vllm")
    assert (status, text) == (1, "")
    assert "transformers gives another pixel_values, image_grid_thw" in err


def test_usage_errors(run, folder):
    for arguments in (["--rounds", "0"], ["--most", "0"]):
        assert run("bench", folder, "--family", "qwen2_vl", *arguments)[0] == 2
