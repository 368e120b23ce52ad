import numpy as np
import pytest

from mmcpp.mrope import MropeItem, mrope_positions

VIDEO = MropeItem(1, 10, (10, 2, 4), temporal_merge=2, time_step=1.5)


def test_a_video_between_texts():
    positions, delta = mrope_positions(12, [VIDEO], 2)
    assert positions.dtype == np.int64
    assert positions.tolist() == [
        [0, 1, 1, 2, 2, 4, 4, 5, 5, 7, 7, 3],
        [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3],
        [0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3],
    ]
    assert delta == 8 - 12


def test_text_alone():
    positions, delta = mrope_positions(3, [], 2)
    assert positions.tolist() == [[0, 1, 2]] * 3
    assert delta == 0


@pytest.mark.parametrize(
    ("length", "items", "merge", "message"),
    [
        (10, [VIDEO], 2, r"item range \(1,10\) out of order/bounds"),
        (12, [VIDEO, VIDEO], 2, r"item range \(1,10\) out of order/bounds"),
        (12, [VIDEO], 1, "token span does not match grid"),
        (12, [MropeItem(0, 0, (1, 2, 2), temporal_merge=0)], 2, "temporal_merge must be positive, got 0"),
        (12, [MropeItem(0, 0, (1, 2, 2), time_step=float("nan"))], 2, "a time step of nan for 1 steps"),
        (12, [], 0, "merge_size must be positive, got 0"),
    ],
)
def test_refusals(length, items, merge, message):
    with pytest.raises(ValueError, match=f"^mrope: {message}$"):
        mrope_positions(length, items, merge)


def test_numbers_that_do_not_fit():
    for item in (MropeItem(-1, 0, (1, 2, 2)), MropeItem(0, 2**32, (1, 2, 2)), MropeItem(0, 0, (1, 2, "2"))):
        with pytest.raises(TypeError):
            mrope_positions(3, [item], 2)
