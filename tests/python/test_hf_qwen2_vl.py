"""Byte equality with the image processors that transformers 5.24 has for Qwen2-VL to Qwen3.5.

The PIL backend is run as it is. The torchvision backend is composed from torch's own operations, as
its source combines them, so that torchvision need not be there.
"""

import io
import warnings

import numpy as np
import pytest
from PIL import Image

import mmcpp
from mmcpp.spec import preset_spec
from samples import encode, noise, smooth

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")

SIZES = [
    (1, 5), (5, 1), (3, 3), (1, 200), (200, 1), (13, 1900), (1900, 13), (28, 28), (27, 100),
    (100, 76), (333, 77), (480, 640), (1400, 700),
]  # fmt: skip
MODES = [
    "1", "L", "LA", "P", "P transparent", "P alphas", "PA", "RGB", "RGB transparent", "RGBA", "RGBa", "CMYK",
    "YCbCr", "LAB", "HSV", "I", "F", "I;16",
]  # fmt: skip
PRESETS = ["qwen2_vl", "qwen3_vl"]


def picture_in(mode: str, height: int, width: int) -> Image.Image:
    rgb = Image.fromarray(smooth(height, width))
    alpha = Image.fromarray(noise(height, width, 1)[:, :, 0])
    rgba = rgb.copy()
    rgba.putalpha(alpha)
    if mode in ("RGBA", "LA", "RGBa", "PA"):
        return rgba.convert(mode)
    if mode.startswith("P"):
        image = rgb.convert("P")
        if mode == "P transparent":
            image.info["transparency"] = image.getpixel((0, 0))
        if mode == "P alphas":
            image.info["transparency"] = bytes(range(0, 256, 2))
        return image
    if mode == "RGB transparent":
        rgb.info["transparency"] = rgb.getpixel((0, 0))
        return rgb
    if mode == "LAB":
        return Image.frombytes("LAB", rgb.size, rgb.tobytes())
    if mode == "I;16":
        return Image.fromarray(np.asarray(rgb.convert("L")).astype(np.uint16) * 3)
    if mode in ("I", "F"):
        return Image.fromarray(np.asarray(rgb.convert("L")).astype(np.int32 if mode == "I" else np.float32) * 2 - 100)
    return rgb.convert(mode)


@pytest.fixture(scope="module", params=PRESETS)
def pair(request):
    """Our processor and transformers' of the same checkpoint, PIL backend."""
    spec = preset_spec(request.param, backend="pil")
    theirs = transformers.Qwen2VLImageProcessorPil(
        size={"shortest_edge": spec["min_pixels"], "longest_edge": spec["max_pixels"]},
        **{key: spec[key] for key in ("image_mean", "image_std", "patch_size", "merge_size", "temporal_patch_size")},
    )
    return mmcpp.ImageProcessor.from_spec(spec), theirs


def assert_equal(ours: dict, theirs: dict) -> None:
    assert list(ours) == list(theirs)
    for name, value in ours.items():
        expected = np.asarray(theirs[name])
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
        assert value.tobytes() == expected.tobytes(), f"{name} differs in {(value != expected).sum()} values"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_pil_images(pair, mode, size):
    ours, theirs = pair
    image = picture_in(mode, *size)
    expected = theirs(image, return_tensors="np")
    assert_equal(ours(image), expected)
    if mode == "RGB":
        assert_equal(
            ours(np.asarray(image)), theirs(np.asarray(image), return_tensors="np", input_data_format="channels_last")
        )
        assert ours.count_tokens(*size) * 4 == theirs.get_number_of_image_patches(*size)


ENCODINGS = {
    "JPEG": (["L", "RGB", "CMYK"], {"quality": 90}),
    "PNG": (["1", "L", "LA", "P", "P transparent", "P alphas", "RGB", "RGB transparent", "RGBA", "I;16"], {}),
    "WEBP": (["RGB", "RGBA"], {"quality": 90}),
    "GIF": (["L", "P", "P transparent"], {}),
    "BMP": (["1", "L", "P", "RGB", "RGBA"], {}),
}


@pytest.mark.parametrize(("fmt", "mode"), [(fmt, mode) for fmt, (modes, _) in ENCODINGS.items() for mode in modes])
def test_encoded_pictures(pair, fmt, mode):
    ours, theirs = pair
    for size in SIZES[:1] + SIZES[5:]:
        data = encode(picture_in(mode, *size), fmt, **ENCODINGS[fmt][1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow advises RGBA for palettes with transparency
            expected = theirs(Image.open(io.BytesIO(data)), return_tensors="np")
        assert_equal(ours(data), expected)


def test_batches(pair):
    ours, theirs = pair
    images = [picture_in(mode, *size) for mode, size in zip(["RGB", "L", "RGBA", "P"], SIZES[7:11], strict=True)]
    assert_equal(ours(images), theirs(images, return_tensors="np"))


@pytest.mark.parametrize("size", [(1, 201), (1000, 2)], ids=str)
def test_what_transformers_refuses_is_refused(pair, size):
    ours, theirs = pair
    picture = noise(*size)
    with pytest.raises(ValueError, match="absolute aspect ratio must be smaller than 200"):
        theirs(Image.fromarray(picture))
    with pytest.raises(ValueError, match="absolute aspect ratio must be smaller than 200") as caught:
        ours(picture)
    assert (caught.value.code, caught.value.item) == ("invalid_argument", 0)


def torchvision_backend(torch, picture, spec):
    """`Qwen2VLImageProcessor._preprocess` for one picture, by torch's own operations."""
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

    patch, merge = spec["patch_size"], spec["merge_size"]
    size = smart_resize(*picture.shape[:2], patch * merge, spec["min_pixels"], spec["max_pixels"])
    image = torch.from_numpy(picture).permute(2, 0, 1).contiguous()[None]
    if image.shape[-2:] != size:
        image = torch.nn.functional.interpolate(image, size, mode="bicubic", antialias=True, align_corners=False)
    mean, std = (torch.tensor(spec[key]) * (1.0 / (1 / 255)) for key in ("image_mean", "image_std"))
    values = image.to(torch.float32).sub(mean[:, None, None]).div(std[:, None, None])
    rows, columns = size[0] // patch, size[1] // patch
    patches = values.reshape(1, 3, rows // merge, merge, patch, columns // merge, merge, patch)
    patches = patches.permute(0, 2, 5, 3, 6, 1, 4, 7).unsqueeze(6)
    patches = patches.expand(-1, -1, -1, -1, -1, -1, spec["temporal_patch_size"], -1, -1)
    grid = torch.tensor([[1, rows, columns]])
    return {"pixel_values": patches.reshape(rows * columns, -1).numpy(), "image_grid_thw": grid.numpy()}


@pytest.mark.parametrize("preset", PRESETS)
def test_torchvision_arithmetic(preset):
    torch = pytest.importorskip("torch", reason="torch is the reference of the torchvision backend")
    spec = preset_spec(preset)
    ours = mmcpp.ImageProcessor.from_spec(spec)
    rng = np.random.default_rng(7)
    drawn = np.exp(rng.uniform(0, np.log(900), (400, 2))).astype(int) + 1
    sizes = SIZES + [(h, w) for h, w in drawn.tolist() if max(h, w) <= 190 * min(h, w)][:200]
    assert len(sizes) >= 210
    for seed, (height, width) in enumerate(sizes):
        picture = noise(height, width, seed=seed) if seed % 2 else smooth(height, width)
        assert_equal(ours(picture), torchvision_backend(torch, picture, spec))


def test_a_mode_that_pillow_does_not_convert_is_refused(pair):
    ours, theirs = pair
    image = picture_in("LA", 30, 40).convert("La")
    with pytest.raises(ValueError, match="conversion from La"):
        theirs(image)
    with pytest.raises(mmcpp.UnsupportedError, match="image 0: pil: conversion from La") as caught:
        ours(image)
    assert caught.value.item == 0
