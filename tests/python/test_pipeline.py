from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

import mmcpp
from mmcpp.spec import preset_spec
from samples import SPEC, encode, noise, png, png_promising, smooth


def slow_features(picture, spec):
    """`qwen_vl` by loops over the written rule, for a picture of a size that needs no resize."""
    patch, merge, copies = spec["patch_size"], spec["merge_size"], spec["temporal_patch_size"]
    rows, columns = picture.shape[0] // patch, picture.shape[1] // patch
    mean, std = (np.array(spec[key], np.float32) for key in ("image_mean", "image_std"))
    if spec["resample"] == "pil":
        values = ((picture.astype(np.float64) * (1 / 255)).astype(np.float32) - mean) / std
    else:
        scale = np.float32(255)
        values = (picture.astype(np.float32) - mean * scale) / (std * scale)
    out = []
    for block_row in range(rows // merge):
        for block_column in range(columns // merge):
            for r in range(merge):
                for c in range(merge):
                    y, x = (block_row * merge + r) * patch, (block_column * merge + c) * patch
                    planes = values[y : y + patch, x : x + patch].transpose(2, 0, 1)
                    out.append(np.stack([planes] * copies, axis=1).reshape(-1))
    return np.stack(out)


@pytest.fixture(scope="module", params=["torchvision", "pil"])
def processor(request):
    return mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl", backend=request.param))


@pytest.fixture(scope="module")
def pipeline():
    return mmcpp.Pipeline.from_spec(SPEC)


def test_values_follow_the_rule(processor):
    picture = noise(84, 112)
    inputs = processor(picture)
    assert list(inputs) == ["pixel_values", "image_grid_thw"]
    np.testing.assert_array_equal(inputs["pixel_values"], slow_features(picture, processor.spec))
    assert inputs["pixel_values"].dtype == np.float32
    np.testing.assert_array_equal(inputs["image_grid_thw"], np.array([[1, 6, 8]]))
    assert inputs["image_grid_thw"].dtype == np.int64


def test_pictures_are_packed_in_order(processor, tmp_path):
    pictures = [smooth(100, 76), smooth(300, 470), smooth(56, 56)]
    path = tmp_path / "a.png"
    path.write_bytes(encode(pictures[1]))
    together = processor([pictures[0], path, Image.fromarray(pictures[2])])
    apart = [processor(picture) for picture in pictures]
    for name in together:
        np.testing.assert_array_equal(together[name], np.concatenate([one[name] for one in apart]))


def test_one_picture_and_a_tuple_of_one_are_the_same(processor):
    for name, value in processor(png(60, 70)).items():
        np.testing.assert_array_equal(processor((png(60, 70),))[name], value)


def test_dtypes(processor):
    picture = smooth(100, 76)
    f32 = processor(picture)["pixel_values"]
    f16 = processor(picture, dtype="float16")["pixel_values"]
    np.testing.assert_array_equal(f16, f32.astype(np.float16))
    bits = processor(picture, dtype="bfloat16")["pixel_values"]
    assert bits.dtype == np.uint16
    widened = (bits.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_allclose(widened, f32, rtol=2**-8)
    u8 = processor(picture, dtype="uint8")["pixel_values"]
    assert (u8.dtype, u8.shape) == (np.uint8, f32.shape)
    for dtype in ("bf16", "int8", "", "float64"):
        with pytest.raises(ValueError, match=f'float32, bfloat16, float16 or uint8, got "{dtype}"'):
            processor(picture, dtype=dtype)


def test_torch_tensors_without_a_copy(processor):
    torch = pytest.importorskip("torch", reason="torch makes the tensors")
    picture = smooth(100, 76)
    expected = processor(picture)
    inputs = processor(picture, return_tensors="pt")
    for name, value in expected.items():
        assert torch.equal(inputs[name], torch.from_numpy(value))
    bf16 = processor(picture, dtype="bfloat16", return_tensors="pt")["pixel_values"]
    assert torch.equal(bf16, inputs["pixel_values"].to(torch.bfloat16))
    assert processor(picture, dtype="float16", return_tensors="pt")["pixel_values"].dtype == torch.float16
    with pytest.raises(ValueError, match="return_tensors: .*'tf'"):
        processor(picture, return_tensors="tf")


def test_features_own_the_core_memory(processor):
    features = processor(png(60, 70))["pixel_values"]
    assert not features.flags.owndata
    assert features.flags.writeable
    assert type(features.base).__name__ == "PyCapsule"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "uint8"])
def test_features_in_memory_of_the_caller(processor, dtype):
    pictures = [encode(smooth(300, 470)), smooth(100, 76)]
    want = processor(pictures, dtype=dtype)
    memory = np.zeros((want["pixel_values"].shape[0] + 2, 1176), want["pixel_values"].dtype)
    out = memory[1:-1]
    inputs = processor(pictures, dtype=dtype, out=out)
    assert inputs["pixel_values"] is out
    np.testing.assert_array_equal(out, want["pixel_values"])
    np.testing.assert_array_equal(inputs["image_grid_thw"], want["image_grid_thw"])
    assert not memory[[0, -1]].any()
    for error, wrong, message in [
        (TypeError, out.astype(np.int32), "got dtype int32"),
        (TypeError, "somewhere", "got str"),
        (ValueError, out[:-1], "of shape"),
        (ValueError, out.reshape(-1), "of shape"),
        (ValueError, memory[::2], "not C-contiguous"),
        (ValueError, np.frombuffer(out.tobytes(), out.dtype).reshape(out.shape), "read-only"),
    ]:
        with pytest.raises(error, match=message):
            processor(pictures, dtype=dtype, out=wrong)


def test_items_tell_what_is_known_of_a_picture(processor):
    data = encode(smooth(100, 76), "JPEG")
    batch = processor.process_items([data, smooth(56, 84)])
    first, second = batch.items
    assert first.content_hash == mmcpp.content_hash(data)
    assert first.info == mmcpp.image_info(data)
    assert second.info is None
    assert first.plan == processor.plan(100, 76)
    assert first.feature is None
    assert batch.features.shape[0] == sum(item.plan.feature_shape[0] for item in batch.items)
    assert all(ms >= 0 for ms in (first.times.hash_ms, first.times.decode_ms, first.times.process_ms))
    other = processor.process_items([smooth(84, 56), smooth(56, 84)]).items
    assert other[0].content_hash != second.content_hash == other[1].content_hash


def test_results_compare_by_identity(processor):
    first, second = processor.process_items([smooth(56, 84)] * 2).items
    assert first != second  # and no error that an array has several truths


def test_counting_needs_no_pixels(processor):
    for size in ((1, 5), (100, 76), (480, 640), (1400, 700)):
        plan = processor.plan(*size)
        assert processor(np.zeros((*size, 3), np.uint8))["pixel_values"].shape == plan.feature_shape
        assert processor.count_tokens(*size) == plan.tokens == plan.grid[1] * plan.grid[2] // 4
        assert (plan.resized_height, plan.resized_width) == (plan.grid[1] * 14, plan.grid[2] * 14)
    assert processor.count_tokens(np.int32(100), 76) == 12
    for size, match in (((0, 5), "height"), ((5, -1), "width"), ((1, 201), "200"), ((5, 2**31), "width")):
        with pytest.raises(ValueError, match=match):
            processor.count_tokens(*size)
    with pytest.raises(TypeError, match="height"):
        processor.count_tokens(1.5, 2)


def test_profiles_and_limits_reach_the_decoder():
    rgba = encode(noise(56, 56, 4))
    spec = preset_spec("qwen2_vl")
    white = mmcpp.ImageProcessor.from_spec(spec)(rgba)["pixel_values"]
    dropped = mmcpp.ImageProcessor.from_spec(spec, profile="pillow")(rgba)["pixel_values"]
    as_hf = mmcpp.ImageProcessor.from_spec(spec)(mmcpp.decode_image(rgba, profile="hf"))["pixel_values"]
    np.testing.assert_array_equal(white, as_hf)
    assert not np.array_equal(white, dropped)
    small = mmcpp.ImageProcessor.from_spec(spec, limits=mmcpp.DecodeLimits(max_pixels=100))
    with pytest.raises(mmcpp.LimitError, match="image 0: .*100"):
        small(rgba)
    with pytest.raises(ValueError, match="nosuch"):
        mmcpp.ImageProcessor.from_spec(spec, profile="nosuch")(rgba)


BAD_PICTURES = [
    (b"", ValueError, "invalid_argument"),
    (b"hello, world", mmcpp.MmError, None),
    (encode(noise(40, 50), "JPEG")[:-900], mmcpp.DecodeError, "corrupt_input"),
    (png(40, 50)[:-200], mmcpp.DecodeError, "corrupt_input"),
    (png_promising(100_000, 100_000), mmcpp.LimitError, "limit_exceeded"),
    (b"II*\0" + bytes(40), mmcpp.UnsupportedError, "unsupported"),
    (noise(1, 300), ValueError, "invalid_argument"),
    (png(1, 300), ValueError, "invalid_argument"),
]


@pytest.mark.parametrize(("bad", "error", "code"), BAD_PICTURES)
def test_the_lowest_bad_picture_is_named(processor, pipeline, bad, error, code):
    pictures = [png(30, 40), bad, bad, b""]

    def request():
        return pipeline.process(input_ids=[5, 5, 5, 5], images=pictures)

    for call in (lambda: processor(pictures), request):
        with pytest.raises(error, match=r"^image 1: ") as caught:
            call()
        assert caught.value.item == 1
        assert code is None or caught.value.code == code


@pytest.mark.parametrize(
    ("bad", "error", "match"),
    [
        (noise(4, 5).astype(np.float32), TypeError, "float32"),
        (np.asfortranarray(noise(40, 50)), ValueError, "ascontiguousarray"),
        (noise(40, 50)[::2], ValueError, "ascontiguousarray"),
        (np.zeros((0, 5, 3), np.uint8), ValueError, "sides must be"),
        (noise(4, 5, 4), ValueError, r"shape \(4, 5, 4\)"),
        ("a.png", TypeError, "image 1: .*pathlib"),
        (5, TypeError, "bytes-like.*int"),
        (None, TypeError, "bytes-like.*NoneType"),
        ([b"x"], TypeError, "image 1: .*nested"),
    ],
)
def test_what_is_no_picture_is_refused(processor, bad, error, match):
    with pytest.raises(error, match=match):
        processor([png(30, 40), bad])


def test_no_pictures(processor, pipeline):
    with pytest.raises(ValueError, match="image"):
        processor([])
    with pytest.raises(ValueError, match="image"):
        pipeline.process(input_ids=[1, 2], images=[])


def test_a_request(pipeline):
    pictures = [png(100, 76), smooth(56, 84)]
    response = pipeline.process(input_ids=[1, 5, 2, 3, 5, 4], images=pictures)
    tokens = [pipeline.count_tokens(100, 76), pipeline.count_tokens(56, 84)]
    expected = [1, *[5] * tokens[0], 2, 3, *[5] * tokens[1], 4]
    np.testing.assert_array_equal(response.input_ids, expected)
    assert response.input_ids.dtype == np.int64
    assert response.offsets == [(1, tokens[0]), (tokens[0] + 3, tokens[0] + 2 + tokens[1])]
    processor = mmcpp.ImageProcessor.from_spec(pipeline.spec)
    for item, picture in zip(response.items, pictures, strict=True):
        np.testing.assert_array_equal(item.feature, processor(picture)["pixel_values"])
        assert item.aux["image_grid_thw"].tolist() == list(item.plan.grid)
    assert response.positions.shape == (3, len(expected))
    assert response.positions.dtype == np.int64
    assert response.position_delta == response.positions.max() + 1 - len(expected)
    np.testing.assert_array_equal(response.positions[:, :2], [[0, 1]] * 3)
    assert response.times.layout_ms >= 0


def test_ids_of_any_integers(pipeline):
    expected = pipeline.process(input_ids=[1, 5], images=[png(30, 40)]).input_ids
    for ids in (
        (1, 5),
        np.array([1, 5], np.int32),
        np.array([1, 5], np.uint64),
        np.array([9, 1, 9, 5])[1::2],
        range(1, 6, 4),
    ):
        np.testing.assert_array_equal(pipeline.process(input_ids=ids, images=[png(30, 40)]).input_ids, expected)


@pytest.mark.parametrize(
    ("ids", "error", "match"),
    [
        ([], ValueError, "input_ids"),
        ([1, 2], ValueError, r"0 media placeholder\(s\) but 1 media item"),
        ([5, 5], ValueError, r"2 media placeholder\(s\) but 1 media item"),
        ([1.0, 5.0], TypeError, "float64"),
        ([True, False], TypeError, "bool"),
        ("abc", TypeError, "input_ids"),
        (None, TypeError, "input_ids"),
        ([[1, 5]], TypeError, r"\(1, 2\)"),
        ([[1, 5], [1]], TypeError, "input_ids"),
        (np.array([2**63, 5], np.uint64), ValueError, "9223372036854775808"),
        ([2**63, 5], TypeError, "int64"),
        ([2**70, 5], TypeError, "input_ids"),
    ],
)
def test_bad_ids(pipeline, ids, error, match):
    with pytest.raises(error, match=match):
        pipeline.process(input_ids=ids, images=[png(30, 40)])


@pytest.mark.parametrize(
    ("limits", "match"),
    [({"max_items": 1}, "1"), ({"max_total_bytes": 100}, "100"), ({"max_tokens": 7}, "7")],
)
def test_request_limits(pipeline, limits, match):
    request = {"input_ids": [5, 5], "images": [png(60, 60)] * 2}
    pipeline.process(**request, limits=mmcpp.RequestLimits())
    with pytest.raises(mmcpp.LimitError, match=match):
        pipeline.process(**request, limits=mmcpp.RequestLimits(**limits))


def test_the_image_half_takes_more_pictures_than_a_request(processor):
    assert len(processor([noise(28, 28)] * 100)["image_grid_thw"]) == 100


def test_eight_threads_get_what_one_gets(processor, pipeline):
    data = [encode(smooth(120 + i, 90), fmt) for i, fmt in enumerate(("JPEG", "PNG", "WEBP"))]

    def work(_):
        inputs = processor(data)
        response = pipeline.process(input_ids=[5, 1, 5, 5], images=data)
        pixels = [mmcpp.decode_image(one) for one in data]
        return (
            inputs["pixel_values"].tobytes(),
            response.positions.tobytes(),
            [item.feature.tobytes() for item in response.items],
            [mmcpp.resize(one, 50, 40).tobytes() for one in pixels],
            [mmcpp.content_digest(one) for one in data],
        )

    expected = work(0)
    with ThreadPoolExecutor(8) as pool:
        assert all(result == expected for result in pool.map(work, range(32)))


def test_errors_in_threads_stay_apart(processor):
    def work(index):
        pictures = [noise(30, 40)] * 8
        pictures[index % 8] = b"GIF89a"
        with pytest.raises(mmcpp.DecodeError) as caught:
            processor(pictures)
        return caught.value.item == index % 8

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


def test_a_text_and_its_tokenizer(pipeline):
    image = SPEC["image_token_id"]
    picture = noise(56, 56)
    expected = pipeline.process(input_ids=[1, image, 2], images=[picture])
    calls = []

    def tokenizer(text):
        calls.append(text)
        return [1, image, 2]

    response = pipeline.process(text="see <é>", tokenizer=tokenizer, images=[picture])
    np.testing.assert_array_equal(response.input_ids, expected.input_ids)
    assert response.offsets == expected.offsets
    assert calls == ["see <é>"]
    assert response.times.tokenize_ms > 0


@pytest.mark.parametrize(
    ("raised", "kind", "code"),
    [
        (KeyError("lost"), RuntimeError, "internal"),
        (ValueError("lost"), ValueError, "invalid_argument"),
        (MemoryError("lost"), MemoryError, "out_of_memory"),
        (mmcpp.UnsupportedError("lost"), mmcpp.UnsupportedError, "unsupported"),
    ],
)
def test_an_error_of_the_tokenizer_is_the_requests_and_its_cause(pipeline, raised, kind, code):
    def tokenizer(_):
        raise raised

    with pytest.raises(kind, match=f"^tokenizer: {type(raised).__name__}: .*lost") as caught:
        pipeline.process(text="a", tokenizer=tokenizer, images=[noise(28, 28)])
    assert caught.value.__cause__ is raised
    assert (caught.value.code, caught.value.item) == (code, None)


def test_a_tokenizer_gives_integers(pipeline):
    for value, kind in (([1.5], ValueError), (None, ValueError), ([], ValueError), ([[1]], ValueError)):
        with pytest.raises(kind, match="tokenizer: "):
            pipeline.process(text="a", tokenizer=lambda _, value=value: value, images=[noise(28, 28)])


def test_a_bad_item_harms_no_other(processor, tmp_path):
    good = noise(56, 84)
    images = [encode(good), b"", b"hello", encode(good)[:50], good, good[:, ::2], tmp_path / "none.png", "data:,x"]
    results = processor.process_each(images, dtype="uint8")
    alone = processor.process_items([good], dtype="uint8")
    for index in (0, 4):
        np.testing.assert_array_equal(results[index].feature, alone.features)
        assert results[index].plan == alone.items[0].plan
    unsupported = mmcpp.UnsupportedError
    kinds = [ValueError, unsupported, mmcpp.DecodeError, ValueError, FileNotFoundError, unsupported]
    for index, kind in zip((1, 2, 3, 5, 6, 7), kinds, strict=True):
        assert type(results[index]) is kind, index
        if kind is not FileNotFoundError:
            assert results[index].item == index
            assert str(results[index]).startswith(f"image {index}: ")
            with pytest.raises(kind) as caught:
                processor.process_items(images[index])
            assert str(caught.value).partition(": ")[2] == str(results[index]).partition(": ")[2]
    with pytest.raises(TypeError, match="image 1"):
        processor.process_each([good, 5])
    with pytest.raises(ValueError, match="without image sources"):
        processor.process_each([])
