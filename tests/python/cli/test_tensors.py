import numpy as np
import pytest
from safetensors import safe_open

from mmcpp.cli.tensors import WRITERS, write
from samples import noise

TENSORS = {"pixel_values": np.arange(12, dtype=np.uint16).reshape(3, 4), "image_grid_thw": np.array([[1, 2, 3]])}


def test_safetensors_has_bfloat16(tmp_path):
    path = tmp_path / "a.safetensors"
    write(path, TENSORS, "bfloat16", {"note": "x"})
    with safe_open(path, "numpy") as file:
        assert file.metadata() == {"note": "x"}
        assert file.get_slice("pixel_values").get_dtype() == "BF16"
        np.testing.assert_array_equal(file.get_tensor("image_grid_thw"), TENSORS["image_grid_thw"])
    assert TENSORS["pixel_values"].tobytes() in path.read_bytes()
    other = tmp_path / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


def test_arrays_that_are_not_contiguous_are_written_in_order(tmp_path):
    path = tmp_path / "a.safetensors"
    array = noise(4, 6)[:, ::2]
    WRITERS[".safetensors"](path, {"a": array}, "uint8", {})
    with safe_open(path, "numpy") as file:
        np.testing.assert_array_equal(file.get_tensor("a"), array)


def test_npz_has_the_bits(tmp_path):
    path = tmp_path / "a.npz"
    WRITERS[".npz"](path, TENSORS, "bfloat16", {"note": "x"})
    stored = np.load(path)
    assert set(stored) == {*TENSORS, "note"}
    assert str(stored["note"]) == "x"
    for name, value in TENSORS.items():
        np.testing.assert_array_equal(stored[name], value)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch, suffix):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(OSError):
        write(folder, TENSORS, "uint8", {})
    path = tmp_path / f"old{suffix}"
    path.write_text("old")

    def run_out_of_space(path, *rest):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(WRITERS, suffix, run_out_of_space)
    with pytest.raises(OSError, match="space"):
        write(path, TENSORS, "uint8", {})
    assert path.read_text() == "old"
    assert not list(tmp_path.glob(".*"))
