"""mmcpp.ray in Ray Data on a local cluster: equal bytes, errors as a column, and each row once though a worker dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.ray import MapBatches
from samples import SPEC, png

pytest.importorskip("ray", reason="ray is not installed: pip install 'mmcpp[ray]', or ./dev scale")
pytest.importorskip("pandas", reason="Ray Data needs pandas")

import ray
import ray.data

ROWS = 24


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    runtime = {"env_vars": {"MMCPP_THREADS": "1", "PYTHONPATH": paths}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=runtime)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    yield
    ray.shutdown()


def rows(bad: int | None = None) -> list[dict[str, Any]]:
    """Pictures of several sizes; the token 5 is the placeholder."""
    return [
        {"key": i, "bytes": b"GIF" if i == bad else png(40 + i % 5, 60 + i), "ids": [1, 5, *range(i % 3)]}
        for i in range(ROWS)
    ]


def dataset(bad: int | None = None) -> ray.data.Dataset:
    return ray.data.from_items(rows(bad), override_num_blocks=6)


def assert_each_row_once(got: list[dict[str, Any]], bad: int | None = None, **options: Any) -> None:
    mapper = MapBatches(SPEC, **options)
    assert sorted(row["key"] for row in got) == list(range(ROWS))
    for row in got:
        source = rows(bad)[row["key"]]
        cells = {name: np.empty(1, object) for name in source}
        for name, value in source.items():
            cells[name][0] = value
        for name, column in mapper(cells).items():
            want, have = np.asarray(column[0]), np.asarray(row[name])
            assert have.shape == want.shape and have.tobytes() == np.asarray(want, have.dtype).tobytes(), (
                row["key"],
                name,
            )


def test_workers_give_the_bytes_of_one_process() -> None:
    options = {"input_ids": "ids", "dtype": "bfloat16"}
    mapped = dataset().map_batches(
        MapBatches,
        fn_constructor_args=(SPEC,),
        fn_constructor_kwargs=options,
        compute=ray.data.ActorPoolStrategy(size=2),
        batch_size=4,
    )
    assert_each_row_once(mapped.take_all(), **options)


def test_errors_are_a_column_of_every_block() -> None:
    options = {"errors": "column"}
    mapped = dataset(bad=7).map_batches(MapBatches(SPEC, **options), batch_size=4)  # an instance: tasks, no actors
    got = mapped.take_all()
    assert_each_row_once(got, bad=7, **options)
    assert [row["key"] for row in got if row["error"]] == [7]


def test_a_bad_picture_ends_the_job_otherwise() -> None:
    with pytest.raises(Exception, match="UnsupportedError|cannot identify|GIF"):
        dataset(bad=7).map_batches(MapBatches(SPEC), batch_size=4).materialize()


class Dying(MapBatches):
    """Is killed once, when the work on row 13 is done and has not been handed over."""

    def __init__(self, folder: str, spec: dict[str, Any]) -> None:
        super().__init__(spec)
        self.folder = Path(folder)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        done = super().__call__(batch)
        with (self.folder / f"pid-{os.getpid()}").open("a") as file:
            file.writelines(f"{key}\n" for key in batch["key"])
        if 13 in batch["key"] and not (self.folder / "killed").exists():
            (self.folder / "killed").write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return done


def test_each_row_is_there_once_though_a_worker_is_killed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    mapped = dataset().map_batches(
        Dying, fn_constructor_args=(str(tmp_path), SPEC), compute=ray.data.ActorPoolStrategy(size=2), batch_size=2
    )
    mapped.write_parquet(str(tmp_path / "out"))
    killed = (tmp_path / "killed").read_text()
    worked = {path.name.removeprefix("pid-"): path.read_text().split() for path in tmp_path.glob("pid-*")}
    assert "13" in worked[killed]
    assert any("13" in keys for pid, keys in worked.items() if pid != killed), "done again by another process"
    assert_each_row_once(ray.data.read_parquet(str(tmp_path / "out")).take_all())
