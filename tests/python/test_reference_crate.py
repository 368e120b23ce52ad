"""The functions of the reference crate against the crate itself, on random arguments. What differs on purpose is
listed in cpp/docs/reference_differences.md, and is kept out of the arguments here."""

import base64
import json

import numpy as np
import pytest

from mmcpp import common, dsv41, inkling, qwen_vl
from reference_crate import load_crate
from samples import CLIP, encode

RUNS = 500
OURS = {"common": common, "dsv41": dsv41, "inkling": inkling, "qwen_vl": qwen_vl}


@pytest.fixture(scope="module")
def crate():
    return load_crate()


def picture(rng, most=120):
    h, w = (int(side) for side in rng.integers(1, most, 2))
    if rng.random() < 0.1:  # thin ones
        h, w = (1, w * 3) if rng.random() < 0.5 else (h * 3, 1)
    return rng.integers(0, 256, (h, w, 3), np.uint8)


def lossless(rng):
    """A file whose pixels no decoder may change."""
    form = [("PNG", {}), ("BMP", {}), ("WEBP", {"lossless": True})][int(rng.integers(3))]
    return encode(picture(rng, 60), form[0], **form[1])


def rescale(rng):
    fraction = [None, float(rng.uniform(0.05, 3)), 0.5, 2.0, 0.0, -1.0, float("nan")][int(rng.integers(7))]
    cap = [None, int(rng.integers(1, 300)), -4][int(rng.integers(3))]
    return fraction, cap


def side(rng):
    return int(rng.integers(1, 45))


def resize_rgb(rng):
    names = ["pil_lanczos", "pil_bicubic", "aten_u8"]
    return picture(rng), int(rng.integers(1, 150)), int(rng.integers(1, 150)), names[int(rng.integers(3))]


def base64_text(rng):
    text = base64.b64encode(rng.bytes(int(rng.integers(0, 40)))).decode()
    if rng.random() < 0.5 and text:
        at = int(rng.integers(len(text)))
        text = text[:at] + ["", "=", " ", "-", "A", "ü"][int(rng.integers(6))] + text[at + 1 :]
    return (text,)


def source(rng):
    head = ["", "data:,", "data:image/png;base64,", "data:;x,y,", "DATA:,", " ", "data:"][int(rng.integers(7))]
    return (head + base64_text(rng)[0],)


def qwen_spec(rng, family=False):
    spec = {
        "image_token_id": 7,
        "patch_size": int(rng.integers(2, 17)),
        "merge_size": int(rng.integers(1, 4)),
        "temporal_patch_size": int(rng.integers(1, 4)),
        "min_pixels": int(rng.integers(0, 5000)),
        "max_pixels": int(rng.integers(2000, 20000)),
        **CLIP,
        "resample": ["aten_u8", "pil"][int(rng.integers(2))],
    }
    return json.dumps({"family": "qwen_vl", **spec} if family else spec)


def smart_resize(rng):
    small, large = sorted(int(n) for n in rng.integers(1, 10**7, 2))
    return int(rng.integers(0, 5000)), int(rng.integers(1, 5000)), int(rng.integers(1, 64)), small, large


def mrope(rng):
    items, end, merge = [], 0, int(rng.integers(1, 3))
    for _ in range(int(rng.integers(0, 4))):
        end += int(rng.integers(0, 5))
        t, h, w = (int(n) for n in rng.integers(1, 5, 3))
        items.append((end, end + t * h * w - 1, t, h * merge, w * merge))
        end += t * h * w
    if rng.random() < 0.2:
        end -= 1
    return max(end + int(rng.integers(0, 5)), 0), items, merge


def request(rng):
    count = int(rng.integers(0, 3))
    ids = [int(n) for n in rng.integers(0, 7, int(rng.integers(0, 6)))] + [7] * count
    if rng.random() < 0.1:
        ids.append(7)
    rng.shuffle(ids)
    return ids, [lossless(rng) for _ in range(count)], qwen_spec(rng, family=True)


def placement(rng):
    patch = int(rng.integers(1, 20))
    canvas = tuple(patch * int(n) for n in rng.integers(1, 9, 2))
    size = tuple(int(rng.integers(1, n + 1)) for n in canvas)
    start = tuple(int(rng.integers(0, n - m + 1)) for n, m in zip(canvas, size, strict=True))
    if rng.random() < 0.1:
        start = (start[0] + 1, start[1] + 1)
    return picture(rng), canvas, size, start, patch


ARGUMENTS = {
    "common.resize_rgb": resize_rgb,
    "common.scaled_dims": lambda rng: (int(rng.integers(0, 3000)), int(rng.integers(0, 3000)), *rescale(rng)),
    "common.image_decode_rgb": lambda rng: (lossless(rng),),
    "common.content_hash": lambda rng: (rng.bytes(int(rng.integers(0, 5000))),),
    "common.base64_decode": base64_text,
    "common.fetch_bytes": source,
    "dsv41.resize_patchify": placement,
    "inkling.patchify_rgb": lambda rng: (picture(rng), side(rng)),
    "inkling.decode_patchify": lambda rng: (lossless(rng), side(rng), *rescale(rng)),
    "inkling.decode_patchify_batch": lambda rng: ([lossless(rng), lossless(rng)], side(rng), *rescale(rng)),
    "inkling.preprocess_images": lambda rng: ([lossless(rng), lossless(rng)], side(rng), *rescale(rng)),
    "inkling.rescale_patchify_hash": lambda rng: (picture(rng), rng.bytes(30), side(rng), *rescale(rng)),
    "qwen_vl.preprocess": lambda rng: (lossless(rng), qwen_spec(rng)),
    "qwen_vl.smart_resize_py": smart_resize,
    "qwen_vl.mrope_image_only_py": mrope,
    "qwen_vl.process_mm": request,
}


def outcome(function, arguments):
    try:
        return function(*arguments)
    except ValueError as error:
        return str(error)


def same(one, other):
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("name", ARGUMENTS)
def test_equals_the_crate(crate, name):
    module, function = name.split(".")
    theirs, ours = getattr(getattr(crate, module), function), getattr(OURS[module], function)
    rng = np.random.default_rng(list(name.encode()))
    good = 0
    for _ in range(RUNS):
        arguments = ARGUMENTS[name](rng)
        expected, got = outcome(theirs, arguments), outcome(ours, arguments)
        assert same(expected, got), f"{name}{arguments}: the crate gives {expected}, we give {got}"
        good += not isinstance(expected, str)
    assert good > RUNS / 4


def test_there_is_no_function_that_is_not_compared(crate):
    modules = {name.split(".")[0] for name in ARGUMENTS}
    names = {f"{module}.{name}" for module in modules for name in dir(getattr(crate, module)) if name[0] != "_"}
    assert names == set(ARGUMENTS)


def test_of_a_difference_is_told():
    assert not same((1, np.zeros(3)), (1, np.zeros(3, np.float32)))
    assert not same([1, "a"], [1, "b"])
    assert not same((1,), [1])
    assert not same(np.zeros(3), np.array([0, 0, 1.0]))
