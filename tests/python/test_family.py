import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

import mmcpp
from mmcpp.family import Explicit, Family, Repeat, Text
from samples import encode, noise

IMAGE = 7


class MeanColor(Family):
    """The feature is the mean colour; a picture of height h has h tokens."""

    name = "mean_color"
    feature_name = "colors"
    image_token_id = IMAGE

    def plan(self, height, width):
        if width > 100:
            raise ValueError(f"mean_color: width {width}")
        return mmcpp.ItemPlan((1, 3), (1, 1, 1), height, height, width)

    def process(self, image, plan, out):
        assert image.shape == (plan.resized_height, plan.resized_width, 3)
        assert out.shape == plan.feature_shape
        out[0] = image.reshape(-1, 3).mean(axis=0)

    def aux(self, plan):
        return {"sizes": np.array([plan.resized_height, plan.resized_width])}


def mean(picture):
    return picture.reshape(-1, 3).mean(axis=0).astype(np.float32)


def mean4(picture):
    return picture.reshape(-1, 4).mean(axis=0).astype(np.float32)


@pytest.fixture(scope="module")
def pipeline():
    return mmcpp.Pipeline.from_family(MeanColor())


def test_a_whole_request(pipeline):
    pictures = [noise(3, 5), noise(2, 9)]
    response = pipeline.process(input_ids=[1, IMAGE, 2, IMAGE], images=[pictures[0], encode(pictures[1])])
    assert response.input_ids.tolist() == [1, *[IMAGE] * 3, 2, *[IMAGE] * 2]
    assert response.offsets == [(1, 3), (5, 6)]
    assert response.positions is None
    for item, picture in zip(response.items, pictures, strict=True):
        np.testing.assert_array_equal(item.feature, [mean(picture)])
        np.testing.assert_array_equal(item.aux["sizes"], picture.shape[:2])
        assert item.plan.resized_height == picture.shape[0]


def test_a_batch(pipeline):
    processor = mmcpp.ImageProcessor.from_family(MeanColor())
    pictures = [noise(3, 5), noise(2, 9)]
    inputs = processor(pictures)
    np.testing.assert_array_equal(inputs["colors"], [mean(picture) for picture in pictures])
    np.testing.assert_array_equal(inputs["sizes"], [[3, 5], [2, 9]])
    assert processor(pictures, dtype="bfloat16")["colors"].dtype == np.uint16
    assert processor.plan(4, 6).tokens == 4
    assert (processor.family, processor.feature_name) == ("mean_color", "colors")


def test_it_has_no_spec(pipeline):
    for name in ("spec", "spec_json"):
        with pytest.raises(mmcpp.UnsupportedError, match="mean_color is written in Python and has none"):
            getattr(pipeline, name)
    assert "from_family(" in repr(pipeline)


def test_pickles(pipeline):
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.process(input_ids=[IMAGE], images=[noise(4, 4)]).input_ids.tolist() == [IMAGE] * 4


class Failing(MeanColor):
    def __init__(self, where, error):
        self.where, self.error = where, error

    def fail(self, where):
        if where == self.where:
            raise self.error

    def plan(self, height, width):
        self.fail("plan")
        return super().plan(height, width)

    def process(self, image, plan, out):
        self.fail("process")

    def aux(self, plan):
        self.fail("aux")
        return {}

    def layout(self, input_ids, plans):
        self.fail("layout")
        return super().layout(input_ids, plans)

    def positions(self, length, offsets, plans):
        self.fail("positions")


@pytest.mark.parametrize("where", ["plan", "process", "aux", "layout", "positions"])
@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (ValueError("odd"), ValueError, "invalid_argument"),
        (TypeError("odd"), ValueError, "invalid_argument"),
        (mmcpp.LimitError("odd"), mmcpp.LimitError, "limit_exceeded"),
        (MemoryError("odd"), MemoryError, "out_of_memory"),
        (KeyError("odd"), RuntimeError, "internal"),
        (ZeroDivisionError("odd"), RuntimeError, "internal"),
    ],
)
def test_exceptions_are_errors_of_the_request(where, error, kind, code):
    pipeline = mmcpp.Pipeline.from_family(Failing(where, error))
    with pytest.raises(kind, match="odd") as caught:
        pipeline.process(input_ids=[IMAGE, IMAGE], images=[noise(2, 2), encode(noise(3, 2))])
    assert type(caught.value) is kind
    assert type(error).__name__ in str(caught.value)
    assert caught.value.code == code
    assert caught.value.item == (0 if where in ("plan", "process", "aux") else None)


def test_one_bad_item_harms_no_other():
    processor = mmcpp.ImageProcessor.from_family(MeanColor())
    good, bad, again = processor.process_each([noise(2, 2), noise(2, 101), noise(2, 2)])
    assert isinstance(bad, ValueError)
    assert str(bad) == "image 1: ValueError: mean_color: width 101"
    np.testing.assert_array_equal(good.feature, again.feature)


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("plan", None),
        ("plan", mmcpp.ItemPlan((1, -3), (1, 1, 1), 1, 1, 1)),
        ("plan", mmcpp.ItemPlan((1 << 62, 1 << 62), (1, 1, 1), 1, 1, 1)),
        ("plan", mmcpp.ItemPlan((1, 3), (1, 1, -1), 1, 1, 1)),
        ("plan", mmcpp.ItemPlan((1, 3), (1, 1, 1), -1, 1, 1)),
        ("plan", mmcpp.ItemPlan((1, 3), (1, 1, 1), 1 << 60, 1, 1)),
        ("aux", {"a": np.zeros(2, "complex64")}),
        ("aux", {"a": "text"}),
        ("aux", 5),
        ("layout", None),
        ("layout", [(0, 1)]),
        ("layout", [Text(0, 2)]),
        ("layout", [Text(0, 1 << 70)]),
        ("layout", [Repeat(5, 1, 1), Text(1, 2)]),
        ("layout", [Explicit(0, [1], 0, 2), Text(1, 2)]),
        ("layout", [Repeat(0, 1, 1), Text(1, 99)]),
        ("positions", 5),
        ("positions", (np.zeros((3, 1)), "x")),
    ],
)
def test_values_that_cannot_be_meant_are_errors(method, value):
    family = MeanColor()
    setattr(family, method, lambda *_: value)
    with pytest.raises((ValueError, RuntimeError, MemoryError)) as caught:
        mmcpp.Pipeline.from_family(family).process(input_ids=[IMAGE, 1], images=[noise(2, 2)])
    assert caught.value.code in ("invalid_argument", "internal", "limit_exceeded", "out_of_memory")


class Wrapped(MeanColor):
    def layout(self, input_ids, plans):
        assert input_ids.dtype == np.int64
        return [Text(0, 1), Explicit(0, [8, IMAGE, IMAGE, 9], 1, 3, source_tokens=2), Text(3, len(input_ids))]

    def positions(self, length, offsets, plans):
        assert (length, offsets, len(plans)) == (6, [(2, 3)], 1)
        return np.arange(3 * length).reshape(3, length), -2


def test_a_layout_and_positions_of_its_own():
    response = mmcpp.Pipeline.from_family(Wrapped()).process(input_ids=[1, 4, 4, 2], images=[noise(2, 2)])
    assert response.input_ids.tolist() == [1, 8, IMAGE, IMAGE, 9, 2]
    assert response.offsets == [(2, 3)]
    np.testing.assert_array_equal(response.positions, np.arange(18).reshape(3, 6))
    assert response.position_delta == -2


class Padded(MeanColor):
    pads_features = True

    def plan(self, height, width):
        return mmcpp.ItemPlan((1, height, width, 3), (1, 1, 1), 1, height, width)

    def process(self, image, plan, out):
        out[0, : image.shape[0], : image.shape[1]] = image


def test_features_that_are_padded():
    pictures = [noise(2, 5), noise(4, 3)]
    features = mmcpp.ImageProcessor.from_family(Padded())(pictures, dtype="uint8")["colors"]
    assert features.shape == (2, 4, 5, 3)
    for feature, picture in zip(features, pictures, strict=True):
        expected = np.zeros((4, 5, 3), np.uint8)
        expected[: picture.shape[0], : picture.shape[1]] = picture
        np.testing.assert_array_equal(feature, expected)


class Alpha(MeanColor):
    """The mean of alpha beside that of each colour, 256 for a picture without."""

    keeps_alpha = True

    def plan(self, height, width):
        return mmcpp.ItemPlan((1, 4), (1, 1, 1), height, height, width)

    def process(self, image, plan, out):
        out[0, 3] = 256
        out[0, : image.shape[2]] = image.reshape(-1, image.shape[2]).mean(axis=0)


@pytest.mark.parametrize("profile", ["hf", "vllm"])
def test_transparency_may_be_the_familys(profile):
    processor = mmcpp.ImageProcessor.from_family(Alpha(), profile=profile)
    clear = np.dstack([noise(6, 5), np.arange(30, dtype=np.uint8).reshape(6, 5)])
    opaque = noise(4, 3)
    features = processor([encode(clear), clear, Image.fromarray(clear), encode(opaque), opaque])["colors"]
    np.testing.assert_array_equal(features, [mean4(clear)] * 3 + [[*mean(opaque), 256]] * 2)
    with pytest.raises(ValueError, match=r"expected a uint8 array \[height, width, 3 or 4\], got shape \(4, 3\)"):
        processor([opaque[..., 0]])
    with pytest.raises(ValueError, match=r"expected a uint8 array \[height, width, 3\], got shape \(6, 5, 4\)"):
        mmcpp.ImageProcessor.from_family(MeanColor())([clear])


class Keeping(MeanColor):
    def __init__(self):
        self.kept = []

    def process(self, image, plan, out):
        super().process(image, plan, out)
        self.kept.append((image, out))


def test_what_it_keeps_of_its_arguments_is_its_own():
    family = Keeping()
    picture = noise(40, 50)
    result = mmcpp.ImageProcessor.from_family(family)(encode(picture))
    gc.collect()
    image, out = family.kept[0]
    np.testing.assert_array_equal(image, picture)
    out[:] = -1
    np.testing.assert_array_equal(result["colors"], [mean(picture)])


def test_many_threads(pipeline):
    pictures = [noise(2 + i % 5, 3) for i in range(64)]

    def one(i):
        response = pipeline.process(input_ids=[IMAGE] * 4, images=pictures[i : i + 4])
        return [item.feature.tolist() for item in response.items]

    with ThreadPoolExecutor(8) as pool:
        for i, features in enumerate(pool.map(one, range(60))):
            assert features == [[mean(picture).tolist()] for picture in pictures[i : i + 4]]


def test_placeholders_must_match(pipeline):
    with pytest.raises(ValueError, match=r"prompt has 2 media placeholder\(s\) but 1 media item\(s\)"):
        pipeline.process(input_ids=[IMAGE, IMAGE], images=[noise(2, 2)])
    family = MeanColor()
    family.image_token_id = None
    with pytest.raises(RuntimeError, match="neither an image_token_id nor a layout"):
        mmcpp.Pipeline.from_family(family).process(input_ids=[IMAGE], images=[noise(2, 2)])


def test_a_family_is_a_family():
    with pytest.raises(TypeError, match=r"expected a mmcpp\.family\.Family, got str"):
        mmcpp.Pipeline.from_family("qwen_vl")
