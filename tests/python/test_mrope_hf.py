"""M-RoPE positions against `get_rope_index` of the models in transformers 5.24, on random mixes of text
and pictures. No weights are made: the method only reads its model's configuration."""

import importlib
import random
from types import SimpleNamespace

import numpy as np
import pytest

import mmcpp
from mmcpp import _mmcpp, mrope, qwen_vl

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
CANVAS = {"image_start": 11, "image_end": 12, "slice_start": 13, "slice_end": 14, "newline": 15}
"""Marks of MiniCPM-V 4.7, by transformers' names of them."""
PAD = 10  # a picture's token, and what stands for it
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


VIDEO = 2
"""mm_token_type_ids of a video's tokens."""
VIDEO_RULES = {  # model: how its videos count
    "qwen2_vl": "plain",
    "qwen2_5_vl": "seconds",
    "ernie4_5_vl_moe": "merged",
    "paddleocr_vl": "plain",
    **dict.fromkeys(["qwen3_vl", "qwen3_5", "glm4v", "glm46v", "cosmos3_omni", "qwen4_exp"], "frames"),
}


def video_mix(seed: int, rule: str):
    """Length, items, merge size, types of tokens, and what get_rope_index takes beside them."""
    choose = random.Random(seed)
    merge, temporal_merge = choose.choice([1, 2, 2, 3]), choose.choice([1, 2, 3]) if rule == "merged" else 1
    items, images, videos, seconds = [], [], [], []
    types = [0] * choose.randrange(4)

    def add(kind: int, grid, **options):
        tokens = grid[0] // options.get("temporal_merge", 1) * (grid[1] // merge) * (grid[2] // merge)
        items.append(mrope.MropeItem(len(types), len(types) + tokens - 1, grid, **options))
        types.extend([kind] * tokens + [0] * choose.randint(1, 12))

    for _ in range(choose.randint(1, 4)):
        h, w = (choose.randint(1, 8) * merge for _ in range(2))
        if choose.random() < 0.3:
            images.append((1, h, w))
            add(IMAGE, (1, h, w))
            continue
        t = choose.choice([1, 2, 5, 9, 33]) * temporal_merge + choose.randrange(temporal_merge)
        videos.append((t, h, w))
        if rule == "frames":
            for _ in range(t):
                add(VIDEO, (1, h, w))
        elif rule == "seconds":
            seconds.append(choose.choice([1.0, 0.5, 2 / 3, 0.08341666, choose.uniform(0, 3)]))
            add(VIDEO, (t, h, w), time_step=float(np.float32(2) * np.float32(seconds[-1])))
        else:
            add(VIDEO, (t, h, w), temporal_merge=temporal_merge)
    if seed % 3 == 0:
        del types[items[-1].last + 1 :]
    more = {"second_per_grid_ts": torch.tensor(seconds)} if seconds else {}
    return items, merge, temporal_merge, types, images, videos, more


@pytest.mark.parametrize("model", VIDEO_RULES)
def test_positions_of_videos_equal_those_of_transformers(model: str) -> None:
    cls = getattr(importlib.import_module(f"transformers.models.{model}.modeling_{model}"), MODELS[model])
    videos_seen = longer = 0
    for seed in range(MIXES):
        items, merge, temporal_merge, types, images, videos, more = video_mix(seed, VIDEO_RULES[model])
        vision = SimpleNamespace(spatial_merge_size=merge, tokens_per_second=2, temporal_merge_size=temporal_merge)
        this = SimpleNamespace(config=SimpleNamespace(vision_config=vision))
        this.get_vision_position_ids = cls.get_vision_position_ids.__get__(this)
        expected, deltas = cls.get_rope_index(
            this,
            torch.zeros(1, len(types), dtype=torch.long),
            torch.tensor([types], dtype=torch.int32),
            image_grid_thw=torch.tensor(images) if images else None,
            video_grid_thw=torch.tensor(videos) if videos else None,
            **more,
        )
        positions, delta = mrope.mrope_positions(len(types), items, merge)
        np.testing.assert_array_equal(positions, expected[:, 0].numpy(), err_msg=f"seed {seed}")
        assert delta == int(deltas[0]), seed
        videos_seen += len(videos)
        longer += any(t > max(h, w) for t, h, w in videos)
    assert videos_seen > MIXES
    assert longer > MIXES // 9  # what follows does not wait for the end of a long video


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


def canvas_of_transformers(ids: np.ndarray, sizes: np.ndarray, mode: str) -> tuple[np.ndarray, int]:
    cls = importlib.import_module("transformers.models.minicpmv4_7.modeling_minicpmv4_7").MiniCPMV4_7Model
    config = SimpleNamespace(**{f"{name}_id": token for name, token in CANVAS.items()}, downsample_mode=mode)
    this = SimpleNamespace(config=config, get_vision_position_ids=cls.get_vision_position_ids.__get__(config))
    this._group_visual_frames = cls._group_visual_frames.__get__(this)
    this._frame_end_idx = cls._frame_end_idx
    types = torch.from_numpy((ids == PAD).astype(np.int32))[None]
    positions, deltas = cls.get_rope_index(this, torch.from_numpy(ids)[None], types, target_sizes=sizes)
    return positions[:, 0].numpy(), int(deltas[0])


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize(("mode", "merge"), [("16x", 4), ("4x", 2)])
def test_canvas_positions_equal_those_of_minicpmv4_7(mode: str, merge: int, numbered: bool) -> None:
    spec = {
        "family": "minicpmv",
        "image_token_id": PAD,
        "patch_size": 2,
        "merge_size": merge,
        "scale_resolution": 48,
        "max_slices": 9,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "positions": "canvas",
        "row_end_token_ids": [CANVAS["newline"]],
        "image_id_token_ids": [*range(20, 32)] if numbered else [],
    }
    spec |= {f"{name}_token_ids": [token] for name, token in CANVAS.items() if name != "newline"}
    pipeline = mmcpp.Pipeline.from_spec(spec)
    sliced = adjacent = 0
    for seed in range(MIXES):
        choose = random.Random(seed)
        sizes = [(choose.randint(1, 300), choose.randint(1, 300)) for _ in range(choose.choice([1, 1, 2, 3, 4, 12]))]
        ids: list[int] = []
        for i in range(len(sizes) + 1):
            text = choose.choice([[], [1, 2, 3], [15], [15, 1], [1, 15], [15, 15, 14, 12], [choose.randint(1, 15)] * 2])
            adjacent += not text and 0 < i < len(sizes)
            ids += [token for token in text if token != PAD] + [PAD] * (i < len(sizes))
        images = [np.zeros((*size, 3), np.uint8) for size in sizes]
        response = pipeline.process(input_ids=ids, images=images)
        grids = torch.from_numpy(np.concatenate([item.aux["target_sizes"] for item in response.items]))
        expected, delta = canvas_of_transformers(response.input_ids, grids, mode)
        assert response.positions.dtype == np.int64
        np.testing.assert_array_equal(response.positions, expected, err_msg=f"seed {seed}")
        assert response.position_delta == delta, seed
        planned = pipeline.plan_request(input_ids=ids, sizes=sizes)
        np.testing.assert_array_equal(planned.positions, expected, err_msg=f"seed {seed}")
        sliced += len(grids) > len(sizes)
    assert sliced > MIXES // 2
    assert adjacent > MIXES // 9


def test_row_tokens_are_columns_to_hy_v4_vl() -> None:
    cls = importlib.import_module("transformers.models.hy_v4_vl.modeling_hy_v4_vl").HYV4VLModel
    spec = {
        "family": "qwen_vl",
        "image_token_id": PAD,
        "patch_size": 2,
        "merge_size": 2,
        "temporal_patch_size": 1,
        "min_pixels": 16,
        "max_pixels": 900,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "patch_order": "raster",
        "row_tokens": 1,
    }
    pipeline = mmcpp.Pipeline.from_spec(spec)
    this = SimpleNamespace(config=SimpleNamespace(vision_config=SimpleNamespace(spatial_merge_size=2)))
    this.get_vision_position_ids = cls.get_vision_position_ids.__get__(this)
    for seed in range(MIXES):
        choose = random.Random(seed)
        sizes = [(choose.randint(1, 60), choose.randint(1, 60)) for _ in range(choose.randint(1, 5))]
        ids = [1] * choose.randrange(4)
        for _ in sizes:
            ids += [PAD] + [1] * choose.randint(1, 9)
        ids = ids[: len(ids) - ids[::-1].index(PAD)] if seed % 3 == 0 else ids
        response = pipeline.process(input_ids=ids, images=[np.zeros((*size, 3), np.uint8) for size in sizes])
        tokens = torch.from_numpy(response.input_ids)[None]
        grids = torch.from_numpy(np.stack([item.aux["image_grid_thw"] for item in response.items]))
        expected, deltas = cls.get_rope_index(this, tokens, (tokens == PAD).int(), image_grid_thw=grids)
        np.testing.assert_array_equal(response.positions, expected[:, 0].numpy(), err_msg=f"seed {seed}")
        assert response.position_delta == int(deltas[0]), seed
        planned = pipeline.plan_request(input_ids=ids, sizes=sizes)
        np.testing.assert_array_equal(planned.positions, response.positions)


def test_a_wrong_position_would_be_seen() -> None:
    length, items, merge = 10, [(2, 7, 1, 4, 6)], 2
    expected, _ = positions_of_transformers("qwen2_vl", length, items, merge)
    flat, _ = qwen_vl.mrope_image_only_py(length, [(3, 8, 1, 4, 6)], merge)
    assert not np.array_equal(flat.reshape(3, length), expected)
