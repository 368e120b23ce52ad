import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mmcpp
from mmcpp.spec import preset_spec
from samples import encode, png, smooth

safe_open = pytest.importorskip("safetensors", reason="not there without the GIL").safe_open


@pytest.fixture
def folder(tmp_path):
    """Three good pictures, one bad and one text, in two folders."""
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "b.png").write_bytes(png(60, 80))
    (tmp_path / "in" / "a.jpg").write_bytes(encode(smooth(100, 76), "JPEG"))
    (tmp_path / "in" / "deep" / "c.WEBP").write_bytes(encode(smooth(56, 56), "WEBP"))
    (tmp_path / "in" / "deep" / "bad.gif").write_bytes(b"GIF89a")
    (tmp_path / "in" / "notes.txt").write_text("no picture")
    return tmp_path


def test_one_picture_to_safetensors(run, folder):
    out, path = folder / "out.safetensors", folder / "in" / "a.jpg"
    status, text, err = run("preprocess", path, "--family", "qwen2_vl", "--out", out)
    assert (status, err) == (0, "")
    expected = mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl"))(path)
    with safe_open(out, "numpy") as file:
        assert set(file.keys()) == set(expected)
        for name, value in expected.items():
            np.testing.assert_array_equal(file.get_tensor(name), value)
        assert json.loads(file.metadata()["spec"])["patch_size"] == 14
    digest = f"{mmcpp.content_hash(path.read_bytes()):016x}"
    for shown in (
        "a.jpg",
        "jpeg",
        "100x76",
        "112x84",
        "1x8x6",
        "12",
        digest,
        "read ms",
        "hash ms",
        "decode ms",
        "process ms",
    ):
        assert shown in text


@pytest.mark.parametrize(
    ("flag", "dtype"), [("f32", "float32"), ("bf16", "bfloat16"), ("f16", "float16"), ("u8", "uint8")]
)
def test_dtypes_in_both_kinds_of_files(run, folder, flag, dtype):
    path = folder / "in" / "b.png"
    expected = mmcpp.ImageProcessor.from_spec(preset_spec("qwen3_vl"))(path, dtype=dtype)["pixel_values"]
    for name in ("out.npz", "out.safetensors"):
        status, _, _ = run("preprocess", path, "--family", "qwen3_vl", "--dtype", flag, "--out", folder / name)
        assert status == 0
    np.testing.assert_array_equal(np.load(folder / "out.npz")["pixel_values"], expected)
    with safe_open(folder / "out.safetensors", "numpy") as file:
        entry = file.get_slice("pixel_values")
        assert entry.get_dtype() == {"f32": "F32", "bf16": "BF16", "f16": "F16", "u8": "U8"}[flag]
    assert expected.tobytes() in (folder / "out.safetensors").read_bytes()


def test_a_folder_is_taken_whole_and_the_bad_picture_named(run, folder):
    out = folder / "out.npz"
    status, text, err = run("preprocess", folder / "in", "--family", "qwen2_vl", "--out", out, "--json")
    assert status == 1
    assert err == ""
    report = json.loads(text)
    names = ["a.jpg", "b.png", "c.WEBP"]
    assert [Path(p["picture"]).name for p in report["pictures"]] == names
    assert [Path(p["picture"]).name for p in report["failed"]] == ["bad.gif"]
    assert "gif" in report["failed"][0]["error"]
    processor = mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl"))
    expected = processor([folder / "in" / "a.jpg", folder / "in" / "b.png", folder / "in" / "deep" / "c.WEBP"])
    stored = np.load(out)
    for name, value in expected.items():
        np.testing.assert_array_equal(stored[name], value)
    assert [Path(p["picture"]).name for p in json.loads(str(stored["pictures"]))] == names
    first = report["pictures"][0]
    assert (first["height"], first["width"], first["seen_height"], first["seen_width"]) == (100, 76, 112, 84)
    assert (first["grid"], first["tokens"], first["format"], first["mode"]) == ([1, 8, 6], 12, "jpeg", "RGB")
    assert set(first["ms"]) == {"read", "hash", "decode", "process"}


def test_failures_are_named_on_stderr(run, folder):
    missing = folder / "none.png"
    arguments = ("preprocess", missing, folder / "in" / "deep", folder / "in" / "notes.txt", "--family", "qwen2_vl")
    status, text, err = run(*arguments, "--out", folder / "out.npz")
    assert status == 1
    assert "c.WEBP" in text
    assert [line.split(": ")[2].rsplit("/", maxsplit=1)[-1] for line in err.splitlines()] == [
        "none.png",
        "bad.gif",
        "notes.txt",
    ]


def test_nothing_good_writes_nothing(run, folder):
    (folder / "empty").mkdir()
    out = folder / "out.npz"
    status, text, err = run(
        "preprocess", folder / "empty", folder / "in" / "notes.txt", "--family", "qwen2_vl", "--out", out
    )
    assert (status, text) == (1, "")
    assert "no pictures in this folder" in err
    assert not out.exists()


@pytest.mark.parametrize("jobs", [1, 3])
def test_jobs_do_not_change_the_result(run, folder, jobs):
    out = folder / "out.npz"
    run("preprocess", folder / "in", "--family", "qwen2_vl", "--out", out, "--jobs", jobs)
    assert len(np.load(out)["image_grid_thw"]) == 3


def test_show_draws_what_the_model_sees(run, folder):
    path, seen = folder / "in" / "a.jpg", folder / "seen.png"
    arguments = ("preprocess", path, "--family", "qwen2_vl", "--out", folder / "out.npz", "--show", seen)
    assert run(*arguments)[0] == 0
    image = np.asarray(Image.open(seen))
    assert image.shape == (112 * 2, 84 * 2, 3)  # patches of 14 pixels drawn at twice their size
    resized = mmcpp.resize(mmcpp.decode_image(path), 112, 84, convention="aten_u8")
    np.testing.assert_array_equal(image[1:28:2, 1:28:2], resized[:14, :14])  # inside of the first patch
    assert (image[56, 100].astype(int) - resized[28, 50])[0] > 0  # a red line parts tokens

    assert run("preprocess", folder / "in", "--family", "qwen2_vl", "--out", folder / "out.npz", "--show", seen)[0] == 1
    assert {p.name for p in folder.glob("seen-*.png")} == {"seen-1.png", "seen-2.png", "seen-4.png"}


def test_a_checkpoint_folder_configures(run, folder):
    config = {"image_processor_type": "Qwen2VLImageProcessorPil", "patch_size": 16}
    (folder / "preprocessor_config.json").write_text(json.dumps(config))
    path = folder / "in" / "a.jpg"
    assert run("preprocess", path, "--config", folder, "--out", folder / "out.npz")[0] == 0
    expected = mmcpp.ImageProcessor.from_pretrained(folder)(path)["pixel_values"]
    np.testing.assert_array_equal(np.load(folder / "out.npz")["pixel_values"], expected)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ([], "required"),
        (["preprocess"], "required"),
        (["nosuch"], "invalid choice"),
        (["preprocess", "a.png", "--family", "qwen2_vl"], "--out"),
        (["preprocess", "a.png", "--out", "o.npz"], "--family --config"),
        (["preprocess", "a.png", "--out", "o.npz", "--family", "x"], "invalid choice"),
        (["preprocess", "a.png", "--out", "o.npz", "--family", "qwen2_vl", "--config", "."], "not allowed"),
        (["preprocess", "a.png", "--out", "o.txt", "--family", "qwen2_vl"], "FILE.safetensors, FILE.npz"),
        (["preprocess", "a.png", "--out", "none/o.npz", "--family", "qwen2_vl"], "no such folder: none"),
        (["preprocess", "a.png", "--out", "o.npz", "--family", "qwen2_vl", "--show", "x.jpg"], "--show"),
        (["preprocess", "a.png", "--out", "o.npz", "--family", "qwen2_vl", "--dtype", "f64"], "invalid choice"),
        (["preprocess", "a.png", "--out", "o.npz", "--family", "qwen2_vl", "--jobs", "0"], "--jobs"),
        (["preprocess", "a.png", "--out", "o.npz", "--config", "/nonexistent"], "no such folder"),
    ],
)
def test_usage_errors(run, arguments, match):
    status, text, err = run(*arguments)
    assert (status, text) == (2, "")
    assert match in err


def test_pictures_are_never_written_over(run, folder):
    picture = folder / "in" / "b.png"
    as_npz = folder / "in.npz"
    as_npz.write_bytes(picture.read_bytes())
    (folder / "link.png").symlink_to(picture)
    (folder / "seen-2.png").write_bytes(picture.read_bytes())
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    out, other = folder / "out.npz", folder / "in" / "a.jpg"
    for arguments in (
        [as_npz, "--out", as_npz],
        [picture, "--out", out, "--show", picture],
        [picture, "--out", out, "--show", folder / "link.png"],
        [other, folder / "seen-2.png", "--out", out, "--show", folder / "seen.png"],
    ):
        status, text, err = run("preprocess", *arguments, "--family", "qwen2_vl")
        assert (status, text) == (2, "")
        assert "is one of the pictures and would be written over" in err
    assert {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()} == before


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
def test_a_result_that_cannot_be_written_is_said_in_one_line(run, folder, suffix):
    out = folder / f"out.{suffix}"
    out.mkdir()
    status, text, err = run("preprocess", folder / "in" / "b.png", "--family", "qwen2_vl", "--out", out)
    assert (status, text) == (1, "")
    assert re.fullmatch(r"mmcpp: .*directory.*\n", err)
    assert not list(folder.glob(".*"))


def test_names_of_files_cannot_speak_to_the_terminal(run, folder):
    strange = folder / "a\x1b[31m\nb\udcff.png"
    try:
        strange.write_bytes(png(60, 80))
    except OSError:
        pytest.skip("no such name in this file system")
    status, text, err = run(
        "preprocess", strange, folder / "none\x1b[31m", "--family", "qwen2_vl", "--out", folder / "out.npz"
    )
    assert status == 1
    assert "a\\x1b[31m\\nb\\udcff.png" in text
    assert "\x1b" not in text + err
    assert len(err.splitlines()) == 1


def test_an_interrupt_ends_quietly(run, folder, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(mmcpp.ImageProcessor, "process_items", interrupt)
    out = folder / "out.npz"
    status, text, err = run("preprocess", folder / "in", "--family", "qwen2_vl", "--out", out)
    assert (status, text, err) == (130, "", "mmcpp: interrupted\n")
    assert not out.exists()


@pytest.mark.parametrize(("kind", "message"), [("pipe", ""), ("full", "mmcpp: [Errno 28] No space left on device\n")])
@pytest.mark.parametrize("command", ["info", "preprocess"])
def test_an_output_that_takes_nothing_is_no_traceback(folder, kind, message, command):
    arguments = ["info"]
    if command == "preprocess":
        arguments = ["preprocess", folder / "in" / "b.png", "--family", "qwen2_vl", "--out", folder / "out.npz"]
    if kind == "pipe":
        reader, output = os.pipe()
        os.close(reader)
    elif Path("/dev/full").exists():
        output = os.open("/dev/full", os.O_WRONLY)
    else:
        pytest.skip("no /dev/full")
    try:
        result = subprocess.run(
            [sys.executable, "-m", "mmcpp", *arguments], stdout=output, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(output)
    assert (result.returncode, result.stderr) == (1, message)


def test_help_has_examples(run):
    status, text, _ = run("preprocess", "--help")
    assert status == 0
    assert "examples:" in text
    assert "exit status:" in text
    assert run("--version") == (0, f"mmcpp {mmcpp.__version__}\n", "")


def test_a_missing_package_is_named(folder):
    code = "import sys; sys.modules['rich'] = None; from mmcpp.cli import main; sys.exit(main())"
    arguments = ["preprocess", str(folder / "in" / "a.jpg"), "--family", "qwen2_vl", "--out", str(folder / "o.npz")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'mmcpp[cli]'" in done.stderr
    done = subprocess.run([sys.executable, "-c", code, "info"], capture_output=True, text=True, check=False)
    assert done.returncode == 0


def test_the_module_runs(folder):
    command = [
        sys.executable,
        "-m",
        "mmcpp",
        "preprocess",
        folder / "in",
        "--family",
        "qwen2_vl",
        "--out",
        folder / "o.npz",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1 + 3 + 1  # header, a line each, the summary; no bar, no colours
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr.startswith("mmcpp: failed: ")


def test_photographs_of_scikit_image(run, tmp_path):
    skimage = pytest.importorskip("skimage", reason="its package ships photographs")
    data = Path(skimage.__file__).parent / "data"
    status, text, _ = run("preprocess", data, "--family", "qwen3_vl", "--out", tmp_path / "o.safetensors", "--json")
    report = json.loads(text)
    assert status == 0, report["failed"]
    assert len(report["pictures"]) >= 5
    for record in report["pictures"]:
        pixels = mmcpp.decode_image(Path(record["picture"]))
        with Image.open(record["picture"]) as image:
            np.testing.assert_array_equal(pixels, np.asarray(image.convert("RGB")))
