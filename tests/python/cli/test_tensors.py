import dataclasses

import numpy as np
import pytest

from mmcpp.cli.tensors import WRITERS, Pictures, read_metadata, write
from samples import noise

safe_open = pytest.importorskip("safetensors", reason="not there without the GIL").safe_open

TWO = Pictures(
    names=["a.png", "b.png"],
    hashes=["00ff", "ff00"],
    tokens=[2, 1],
    feature_name="pixel_values",
    features=[
        {"pixel_values": np.arange(8, dtype=np.uint16).reshape(2, 4)},
        {"pixel_values": np.arange(4, dtype=np.uint16).reshape(1, 4)},
    ],
    aux={"image_grid_thw": [np.array([1, 2, 1]), np.array([1, 1, 1])]},
)
NONE = Pictures([], [], [], "pixel_values", [], {})
JOINED = {
    "pixel_values": np.concatenate([features["pixel_values"] for features in TWO.features]),
    "image_grid_thw": np.array([[1, 2, 1], [1, 1, 1]]),
}


def test_safetensors_has_bfloat16(tmp_path):
    path = tmp_path / "a.safetensors"
    write(path, TWO, "bfloat16", {"note": "x"})
    with safe_open(path, "numpy") as file:
        assert file.metadata() == {"note": "x"}
        assert file.get_slice("pixel_values").get_dtype() == "BF16"
        np.testing.assert_array_equal(file.get_tensor("image_grid_thw"), JOINED["image_grid_thw"])
    assert JOINED["pixel_values"].tobytes() in path.read_bytes()
    other = tmp_path / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode


def test_features_that_are_not_contiguous_are_written_in_order(tmp_path):
    features = [noise(4, 6)[:, ::2], noise(2, 3, seed=1)]
    odd = dataclasses.replace(TWO, features=[{"pixel_values": feature} for feature in features])
    write(tmp_path / "a.safetensors", odd, "uint8", {})
    with safe_open(tmp_path / "a.safetensors", "numpy") as file:
        np.testing.assert_array_equal(file.get_tensor("pixel_values"), np.concatenate(features))


def test_features_of_other_sides_are_filled_with_zeros():
    features = [np.ones((1, 3, 2, 5), np.uint8), np.ones((2, 3, 4, 1), np.uint8)]
    given = dataclasses.replace(TWO, features=[{"pixel_values": feature} for feature in features])
    joined = given.tensors()["pixel_values"]
    assert joined.shape == (3, 3, 4, 5)
    assert joined.sum() == 3 * 2 * 5 + 2 * 3 * 4
    np.testing.assert_array_equal(joined[:1, :, :2], features[0])
    np.testing.assert_array_equal(joined[1:, :, :, :1], features[1])


def test_pictures_of_several_features():
    tiles = np.ones((2, 3, 4, 4), np.uint8)
    given = [{"pixel_values": tiles[:1]}, {"pixel_values": tiles[1:], "images_crop": tiles}]
    tensors = dataclasses.replace(TWO, features=given, aux={}).tensors()
    assert {name: len(value) for name, value in tensors.items()} == {"pixel_values": 2, "images_crop": 2}


def test_features_and_what_is_beside_them_may_be_joined_otherwise():
    strips = [np.arange(12).reshape(1, 3, 4), np.arange(6).reshape(1, 3, 2)]
    sizes = [np.array([[1, 2], [3, 4]]), np.array([[5, 6]])]
    pictures = dataclasses.replace(
        TWO,
        features=[{"pixel_values": strip} for strip in strips],
        aux={"sizes": sizes},
        pack_axis=2,
        joined_aux=["sizes"],
    )
    tensors = pictures.tensors()
    np.testing.assert_array_equal(tensors["pixel_values"], np.concatenate(strips, axis=2))
    np.testing.assert_array_equal(tensors["sizes"], [[1, 2], [3, 4], [5, 6]])


def test_npz_has_the_bits(tmp_path):
    path = tmp_path / "a.npz"
    write(path, TWO, "bfloat16", {"note": "x"})
    stored = np.load(path)
    assert set(stored) == {*JOINED, "note"}
    for name, value in JOINED.items():
        np.testing.assert_array_equal(stored[name], value)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_row_a_picture(tmp_path, suffix):
    pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    import pyarrow.parquet as pq

    path = tmp_path / f"a{suffix}"
    write(path, TWO, "bfloat16", {"note": "x"})
    table = pq.read_table(path) if suffix == ".parquet" else pa.ipc.open_file(str(path)).read_all()
    rows = table.to_pylist()
    assert [(row["picture"], row["hash"], row["tokens"]) for row in rows] == [
        ("a.png", "00ff", 2),
        ("b.png", "ff00", 1),
    ]
    for row, features, grid in zip(rows, TWO.features, TWO.aux["image_grid_thw"], strict=True):
        feature = features["pixel_values"]
        assert row["pixel_values"] == feature.tobytes()
        assert row["pixel_values_shape"] == list(feature.shape)
        assert row["pixel_values_dtype"] == "bfloat16"
        assert row["image_grid_thw"] == grid.tolist()


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("pictures", [TWO, NONE], ids=["two", "none"])
def test_metadata_is_read_back(tmp_path, suffix, pictures):
    if suffix in (".parquet", ".arrow"):
        pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    path = tmp_path / f"a{suffix}"
    write(path, pictures, "bfloat16", {"note": "x", "other": "ä"})
    assert read_metadata(path) == {"note": "x", "other": "ä"}
    path.write_bytes(path.read_bytes()[:10])
    with pytest.raises((OSError, ValueError)):
        read_metadata(path)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch, suffix):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(OSError):
        write(folder, TWO, "uint8", {})
    path = tmp_path / f"old{suffix}"
    path.write_text("old")

    def run_out_of_space(path, *rest):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(WRITERS, suffix, run_out_of_space)
    with pytest.raises(OSError, match="space"):
        write(path, TWO, "uint8", {})
    assert path.read_text() == "old"
    assert not list(tmp_path.glob(".*"))
