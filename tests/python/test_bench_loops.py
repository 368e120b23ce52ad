"""The loops of bench/python/loops.py: few and small pictures, and what becomes of a difference."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="the loops compare with transformers 5.24")
pytest.importorskip("torch", reason="the loops use its DataLoader")
BENCH = Path(__file__).resolve().parents[2] / "bench" / "python"
SMALL = ["--backend=pil", "--pictures=5", "--timed=2", "--longest=96", "--rounds=1", "--batch=2"]


@pytest.fixture
def loops(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setenv("MMCPP_THREADS", "1")
    ours = sys.modules.pop("pictures", None)  # the tests have a module of that name too
    import loops

    sys.modules.pop("pictures", None)
    if ours is not None:
        sys.modules["pictures"] = ours

    return loops


def test_both_loops_compare_before_they_time(loops, tmp_path, capsys):
    loops.main([*SMALL, "--filter=CLIP", f"--folder={tmp_path}", f"--json={tmp_path / 'out.json'}"])
    out, err = capsys.readouterr()
    assert "CLIP, training: 3 tensors are the same" in err  # batches of two
    assert "CLIP, serving: 5 tensors are the same" in err
    assert out.startswith("| loop ") and "5 pictures compared, 2 timed" in out
    assert len(list((tmp_path / "loops_96").glob("*.jpg"))) == 5
    assert (tmp_path / "out.json").exists()


@pytest.mark.parametrize("loop", ["training", "serving"])
def test_a_tensor_that_differs_ends_the_program(loops, tmp_path, monkeypatch, loop):
    accelerate = loops.accelerate

    def other(processor, **arguments):
        ours = accelerate(processor, **arguments)
        ours.image_mean = np.add(ours.image_mean, 0.001).tolist()
        return ours

    monkeypatch.setattr(loops, "accelerate", other)
    with pytest.raises(SystemExit, match=f"CLIP, {loop}: other tensors"):
        loops.main([*SMALL, f"--filter=CLIP, {loop}", f"--folder={tmp_path}"])
