import io
import math

import numpy as np
import pytest
from PIL import Image, ImageOps

import mmcpp
from gif_writer import GRAY_RAMP, Frame, random_palette
from gif_writer import image as gif_frame
from gif_writer import write as write_gif
from mmcpp import kimi_k3
from png_writer import Png, chunk, write
from samples import encode, noise, smooth

torch = pytest.importorskip("torch")

CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
CHESS = ("chessboard", 16, True, 255, 200)
BACKGROUNDS = [
    None,
    ("white", 16, True, 255, 200),
    ("black", 16, True, 255, 200),
    ("gray", 16, True, 255, 200),
    CHESS,
    ("chessboard", 8, False, 255, 180),
    ("chessboard", 5, True, 10, 250),
]


def transparent(height, width, seed=0):
    """Noise of which a third is clear, and a third opaque."""
    picture = noise(height, width, 4, seed)
    rng = np.random.default_rng(seed)
    picture[rng.random((height, width)) < 0.33, 3] = 0
    picture[rng.random((height, width)) < 0.33, 3] = 255
    return picture


def filled(picture, bg):
    """What sglang's own code does with torch."""
    x = torch.tensor(picture).permute(2, 0, 1).float()
    if bg is None:
        return picture[:, :, :3]
    pattern, square, top_left, white, gray = bg
    if pattern == "chessboard":
        ys, xs = (torch.arange(n) // square for n in picture.shape[:2])
        odd = (ys[:, None] + xs[None, :]) % 2 == (1 if top_left else 0)
        below = torch.where(odd, float(gray), float(white))
    else:
        below = torch.full(picture.shape[:2], {"white": 255.0, "black": 0.0, "gray": 128.0}[pattern])
    alpha = x[3] / 255.0
    result = (alpha * x[:3] + (1.0 - alpha) * below).clamp(0, 255).floor()
    return result.to(torch.uint8).permute(1, 2, 0).numpy()


def patches(picture, pad_h, pad_w, side, mean, std):
    """The checkpoint's processor: zeros on the right and below, then double by double."""
    picture = np.pad(picture, ((0, pad_h), (0, pad_w), (0, 0)))
    values = (picture / 255.0).astype(np.float32)
    values = (values.astype(np.float64) - np.array(mean)).astype(np.float32)
    values = (values.astype(np.float64) * (1 / np.array(std))).astype(np.float32)
    rows, columns = picture.shape[0] // side, picture.shape[1] // side
    return values.reshape(rows, side, columns, side, 3).transpose(0, 2, 4, 1, 3).reshape(-1, 3, side, side)


@pytest.mark.parametrize("channels", [3, 4])
def test_resize_equals_pillow(channels):
    rng = np.random.default_rng(1)
    for seed in range(60):
        h, w, out_h, out_w = (int(n) for n in rng.integers(1, 90, 4))
        picture = transparent(h, w, seed) if channels == 4 else noise(h, w, seed=seed)
        expected = Image.fromarray(picture).resize((out_w, out_h), Image.Resampling.BICUBIC)
        flat = kimi_k3.resize_bicubic(picture, out_w, out_h, pillow_generation=13)
        np.testing.assert_array_equal(flat, np.asarray(expected).reshape(-1))


@pytest.mark.parametrize("bg", BACKGROUNDS, ids=str)
def test_backgrounds_equal_torch(bg):
    every = np.zeros((256, 256, 4), np.uint8)  # each colour with each alpha
    every[:, :, :3], every[:, :, 3] = np.arange(256)[:, None, None], np.arange(256)
    for picture in (every, transparent(37, 53)):
        np.testing.assert_array_equal(kimi_k3.fill_transparent_bg(picture, bg), filled(picture, bg).reshape(-1))


@pytest.mark.parametrize("bg", BACKGROUNDS, ids=str)
@pytest.mark.parametrize("channels", [3, 4])
def test_preprocess_equals_pillow_torch_and_numpy(channels, bg):
    for h, w, new_h, new_w, pad_h, pad_w, side in (
        (30, 50, 25, 41, 3, 1, 14),
        (28, 28, 28, 28, 0, 0, 14),
        (9, 70, 18, 33, 0, 3, 6),
    ):
        picture = transparent(h, w) if channels == 4 else noise(h, w)
        resized = np.asarray(Image.fromarray(picture).resize((new_w, new_h), Image.Resampling.BICUBIC))
        rgb = filled(resized, bg) if channels == 4 else resized
        features, grid = kimi_k3.preprocess(
            picture, new_w, new_h, pad_w, pad_h, side, CLIP_MEAN, CLIP_STD, bg, pillow_generation=13
        )
        assert grid == (1, (new_h + pad_h) // side, (new_w + pad_w) // side)
        expected = patches(rgb, pad_h, pad_w, side, CLIP_MEAN, CLIP_STD)
        assert features.dtype == np.float32
        np.testing.assert_array_equal(features, expected.reshape(-1))


RGB, RGBA, HALF = noise(4, 6), noise(4, 6, 4), (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: kimi_k3.resize_bicubic(RGB, 0, 3), ValueError, "output size must be positive"),
        (lambda: kimi_k3.resize_bicubic(noise(4, 6, 2), 3, 3), ValueError, "expected 3 or 4 channels, got 2"),
        (lambda: kimi_k3.resize_bicubic(RGBA[:, ::2], 3, 3), ValueError, "array must be C-contiguous"),
        (lambda: kimi_k3.resize_bicubic(RGBA[0], 3, 3), TypeError, "'ndarray' object is not an instance of 'ndarray'"),
        (lambda: kimi_k3.resize_bicubic(RGB, -3, 3), OverflowError, "can't convert negative int to unsigned"),
        (lambda: kimi_k3.fill_transparent_bg(RGB), ValueError, "expected HWC RGBA array with 4 channels, got 3"),
        (
            lambda: kimi_k3.fill_transparent_bg(RGBA, ("chessboard", 0, True, 255, 200)),
            ValueError,
            "chessboard square size must be > 0",
        ),
        (
            lambda: kimi_k3.fill_transparent_bg(RGBA, ("red", 1, True, 255, 200)),
            ValueError,
            'invalid background pattern "red"',
        ),
        (
            lambda: kimi_k3.fill_transparent_bg(RGBA, ["white"]),
            TypeError,
            "'list' object is not an instance of 'tuple'",
        ),
        (
            lambda: kimi_k3.preprocess(RGB, 0, 4, 0, 0, 2, HALF, HALF),
            ValueError,
            "resized dims and patch size must be positive",
        ),
        (
            lambda: kimi_k3.preprocess(RGB, 6, 4, 0, 0, 0, HALF, HALF),
            ValueError,
            "resized dims and patch size must be positive",
        ),
        (
            lambda: kimi_k3.preprocess(RGB, 6, 4, 1, 0, 2, HALF, HALF),
            ValueError,
            "padded dims 4x7 not divisible by patch size 2",
        ),
        (
            lambda: kimi_k3.preprocess(RGB, 6, 4, 0, 0, 2, (0.5, 0.5), HALF),
            ValueError,
            "expected tuple of length 3, but got tuple of length 2",
        ),
        (lambda: kimi_k3.preprocess(RGB, 6, 4, 0, 0, 2, [0.5] * 3, HALF), TypeError, None),
        (lambda: kimi_k3.preprocess(RGB, 6, 4, 0, 0, 2, (0.5, math.nan, 0.5), HALF), ValueError, None),
        (lambda: kimi_k3.preprocess(RGB, 6, 4, 0, 0, 2, HALF, (0.5, math.inf, 0.5)), ValueError, None),
        (lambda: kimi_k3.preprocess(RGB, 2**20, 2**20, 0, 0, 2, HALF, HALF), mmcpp.LimitError, None),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in (None, str(caught.value))


SPEC = {
    "family": "kimi_k3",
    "image_token_id": 5,
    "patch_size": 14,
    "merge_kernel_size": 2,
    "in_patch_limit": 200,
    "patch_limit_on_one_side": 30,
    "image_mean": HALF,
    "image_std": HALF,
}


def planned(height, width):
    """(height, width) of the picture and the padding, as sglang 0.5.23's navit_resize_config has them."""
    patches = max(1.0, width // 14) * max(1.0, height // 14)
    scale = min(1.0, math.sqrt(200 / patches), 30 * 14 / width, 30 * 14 / height)
    new_w, new_h = (min(max(1, int(side * scale)), 30 * 14) for side in (width, height))
    return new_h, new_w, (28 - new_h % 28) % 28, (28 - new_w % 28) % 28


@pytest.mark.parametrize("size", [(1, 1), (14, 14), (28, 56), (100, 77), (300, 500), (900, 3), (3, 900), (641, 640)])
def test_the_image_processor_equals_pillow_and_numpy(size):
    image = noise(*size)
    new_h, new_w, pad_h, pad_w = planned(*size)
    resized = Image.fromarray(image).resize((new_w, new_h), Image.Resampling.BICUBIC)
    expected = patches(np.asarray(resized), pad_h, pad_w, 14, HALF, HALF)
    result = mmcpp.ImageProcessor.from_spec(SPEC)([encode(image)])
    np.testing.assert_array_equal(np.asarray(result["pixel_values"]), expected)
    rows, columns = (new_h + pad_h) // 14, (new_w + pad_w) // 14
    np.testing.assert_array_equal(np.asarray(result["grid_thws"]), [[1, rows, columns]])
    tokens = rows // 2 * (columns // 2)
    pipeline = mmcpp.Pipeline.from_spec(SPEC)
    assert pipeline.count_tokens(*size) == tokens
    response = pipeline.process(input_ids=[1, 5, 2], images=[encode(image)])
    assert list(response.input_ids) == [1, *[5] * tokens, 2]


def test_many_plans_from_sizes_alone():
    pipeline, rng = mmcpp.Pipeline.from_spec(SPEC), np.random.default_rng(0)
    for h, w in rng.integers(1, 3000, (1000, 2)):
        new_h, new_w, pad_h, pad_w = planned(int(h), int(w))
        plan = pipeline.plan(int(h), int(w))
        assert (plan.resized_height, plan.resized_width) == (new_h + pad_h, new_w + pad_w), (h, w)


def files():
    """Pictures in each way in which a file can have transparency, and without any."""
    rgba, photo = transparent(60, 83), smooth(60, 83)
    palette = Image.fromarray(photo).convert("P", palette=Image.Palette.ADAPTIVE, colors=200)
    faded = smooth(61, 80)
    faded = np.dstack([faded, np.linspace(0, 255, 61 * 80).reshape(61, 80).astype(np.uint8)])
    yield "png rgba", encode(rgba)
    yield "png rgba, smooth", encode(faded)
    yield "png rgba, opaque", encode(np.dstack([photo, np.full((60, 83), 255, np.uint8)]))
    yield "png rgba, not resized", encode(transparent(28, 56))
    yield "png la", encode(Image.fromarray(rgba).convert("LA"))
    yield "png palette, alphas", encode(palette, transparency=bytes(range(200)))
    yield "png palette, one", encode(palette, transparency=17)
    yield "png gray, one", encode(Image.fromarray(photo).convert("L"), transparency=100)
    yield "png rgb, one", encode(photo, transparency=tuple(int(v) for v in photo[3, 3]))
    yield "png rgba, 16 bits, interlaced", write(Png(50, 43, color=6, depth=16, interlaced=True))
    yield "png gray and alpha, 16 bits", write(Png(50, 43, color=4, depth=16))
    yield (
        "png palette, 2 bits, interlaced",
        write(Png(50, 43, color=3, depth=2, interlaced=True, transparency=b"\0\x80")),
    )
    behind = (chunk(b"tRNS", b"\0\x63"),)
    yield "png gray, one, behind the pixels", write(Png(50, 43, color=0, after=behind))
    yield "png palette, alphas, behind the pixels", write(Png(50, 43, color=3, after=behind))
    yield "png rgb, one, behind the pixels", write(Png(50, 43, after=(chunk(b"tRNS", bytes(6)),)))
    yield "webp lossless", encode(rgba, "WEBP", lossless=True, exact=True)
    yield "webp lossy", encode(faded, "WEBP", quality=80)
    yield "webp opaque", encode(photo, "WEBP")
    yield "gif", encode(palette, "GIF", transparency=17)
    yield "bmp", encode(photo, "BMP")
    yield "png", encode(photo)
    yield "jpeg", encode(photo, "JPEG")


def as_sglang_reads(image):
    """load_image and to_hwc_uint8 of sglang 0.5.23: RGB as it is, RGBA of what else has transparency."""
    image.load()
    has_alpha = image.mode != "RGB" and ("A" in image.getbands() or "transparency" in image.info)
    return image.convert("RGBA" if has_alpha else "RGB")


def of_background(bg):
    if bg is None:
        return {}
    keys = ("square_size", "square_on_top_left", "white_value", "gray_value")
    return dict(zip(("background", *(f"chessboard_{key}" for key in keys)), bg, strict=True))


FILES = dict(files())


@pytest.mark.parametrize("bg", BACKGROUNDS, ids=str)
@pytest.mark.parametrize("name", FILES)
def test_files_equal_pillow_torch_and_numpy(name, bg):
    data = FILES[name]
    image = as_sglang_reads(Image.open(io.BytesIO(data)))
    new_h, new_w, pad_h, pad_w = planned(image.height, image.width)
    resized = np.asarray(image.resize((new_w, new_h), Image.Resampling.BICUBIC))
    rgb = filled(resized, bg) if image.mode == "RGBA" else resized
    expected = patches(rgb, pad_h, pad_w, 14, HALF, HALF)
    spec = SPEC | of_background(bg)
    pictures = [data, Image.open(io.BytesIO(data)), np.asarray(image)]  # encoded, of Pillow, and an array
    pipeline, processor = mmcpp.Pipeline.from_spec(spec), mmcpp.ImageProcessor.from_spec(spec)
    response = pipeline.process(input_ids=[1, 5, 5, 5, 2], images=pictures)
    for item in [*response.items, *processor.process_each(pictures)]:
        np.testing.assert_array_equal(item.feature, expected)
    np.testing.assert_array_equal(processor(pictures)["pixel_values"], np.concatenate([expected] * 3))


def test_a_gray_gif_under_a_colour_palette():
    """Pillow has no RGBA of it, but of the copy that vLLM makes to turn pictures."""
    frame = Frame(50, 43, bits=3, palette=GRAY_RAMP[:24], transparent=3)
    data = write_gif(50, 43, gif_frame(frame), palette=random_palette(8, 1))
    spec = SPEC | {"background": "chessboard"}
    with pytest.raises(ValueError, match="conversion from P to RGBA not supported"):
        as_sglang_reads(Image.open(io.BytesIO(data)))
    with pytest.raises(mmcpp.DecodeError, match="transparency of a gray frame under a colour palette"):
        mmcpp.ImageProcessor.from_spec(spec)(data)
    image = as_sglang_reads(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    assert image.mode == "RGBA"
    assert (np.asarray(image)[..., 3] == 0).any()
    processor = mmcpp.ImageProcessor.from_spec(spec, profile="vllm")
    expected = processor(np.asarray(image))["pixel_values"]
    np.testing.assert_array_equal(processor(data)["pixel_values"], expected)
