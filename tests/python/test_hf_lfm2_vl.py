"""`lfm2_vl` against the image processor of LFM2-VL in transformers 5.24."""

import random
from types import SimpleNamespace

import pytest

import mmcpp
from hf import Tokens, assert_equal, compare, compare_prompt, picture_in, processing, torchvision_only
from samples import CLIP

pytestmark = pytest.mark.hf
pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")

HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
CASES = {
    # name: what both call the same, mean and std, whether it is cut
    "lfm2_vl": ({"min_image_tokens": 4, "max_image_tokens": 16, "min_tiles": 2, "max_tiles": 10}, HALF, True),
    "lfm2_vl_one_tile": (
        {"min_image_tokens": 4, "max_image_tokens": 16, "min_tiles": 1, "max_tiles": 4, "max_pixels_tolerance": 1.25},
        CLIP,
        True,
    ),
    "lfm2_vl_bare": (
        {"min_image_tokens": 9, "max_image_tokens": 25, "min_tiles": 2, "max_tiles": 6, "use_thumbnail": False},
        HALF,
        True,
    ),
    "lfm2_vl_whole": ({"min_image_tokens": 30, "max_image_tokens": 300}, HALF, False),
}
COMMON = {"downsample_factor": 2, "tile_size": 128}


def spec_of(name: str, backend: str = "torchvision", **keys: object) -> dict:
    settings, channels, splits = CASES[name]
    return {
        "family": "lfm2_vl",
        "image_token_id": 1,
        "patch_size": 8,
        "resample": "pil" if backend == "pil" else "aten_u8",
        **COMMON,
        **({} if splits else {"min_tiles": 1, "max_tiles": 1}),
        **settings,
        **channels,
        **keys,
    }


def processor(name: str):
    settings, channels, splits = CASES[name]
    arguments = {"encoder_patch_size": 8, "do_image_splitting": splits, "do_convert_rgb": True}
    return torchvision_only("lfm2_vl", "Lfm2VlImageProcessor", **arguments, **COMMON, **settings, **channels)


@pytest.mark.parametrize("name", CASES)
def test_tensors(name):
    assert compare(lambda backend: spec_of(name, backend), processor(name)) >= 60


@pytest.mark.parametrize("name", CASES)
def test_sizes_and_grids(name):
    theirs, spec = processor(name).whole, spec_of(name)
    ours = mmcpp.ImageProcessor.from_spec(spec)
    bounds = {key: spec[key] for key in ("downsample_factor", "max_image_tokens")} | {"encoder_patch_size": 8}
    least, most, tile = spec["min_tiles"], spec["max_tiles"], spec["tile_size"]
    choose = random.Random(11)
    sizes = [(16 * i, 16 * k) for i in range(1, 9) for k in range(1, 9)] + [(1, 1), (90, 181)]
    for height, width in sizes + [(choose.randint(1, 900), choose.randint(1, 900)) for _ in range(1000)]:
        seen = theirs.smart_resize(height, width, min_image_tokens=spec["min_image_tokens"], **bounds)[::-1]
        try:
            plan = ours.plan(height, width)
        except ValueError as error:
            assert "too thin for" in str(error)
            assert seen[0] * seen[1] // 64 > ours.plan(100, 100).feature_shape[1]
            continue
        tolerance = spec.get("max_pixels_tolerance", 2.0)
        grid = (1, 1)
        if most > 1 and theirs._is_image_too_large(height, width, max_pixels_tolerance=tolerance, **bounds):
            grid = theirs._get_grid_layout(height, width, least, most, tile)[:2][::-1]
            seen = (grid[0] * tile, grid[1] * tile)
        assert (plan.grid[1:], plan.resized_height, plan.resized_width) == (grid, *seen), (height, width)


THIN = [(1, 1000), (1000, 1), (1, 100), (1, 3000), (2, 3000), (1, 60000)]
BATCHES = [[(1, 1000), (30, 40)], [(1, 1000), (1, 1000)], [(1, 1000), (1000, 1)], [(1, 1000), (1, 900)]]


@pytest.mark.parametrize("name", CASES)
def test_more_patches_than_there_is_room_for(name):
    """Of pictures that are very thin: alone, or with others of as many, they have a feature."""
    ours, theirs = mmcpp.ImageProcessor.from_spec(spec_of(name)), processor(name)
    refused = 0
    for sizes in [*([size] for size in THIN), *BATCHES]:
        pictures = [picture_in("RGB", *size) for size in sizes]
        try:
            expected = theirs(pictures, return_tensors="np")
        except RuntimeError:  # torch, where it puts them together
            refused += 1
            with pytest.raises(ValueError, match="too thin for 256 patches|of different shapes"):
                ours(pictures)
        else:
            assert_equal(dict(ours(pictures)), expected)
    assert refused or name == "lfm2_vl_whole"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("special", [True, False])
def test_prompt(name, special):
    cls = processing("lfm2_vl").Lfm2VlProcessor
    marks = [f"<|img_row_{i}_col_{k}|>" for i in range(1, 11) for k in range(1, 11)]
    tokens = Tokens("<image>", "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>", *marks)
    theirs = processor(name)
    rule = SimpleNamespace(
        image_token="<image>",
        image_start_token="<|image_start|>",
        image_end_token="<|image_end|>",
        image_thumbnail_token="<|img_thumbnail|>",
        image_processor=theirs,
    )
    for method in ("_build_image_tokens", "_get_image_num_tokens", "_compute_tokens_per_tile"):
        setattr(rule, method, getattr(cls, method).__get__(rule))
    rule._compute_tokens_for_image = cls._compute_tokens_for_image.__get__(rule)

    class WithRows:
        """As the processor asks for it."""

        backend = theirs.backend

        def __call__(self, images, return_tensors):
            return dict(theirs(images, return_tensors)) | self.rows(images)

        def rows(self, images):
            sizes = [(image.height, image.width) for image in images]
            plans = [ours.plan(*size) for size in sizes]
            whole = [theirs.whole.smart_resize(*size, **bounds)[::-1] for size in sizes]
            rows, columns = [plan.grid[1] for plan in plans], [plan.grid[2] for plan in plans]
            return {"image_rows": rows, "image_cols": columns, "image_sizes": whole}

    spec = spec_of(name, image_token_id=tokens.id("<image>"))
    keys = ("downsample_factor", "min_image_tokens", "max_image_tokens")
    bounds = {key: spec[key] for key in keys} | {"encoder_patch_size": 8}
    ours = mmcpp.ImageProcessor.from_spec(spec)
    if special:
        spec |= {
            "prefix_token_ids": [tokens.id("<|image_start|>")],
            "suffix_token_ids": [tokens.id("<|image_end|>")],
            "thumbnail_token_ids": [tokens.id("<|img_thumbnail|>")],
            "row_column_token_ids": list(map(tokens.id, marks)),
            "mark_columns": 10,
        }

    def replace(inputs, i):
        return cls.replace_image_token(rule, inputs, i, use_image_special_tokens=special)

    compare_prompt(spec, tokens, "<image>", replace, WithRows())
