"""`mmcpp.resize` against the libraries it is named after, live, and against their stored digests.

Pictures and shapes come from the formulas in tests/golden/generate_resize.py: tall, wide, a pixel thin,
strongly enlarged and reduced ones among them."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mmcpp

GOLDEN = Path(__file__).parents[1] / "golden"
FILTERS = ("box", "bilinear", "hamming", "bicubic", "lanczos")
LIVE_SHAPES = 540


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_resize", GOLDEN / "generate_resize.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = load_generator()


def digest(image: np.ndarray) -> str:
    return mmcpp.content_digest(image.tobytes())[:8].hex()


def differing_shapes(reference, name: str, convention: str) -> list[tuple[int, ...]]:
    """Shapes (in_height, in_width, out_height, out_width) whose bytes differ from `reference`'s."""
    found = []
    for shape in generator.shapes(LIVE_SHAPES, seed=7):
        image = generator.pixels(*shape[:2])
        ours = mmcpp.resize(image, *shape[2:], filter=name, convention=convention)
        if not np.array_equal(ours, reference(image, *shape[2:], name)):
            found.append(shape)
    return found


@pytest.mark.parametrize("name", FILTERS)
def test_equals_pillow_13(name: str) -> None:
    pillow = pytest.importorskip("PIL")
    if pillow.__version__ != "13.0.0":
        pytest.skip(f"Pillow {pillow.__version__}; exactness is claimed of 13.0.0")
    assert differing_shapes(generator.pillow_resize, name, "pillow") == []


def test_hamming_has_the_single_precision_constants_of_pillow() -> None:
    # With 0.54 and 0.46 in double, one byte in a million is off by one; it is in this row of Pillow 13.0.0.
    row = np.array(
        [
            61,
            135,
            250,
            48,
            255,
            209,
            154,
            250,
            26,
            122,
            237,
            32,
            30,
            27,
            250,
            68,
            14,
            15,
            78,
            162,
            46,
            202,
            46,
            127,
            32,
            114,
            194,
            37,
            111,
            227,
            91,
            24,
            193,
            156,
            38,
            87,
            101,
            139,
            17,
            156,
            34,
            238,
            163,
            196,
            115,
            82,
            238,
            28,
            221,
            135,
            113,
            17,
            247,
            226,
            80,
            104,
            24,
            118,
            150,
            136,
            79,
            177,
            9,
        ],
        np.uint8,
    )
    expected = [
        129,
        159,
        192,
        105,
        96,
        111,
        38,
        99,
        123,
        80,
        132,
        148,
        89,
        104,
        105,
        87,
        171,
        145,
        144,
        156,
        113,
        145,
        73,
        131,
        102,
    ]
    ours = mmcpp.resize(np.repeat(row[None, :, None], 3, axis=2), 1, 25, filter="hamming")
    assert ours[0, :, 0].tolist() == expected


@pytest.mark.parametrize("name", ["bilinear", "bicubic", "lanczos"])
def test_equals_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__.split("+")[0] != "2.13.0":
        pytest.skip(f"torch {torch.__version__}; exactness is claimed of 2.13.0")
    if name == "bilinear" and not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        pytest.skip("torch has no uint8 kernel for bilinear here")
    assert differing_shapes(generator.torch_resize, name, "aten_u8") == []


@pytest.mark.parametrize(
    ("file", "convention"),
    [("pillow13.json", "pillow"), ("pillow12.json", "pillow12"), ("aten_u8.json", "aten_u8")],
)
def test_equals_stored_digests(file: str, convention: str) -> None:
    cases = json.loads((GOLDEN / file).read_text())["cases"]
    compared = 0
    for case in cases:
        image = generator.pixels(*case["shape"][:2])
        for name in case.keys() & set(FILTERS):
            ours = mmcpp.resize(image, *case["shape"][2:], filter=name, convention=convention)
            assert digest(ours) == case[name], (case["shape"], name)
            compared += 1
    assert compared >= 500


def test_pass_orders_differ_where_pillow_13_changed_them() -> None:
    image = generator.pixels(53, 45)
    # 24 rows fewer are more than twice the 11 columns fewer; 11 rows are not.
    for height, same in ((29, False), (42, True)):
        new = mmcpp.resize(image, height, 34, convention="pillow")
        old = mmcpp.resize(image, height, 34, convention="pillow12")
        assert np.array_equal(new, old) is same
