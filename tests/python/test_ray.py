"""What mmcpp.ray makes of columns and rows, without ray; test_ray_cluster has it in Ray Data."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mmcpp
from mmcpp.ray import MapBatches, Transform
from samples import SPEC, encode, noise, png, smooth

JPEG = encode(smooth(90, 120), "JPEG")
PICTURES = [png(70, 50), JPEG, noise(56, 56)]
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "families.json").read_text(encoding="utf-8"))["cases"]
SEVERAL = {"global_size", "high_res_size"}  # keys of specs whose pictures have several features
ONE = [case["spec"] for case in GOLDEN if not SEVERAL & case["spec"].keys()]
SPECS = list({(spec["family"], spec.get("size_rule")): spec for spec in ONE}.values())
IDS = [spec["family"] + spec.get("size_rule", "") for spec in SPECS]


def cells(*values: object) -> np.ndarray:
    """A column as Ray Data hands it over."""
    column = np.empty(len(values), object)
    for i, value in enumerate(values):
        column[i] = value
    return column


def assert_same(got: dict[str, Any], want: dict[str, Any]) -> None:
    assert got.keys() >= want.keys()
    for name, array in want.items():
        assert got[name].dtype == array.dtype and got[name].shape == array.shape, name
        assert got[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_rows_are_what_an_image_processor_gives(spec: dict[str, Any]) -> None:
    processor = mmcpp.ImageProcessor.from_spec(spec)
    rows = [PICTURES[0], PICTURES[:2], cells(*PICTURES), PICTURES[2]]
    batch = MapBatches(spec, images="image")({"image": cells(*rows), "key": np.arange(4)})
    assert batch["key"].tolist() == [0, 1, 2, 3] and "image" not in batch
    for i, row in enumerate(rows):
        pictures = (
            list(row) if isinstance(row, list) or (isinstance(row, np.ndarray) and row.dtype == object) else [row]
        )
        assert_same({name: column[i] for name, column in batch.items()}, processor(pictures))
        assert batch["tokens"][i] == sum(item.plan.tokens for item in processor.process_items(pictures).items)


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_prompts_bring_ids_ranges_and_positions(spec: dict[str, Any]) -> None:
    token = spec["image_token_id"]
    pipeline, processor = mmcpp.Pipeline.from_spec(spec), mmcpp.ImageProcessor.from_spec(spec)
    rows, prompts = [PICTURES[:2], PICTURES[1]], [[11, token, 12, token, 13], [14, token]]
    mapper = MapBatches(spec, images="image", input_ids="ids")
    batch = mapper({"image": cells(*rows), "ids": cells(*map(np.array, prompts))})
    assert batch["ids"][1].tolist() == prompts[1], "the prompt stays as it was"
    for i, (row, prompt) in enumerate(zip(rows, prompts, strict=True)):
        pictures = row if isinstance(row, list) else [row]
        got = {name: column[i] for name, column in batch.items()}
        want = pipeline.process(input_ids=prompt, images=pictures)
        expected = {"input_ids": want.input_ids, "offsets": np.array(want.offsets, np.int64)}
        if want.positions is not None:
            expected |= {"positions": want.positions, "position_delta": np.array(want.position_delta)}
        assert_same(got, expected | processor(pictures))


def test_cells_of_one_shape_are_one_array() -> None:
    batch = MapBatches(SPEC)({"bytes": cells(JPEG, JPEG)})
    assert batch["pixel_values"].shape == (2, 48, 1176) and batch["pixel_values"].dtype == np.float32
    assert batch["image_grid_thw"].shape == (2, 1, 3)
    assert MapBatches(SPEC, dtype="bfloat16")({"bytes": cells(JPEG)})["pixel_values"].dtype == np.uint16


def test_no_rows() -> None:
    assert MapBatches(SPEC)({"bytes": cells(), "key": np.array([])}).keys() == {"key"}


BAD = [
    (b"no picture", "UnsupportedError: "),
    (JPEG[:200], "DecodeError: "),
    (None, "TypeError: "),
    ([], "ValueError: "),
    ([JPEG, b"GIF"], "UnsupportedError: image 1"),
    (Path("/no/such/file"), "FileNotFoundError: "),
    ("/etc/passwd", "TypeError: "),
    ("https://example.org/a.png", "TypeError: "),
    (noise(1, 300), "ValueError: "),
]


@pytest.mark.parametrize(("picture", "message"), BAD)
def test_a_bad_row_harms_no_other(picture: object, message: str) -> None:
    good = MapBatches(SPEC)({"bytes": cells(JPEG)})
    batch = MapBatches(SPEC, errors="column")({"bytes": cells(JPEG, picture, JPEG)})
    assert batch["error"][0] == batch["error"][2] == "" and batch["error"][1].startswith(message)
    for i in (0, 2):
        assert_same({n: c[i] for n, c in batch.items()}, {n: c[0] for n, c in good.items() if n != "tokens"})
    assert batch["pixel_values"][1].shape == (0, 1176) and batch["image_grid_thw"][1].tolist() == [[0, 0, 0]]
    with pytest.raises((ValueError, TypeError, OSError)):
        MapBatches(SPEC)({"bytes": cells(JPEG, picture)})


def test_a_bad_prompt_is_its_row_s_error() -> None:
    mapper = MapBatches(SPEC, input_ids="ids", errors="column")
    batch = mapper({"bytes": cells(JPEG, JPEG), "ids": np.array([[1, 5, 2], [1, 5, 5]])})
    assert batch["error"][0] == "" and batch["error"][1].startswith("ValueError: ")
    assert [p.shape[0] for p in batch["positions"]] == [3, 3] and batch["positions"][1].shape == (3, 0)
    assert [o.shape for o in batch["offsets"]] == [(1, 2), (0, 2)] and batch["input_ids"][1].shape == (0,)


def test_paths_are_read_if_told_so(tmp_path: Path) -> None:
    file = tmp_path / "a.jpg"
    file.write_bytes(JPEG)
    batch = MapBatches(SPEC, images="path", paths=True)({"path": np.array([str(file), str(file)])})
    assert_same(
        {"pixel_values": batch["pixel_values"][0]},
        {"pixel_values": mmcpp.ImageProcessor.from_spec(SPEC)(JPEG)["pixel_values"]},
    )


def test_arguments() -> None:
    with pytest.raises(ValueError, match='expected "raise" or "column", got "skip"|got \'skip\''):
        MapBatches(SPEC, errors="skip")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="bytes"):
        MapBatches(SPEC)({"image": cells(JPEG)})


@pytest.mark.parametrize("kind", [MapBatches, Transform])
def test_pickles(kind: type) -> None:
    pytest.importorskip("torch")
    made = kind(SPEC, errors="column")
    again = pickle.loads(pickle.dumps(made))
    sample = {"bytes": cells(JPEG)} if kind is MapBatches else JPEG
    want, got = made(sample), again(sample)
    assert want.keys() == got.keys() and np.array_equal(want["pixel_values"], got["pixel_values"])


class Pictures:
    """A Dataset with a transform."""

    def __init__(self, transform: Transform) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.transform({"key": index, "bytes": b"cut" if index == 4 else png(40 + index, 60), "ids": [1, 5, 2]})


def alone(samples: list[Any]) -> Any:
    return samples[0]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_in_a_data_loader(start: str) -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader

    dataset = Pictures(Transform(SPEC, input_ids="ids", dtype="bfloat16", errors="column"))
    here = [dataset[i] for i in range(len(dataset))]  # threads are started before the fork, too
    there = list(DataLoader(dataset, num_workers=1, multiprocessing_context=start, collate_fn=alone))
    assert len(there) == len(here)
    for got, want in zip(there, here, strict=True):
        assert got.keys() == want.keys() and got["key"] == want["key"] and got["error"] == want["error"]
        assert got["pixel_values"].dtype == torch.bfloat16
        for name in ("pixel_values", "image_grid_thw", "tokens", "input_ids", "offsets", "positions", "position_delta"):
            assert torch.equal(got[name], want[name]), name
    assert [bool(row["error"]) for row in there] == [False] * 4 + [True, False]


def test_a_transform_takes_a_picture_alone() -> None:
    torch = pytest.importorskip("torch")
    got = Transform(SPEC)(JPEG)
    want = mmcpp.ImageProcessor.from_spec(SPEC)(JPEG, return_tensors="pt")
    assert got.keys() == want.keys() | {"tokens"}
    assert all(torch.equal(got[name], want[name]) for name in want)


def test_families_of_several_features_are_refused():
    spec = next(case["spec"] for case in GOLDEN if "global_size" in case["spec"])
    with pytest.raises(mmcpp.UnsupportedError, match="global_tiles with several features"):
        MapBatches(spec)
