"""M-RoPE positions against `get_rope_index` of the models in transformers 5.24, on random mixes of text
and pictures. No weights are made: the method only reads its model's configuration."""

import importlib
import random
from types import SimpleNamespace

import numpy as np
import pytest

from mmcpp import _mmcpp, qwen_vl

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
torch = pytest.importorskip("torch", reason="get_rope_index is torch code")

MODELS = {
    "qwen2_vl": "Qwen2VLModel",
    "qwen2_5_vl": "Qwen2_5_VLModel",
    "qwen3_vl": "Qwen3VLModel",
    "qwen3_5": "Qwen3_5Model",
    "glm4v": "Glm4vModel",
    "glm46v": "Glm46VModel",
    "paddleocr_vl": "PaddleOCRVLModel",
    "ernie4_5_vl_moe": "Ernie4_5_VLMoeModel",
    "cosmos3_omni": "Cosmos3OmniModel",
    "qwen4_exp": "Qwen4ExpModel",
}
MIXES = 80
IMAGE = 1  # mm_token_type_ids of a picture's tokens


def random_mix(seed: int) -> tuple[int, list[tuple[int, int, int, int, int]], int]:
    """Length, items (first, last, t, h, w) and merge size. Text stands between any two pictures, as it does in every
    prompt: transformers tells neighbours apart by it."""
    choose = random.Random(seed)
    merge = choose.choice([1, 2, 2, 2, 3])
    length = choose.randrange(4)
    items = []
    for _ in range(choose.randrange(5)):
        rows, columns = choose.choice([(1, 1), (1, 9), (9, 1)] + [(choose.randint(1, 12), choose.randint(1, 12))] * 3)
        tokens = rows * columns
        items.append((length, length + tokens - 1, 1, rows * merge, columns * merge))
        length += tokens + choose.randint(1, 20)
    if not items:
        length += 1
    return length, items, merge


def positions_of_transformers(model: str, length: int, items, merge: int) -> tuple[np.ndarray, int]:
    module = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
    cls = getattr(module, MODELS[model])
    config = SimpleNamespace(
        vision_config=SimpleNamespace(spatial_merge_size=merge, tokens_per_second=2, temporal_merge_size=2)
    )
    this = SimpleNamespace(config=config)
    this.get_vision_position_ids = cls.get_vision_position_ids.__get__(this)
    types = torch.zeros(1, length, dtype=torch.int32)
    for first, last, *_ in items:
        types[0, first : last + 1] = IMAGE
    grids = torch.tensor([item[2:] for item in items], dtype=torch.long) if items else None
    ids = torch.zeros(1, length, dtype=torch.long)
    positions, deltas = cls.get_rope_index(this, ids, types, image_grid_thw=grids)
    return positions[:, 0].numpy(), int(deltas[0])


@pytest.mark.parametrize("model", MODELS)
def test_positions_equal_those_of_transformers(model: str) -> None:
    pictures = 0
    for seed in range(MIXES):
        length, items, merge = random_mix(seed)
        expected, expected_delta = positions_of_transformers(model, length, items, merge)
        flat, delta = qwen_vl.mrope_image_only_py(length, items, merge)
        assert flat.dtype == np.int64
        np.testing.assert_array_equal(flat.reshape(3, length), expected, err_msg=f"seed {seed}")
        assert delta == expected_delta, seed
        pictures += len(items)
    assert pictures > MIXES  # the mixes are no texts


@pytest.mark.parametrize("axes", [3, 4])
@pytest.mark.parametrize("extra", [0, 2])
def test_xdrope_equals_that_of_hunyuan_vl(axes: int, extra: int) -> None:
    module = importlib.import_module("transformers.models.hunyuan_vl.modeling_hunyuan_vl")
    pictures = 0
    for seed in range(MIXES):
        choose = random.Random(seed)
        merge = choose.choice([1, 2])
        counts = [(choose.randint(1, 9), choose.randint(1, 9)) for _ in range(choose.randrange(5))]
        types, items, grids = [0] * choose.randrange(4), [], []
        for rows, columns in counts:
            tokens = rows * (columns + 1) + extra
            items.append((len(types), len(types) + tokens - 1))
            grids.append((1, rows * merge, columns * merge))
            types += [IMAGE] * tokens + [0] * choose.randint(1, 9)
        types = types[: items[-1][1] + 1] if items and seed % 3 == 0 else types or [0]
        text = SimpleNamespace(rope_parameters={"mrope_section": [16] * axes})
        vision = SimpleNamespace(spatial_merge_size=merge)
        this = SimpleNamespace(config=SimpleNamespace(text_config=text, vision_config=vision))
        this.get_vision_position_ids = module.HunYuanVLModel.get_vision_position_ids.__get__(this)
        expected, deltas = module.HunYuanVLModel.get_rope_index(
            this,
            torch.zeros(1, len(types), dtype=torch.long),
            torch.tensor([types]),
            image_grid_thw=torch.tensor(grids, dtype=torch.long) if grids else None,
        )
        positions, delta = _mmcpp.xdrope_positions(len(types), items, grids, merge, axes)
        np.testing.assert_array_equal(positions, expected[:, 0].numpy(), err_msg=f"seed {seed}")
        assert delta == int(deltas[0]), seed
        pictures += len(items)
    assert pictures > MIXES


def test_a_wrong_position_would_be_seen() -> None:
    length, items, merge = 10, [(2, 7, 1, 4, 6)], 2
    expected, _ = positions_of_transformers("qwen2_vl", length, items, merge)
    flat, _ = qwen_vl.mrope_image_only_py(length, [(3, 8, 1, 4, 6)], merge)
    assert not np.array_equal(flat.reshape(3, length), expected)
