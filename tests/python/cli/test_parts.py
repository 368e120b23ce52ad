import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mmcpp
from mmcpp.cli import parts
from mmcpp.cli.tensors import read_metadata
from mmcpp.spec import preset_spec
from samples import png


@pytest.fixture
def folder(tmp_path):
    """Five good pictures and a bad one, the fourth."""
    (tmp_path / "in").mkdir()
    for index in range(6):
        (tmp_path / "in" / f"{index}.png").write_bytes(b"no picture" if index == 3 else png(40 + index, 60))
    return tmp_path


def arguments(folder, *more):
    out = folder / "out"
    return ("preprocess", folder / "in", "--family", "qwen2_vl", "--out", out, "--part", "2", "--format", "npz", *more)


def test_parts_have_the_pictures_in_order(run, folder):
    status, text, err = run(*arguments(folder))
    assert status == 1
    assert "3.png" in err
    assert "wrote" in text
    out = folder / "out"
    assert sorted(path.name for path in out.iterdir()) == ["part-00000.npz", "part-00001.npz", "part-00002.npz"]
    processor = mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl"))
    for index, members in enumerate([(0, 1), (2,), (4, 5)]):
        expected = processor([folder / "in" / f"{member}.png" for member in members])
        stored = np.load(out / f"part-0000{index}.npz")
        for name, value in expected.items():
            np.testing.assert_array_equal(stored[name], value)
    assert [one["picture"] for one in json.loads(read_metadata(out / "part-00001.npz")["failed"])] == [
        str(folder / "in" / "3.png")
    ]


def test_a_second_run_makes_what_is_missing_and_nothing_twice(run, folder):
    run(*arguments(folder))
    whole = {path: path.read_bytes() for path in (folder / "out").iterdir()}
    (folder / "out" / "part-00002.npz").unlink()
    before = {path: path.stat().st_mtime_ns for path in (folder / "out").iterdir()}
    status, text, _ = run(*arguments(folder, "--json"))
    report = json.loads(text)
    assert status == 1  # the bad picture of the part that was kept is named again
    assert [path.rsplit("/", maxsplit=1)[-1] for path in report["kept"]] == ["part-00000.npz", "part-00001.npz"]
    assert [one["picture"][-5:] for one in report["pictures"]] == ["4.png", "5.png"]
    assert [one["picture"][-5:] for one in report["failed"]] == ["3.png"]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    stored = {path: path.read_bytes() for path in (folder / "out").iterdir()}
    assert stored.keys() == whole.keys()
    for path in whole:
        with np.load(path) as now:
            assert set(now.files) >= {"pixel_values", "key"}
    status, text, err = run(*arguments(folder))
    assert "kept 3 parts of an earlier run: 5 pictures" in text
    assert "3.png" in err


@pytest.mark.parametrize("change", ["dtype", "picture", "order", "damage"])
def test_parts_of_another_run_are_never_taken_or_written_over(run, folder, change):
    run(*arguments(folder))
    more = []
    if change == "dtype":
        more = ["--dtype", "u8"]
    elif change == "picture":
        (folder / "in" / "0.png").write_bytes(png(41, 61))
    elif change == "order":
        (folder / "in" / "00.png").write_bytes(png(41, 61))
    else:
        (folder / "out" / "part-00000.npz").write_bytes(b"no zip")
    before = {path: path.read_bytes() for path in (folder / "out").iterdir()}
    status, text, err = run(*arguments(folder, *more))
    assert (status, text) == (2, "")
    assert "part-00000.npz is there already" in err
    assert {path: path.read_bytes() for path in (folder / "out").iterdir()} == before


def test_a_run_that_is_killed_is_gone_on_with(run, folder):
    for index in range(10, 60):
        (folder / "in" / f"{index}.png").write_bytes(png(400, 600))
    command = [sys.executable, "-m", "mmcpp", *map(str, arguments(folder, "--jobs", "1"))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while process.poll() is None and not list(folder.glob("out/part-*")) and time.monotonic() < deadline:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = len(list(folder.glob("out/part-*")))
    assert 0 < finished < 28, "it was not killed in the middle"
    _, text, _ = run(*arguments(folder, "--json"))
    report = json.loads(text)
    assert len(report["kept"]) == finished
    assert len(report["pictures"]) == 56 - 1 - sum(
        len(json.loads(read_metadata(path)["pictures"])) for path in map(folder.joinpath, report["kept"])
    )
    names = [json.loads(read_metadata(path)["pictures"]) for path in sorted(folder.glob("out/part-*.npz"))]
    assert len({one["picture"] for part in names for one in part}) == sum(map(len, names)) == 55


@pytest.mark.parametrize(
    ("more", "match"),
    [
        (["--part", "0"], "--part: expected 1 or more"),
        (["--out", "o.npz", "--format", "npz"], "--format: of parts"),
        (["--part", "1", "--format", "txt"], "invalid choice"),
    ],
)
def test_usage_errors(run, folder, monkeypatch, more, match):
    monkeypatch.chdir(folder)
    status, text, err = run("preprocess", "in", "--family", "qwen2_vl", "--out", "out", *more)
    assert (status, text) == (2, "")
    assert match in err


def test_a_file_where_the_folder_should_be(run, folder):
    (folder / "out").write_bytes(b"")
    status, _, err = run(*arguments(folder))
    assert status == 2
    assert "a folder" in err


def test_one_file_is_never_gone_on_with(tmp_path):
    (part,) = parts.of_one(tmp_path / "o.npz", [tmp_path / "a.png"], [None])
    (tmp_path / "o.npz").write_bytes(b"old")
    assert part.finished() is None
