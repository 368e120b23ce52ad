"""Whole requests through transformers' own processors, cached and not, against the processor called directly."""

import random
from typing import Any

import numpy as np
import pytest

from mmcpp.cache import CacheMissError, ItemCache
from mmcpp.errors import LimitError

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
torch = pytest.importorskip("torch")

from PIL import Image  # noqa: E402

from hf_processors import PROCESSORS  # noqa: E402 - needs transformers
from hf_requests import FORMS, assert_is, directly, picture, same_requests, text_of  # noqa: E402
from mmcpp import ImageProcessor  # noqa: E402
from mmcpp.fields import flat_from_sizes  # noqa: E402
from mmcpp.processing import MultiModalProcessor, from_tree, to_tree  # noqa: E402
from mmcpp.processing_hf import ProcessorRules  # noqa: E402
from mmcpp.spec import preset_spec  # noqa: E402
from mmcpp.torch import FusedInputNorm  # noqa: E402


@pytest.fixture(scope="module", params=list(PROCESSORS))
def processor(request: pytest.FixtureRequest) -> Any:
    return PROCESSORS[request.param]()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_text_equals_the_processor_called_directly(processor: Any, count: int) -> None:
    pictures = [picture(i) for i in range(count)]
    text = text_of(processor, count, seed=count)
    request = MultiModalProcessor(processor).process(text, {"image": pictures})
    assert_is(request, directly(processor, text, pictures))


@pytest.mark.parametrize("hit_rate", [0.0, 0.3, 0.5, 1.0])
def test_cached_equals_uncached_and_the_processor_in_every_form(processor: Any, hit_rate: float) -> None:
    """A batch of 32 pictures for each form of prompt, of which a share is in the cache."""
    rng = random.Random(7)
    cached = MultiModalProcessor(processor, cache=ItemCache(1 << 28))
    uncached = MultiModalProcessor(processor)
    known = [picture(i) for i in range(32)]
    cached.process(None, {"image": known})
    for turn, form in enumerate(FORMS, 1):
        kept = [rng.random() < hit_rate for _ in range(32)]
        media = {"image": [known[i] if kept[i] else picture(100 * turn + i) for i in range(32)]}
        # Nothing that joins with the line breaks of an item: ids are not encoded again.
        text = "A" + processor.image_token.join(rng.choice([" photo ", " and", " is: ", ""]) for _ in range(33)) + " B"
        expected = directly(processor, text, media["image"])
        plain = processor.tokenizer(cached.media.layout(text))["input_ids"]
        prompt = {"text": text, "ids": plain, "expanded ids": expected["input_ids"][0].tolist()}[form]
        before = cached._cache.stats()
        request = cached.process(prompt, media)
        grown = cached._cache.stats().since(before)
        assert (grown.hits, grown.misses) == (sum(kept), 32 - sum(kept))
        assert_is(request, expected)
        assert same_requests(request, uncached.process(prompt, media))


class Counting:
    """A processor that remembers how many pictures it was given."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor
        self.batches: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._processor, name)

    def __call__(self, **arguments: Any) -> Any:
        self.batches.append(len(arguments["images"]))
        return self._processor(**arguments)


def counting(name: str, **options: Any) -> tuple[MultiModalProcessor, Counting]:
    processor = Counting(PROCESSORS[name]())
    from mmcpp.processing_hf import RULES

    rules = RULES[type(processor._processor).__name__]
    return MultiModalProcessor(processor, rules=rules, cache=ItemCache(1 << 28), **options), processor


def test_missing_items_are_processed_together_and_once() -> None:
    wrapper, processor = counting("qwen2_vl")
    a, b, token = picture(1), picture(2), processor.image_token
    wrapper.process(token * 3, {"image": [a, b, a]})
    assert processor.batches == [2], "vLLM processes the picture that is there twice twice"
    wrapper.process(token * 2, {"image": [b, picture(3)]})
    assert processor.batches == [2, 1]
    wrapper.process(token * 2, {"image": [a, b]})
    assert processor.batches == [2, 1], "nothing is missing: the processor is not called"


def test_items_of_a_batch_do_not_keep_it_alive() -> None:
    wrapper, processor = counting("qwen2_vl")
    pictures = [picture(i) for i in range(4)]
    request = wrapper.process(processor.image_token * 4, {"image": pictures})
    used = sum(np.asarray(item.tensors.data["pixel_values"]).nbytes for item in request.items["image"])
    assert used < wrapper._cache.stats().bytes < used + 20_000


def test_options_change_the_key_and_the_result() -> None:
    wrapper, processor = counting("qwen2_vl")
    text, media = processor.image_token, {"image": [picture(1)]}
    first = wrapper.process(text, media)
    small = {"images_kwargs": {"size": {"shortest_edge": 28 * 28, "longest_edge": 28 * 28}}}
    second = wrapper.process(text, media, options=small)
    assert first.keys != second.keys
    assert len(second.ids) < len(first.ids)
    expected = processor._processor(images=[media["image"]], text=[text], return_tensors="pt", **small)
    assert_is(second, expected)
    third = wrapper.process(text, media, options={"videos_kwargs": {"fps": 1}})
    assert third.keys == first.keys, "other modalities' options do not matter"


def test_items_by_uuid() -> None:
    wrapper, processor = counting("llava")
    token, one = processor.image_token, picture(1)
    with pytest.raises(CacheMissError, match=r"1 item\(s\) are not cached"):
        wrapper.process(token, {"image": [None]}, uuids={"image": ["mine"]})
    first = wrapper.process(token, {"image": [one]}, uuids={"image": "mine"})
    second = wrapper.process(token, {"image": [None]}, uuids={"image": ["mine"]})
    assert same_requests(first, second)
    assert processor.batches == [1]
    with pytest.raises(ValueError, match="neither data nor a uuid"):
        wrapper.process(token, {"image": [None]})
    with pytest.raises(ValueError, match=r"2 uuid\(s\) for 1 image item"):
        wrapper.process(token, {"image": [one]}, uuids={"image": ["a", "b"]})


def test_media_alone_and_text_alone(processor: Any) -> None:
    wrapper = MultiModalProcessor(processor)
    request = wrapper.process(None, {"image": [picture(1)]})
    assert request.ids is None
    assert_is(request, directly(processor, processor.image_token, [picture(1)]), check_ids=False)
    text = wrapper.process("only words")
    assert text.tensors() == {}
    assert text.ids.tolist() == directly(processor, "only words", [])["input_ids"][0].tolist()


def test_limits() -> None:
    processor = PROCESSORS["llava"]()
    wrapper = MultiModalProcessor(processor, limits={"image": 1})
    token = processor.image_token
    with pytest.raises(LimitError, match=r"2 image item\(s\), the limit is 1"):
        wrapper.process(token * 2, {"image": [picture(1), picture(2)]})
    text = wrapper.process(token, {"image": [picture(1)]})
    for prompt in (token, processor.tokenizer(token)["input_ids"], text.ids):
        with pytest.raises(LimitError, match="the limit is 5"):
            wrapper.process(prompt, {"image": [picture(1)]}, max_tokens=5)
    with pytest.raises(ValueError, match="takes image, not audio"):
        wrapper.process(token, {"audio": [np.zeros(100)]})


def test_a_processor_that_fails_says_on_what() -> None:
    wrapper = MultiModalProcessor(PROCESSORS["llava"]())
    with pytest.raises(ValueError, match=r"LlavaProcessor fails on 1 image item\(s\)"):
        wrapper.process(None, {"image": [np.zeros((2, 2, 9, 9))]})


def test_pictures_may_be_bytes_files_or_pixels(processor: Any, tmp_path: Any) -> None:
    one = picture(5)
    path = tmp_path / "picture.png"
    one.save(path)
    wrapper = MultiModalProcessor(processor)
    expected = wrapper.process(None, {"image": [one]}).tensors(return_tensors="pt")
    forms = [path, path.read_bytes(), np.asarray(one)]
    requests = [wrapper.process(None, {"image": [form]}) for form in forms]
    for request in requests:
        got = request.tensors(return_tensors="pt")
        assert all(torch.equal(got[name], expected[name]) for name in expected)
    assert requests[0].keys == requests[1].keys, "a file is known by its bytes"


def test_dummies_for_profiling(processor: Any) -> None:
    wrapper = MultiModalProcessor(processor)
    prompt, media = wrapper.dummy_request({"image": 2}, height=40, width=60)
    assert len(wrapper.process(prompt, media).placeholders["image"]) == 2
    with pytest.raises(ValueError, match="no dummies for video"):
        wrapper.dummy_request({"video": 1}, height=40, width=60)


def native_qwen2_vl() -> ImageProcessor:
    spec = preset_spec("qwen2_vl", backend="pil")
    spec["min_pixels"], spec["max_pixels"] = 28 * 28, 56 * 84  # as hf_processors has it
    return ImageProcessor.from_spec(spec)


def test_the_native_family_gives_the_same() -> None:
    processor = PROCESSORS["qwen2_vl"]()
    native = MultiModalProcessor(processor, native=native_qwen2_vl())
    pictures = [picture(i) for i in range(4)]
    text = text_of(processor, 4)
    request = native.process(text, {"image": pictures})
    assert_is(request, directly(processor, text, pictures))
    assert same_requests(request, MultiModalProcessor(processor).process(text, {"image": pictures}))


def test_a_native_family_that_packs_strips_is_refused() -> None:
    spec = {"family": "minicpmv", "image_token_id": 1, "patch_size": 14, "merge_size": 4, "scale_resolution": 448}
    native = ImageProcessor.from_spec({**spec, "max_slices": 9, "image_mean": [0.5] * 3, "image_std": [0.5] * 3})
    with pytest.raises(ValueError, match="minicpmv makes one tensor of all items"):
        MultiModalProcessor(PROCESSORS["qwen2_vl"](), native=native)


def test_the_native_family_gives_bytes_for_the_device() -> None:
    processor, media = PROCESSORS["qwen2_vl"](), {"image": [picture(1), picture(2)]}
    native = MultiModalProcessor(processor, native=native_qwen2_vl(), device_normalize=True)
    theirs = MultiModalProcessor(processor, device_normalize=True)
    data, floats = (wrapper.process(None, media).tensors()["pixel_values"] for wrapper in (native, theirs))
    assert data.dtype == np.uint8
    assert (data == np.asarray(floats)).all()


def test_pixels_are_left_to_the_device_whatever_a_request_says() -> None:
    processor = PROCESSORS["qwen2_vl"]()
    wrapper = MultiModalProcessor(processor, device_normalize=True)
    insisting = {"do_rescale": True, "images_kwargs": {"do_normalize": True}}
    pixels = wrapper.process(None, {"image": [picture(1)]}, options=insisting).tensors()["pixel_values"]
    assert float(pixels.max()) > 200
    assert (np.asarray(pixels) == np.asarray(pixels).round()).all()


def test_items_have_a_form_for_shared_levels(processor: Any) -> None:
    from mmcpp.cache_format import pack, unpack

    wrapper = MultiModalProcessor(processor)
    [item] = wrapper.process(None, {"image": [picture(1)]}).items["image"]
    back = from_tree(unpack("key", pack("key", to_tree(item))))
    assert back.text == item.text
    assert back.ids.tolist() == item.ids.tolist()
    assert (back.is_embed is None) == (item.is_embed is None)
    assert back.tensors.fields == item.tensors.fields
    for name, value in item.tensors.data.items():
        assert np.array_equal(np.asarray(back.tensors.data[name]), np.asarray(value))


class Toy:
    """A processor whose pictures are rows, each of which becomes the token 5."""

    image_token, image_token_id = "5", 5

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.tokenizer = self

    def to_json_string(self) -> str:
        return "{}"

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return [int(digit) for digit in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(str, ids))

    def __call__(self, **arguments: Any) -> Any:
        pictures = arguments["images"]
        self.batches.append(len(pictures))
        offsets = [[{"replacement": "5" * len(one)} for one in pictures]]
        return {"pixel_values": np.concatenate(pictures), "text_replacement_offsets": offsets}


def test_a_request_with_one_picture_twice_beside_vllm_s() -> None:
    """vLLM gives its processor three pictures and keeps a batch of 12,000 bytes for an item of 4,000."""
    toy = Toy()
    rules = ProcessorRules(split=lambda outputs, modality: {"pixel_values": flat_from_sizes(modality, [4, 4])})
    wrapper = MultiModalProcessor(toy, rules=rules, cache=ItemCache(1 << 20))
    a, b = np.full((4, 250), 1, np.float32), np.full((4, 250), 2, np.float32)
    request = wrapper.process([1, 5, 2, 5, 5], {"image": [a, a, b]}, form="plain")
    assert request.ids.tolist() == [1, 5, 5, 5, 5, 2, 5, 5, 5, 5, 5, 5, 5, 5]
    assert [(where.offset, where.length) for where in request.placeholders["image"]] == [(1, 4), (6, 4), (10, 4)]
    assert toy.batches == [2], "once each"
    wrapper.process([5], {"image": [a]}, form="plain")
    assert toy.batches == [2]
    pixels = request.items["image"][0].tensors.data["pixel_values"]
    assert (pixels.nbytes, pixels.base) == (4000, None), "not a view that keeps the batch"


def embeddings(rows: int, hidden: int = 8) -> Any:
    return torch.arange(rows * hidden, dtype=torch.float32).reshape(rows, hidden)


@pytest.mark.parametrize("name", ["llava", "llava_next", "internvl"])
@pytest.mark.parametrize("form", FORMS)
def test_media_may_be_given_as_embeddings(name: str, form: str) -> None:
    processor = PROCESSORS[name]()
    wrapper = MultiModalProcessor(processor, cache=ItemCache(1 << 20), hidden_size=8)
    media = {"image": [embeddings(5), embeddings(3)]}
    text = f"a{processor.image_token}b{processor.image_token}c"
    from_text = wrapper.process(text, media)
    plain = processor.tokenizer(wrapper.media.layout(text))["input_ids"]
    prompt = {"text": text, "ids": plain, "expanded ids": from_text.ids}[form]
    request = wrapper.process(prompt, media)
    assert request.ids.tolist() == from_text.ids.tolist()
    assert [where.num_embeds for where in request.placeholders["image"]] == [5, 3]
    assert (request.ids == processor.image_token_id).sum() == 8
    got = request.tensors(return_tensors="pt")["image_embeds"]
    assert all(torch.equal(one, other) for one, other in zip(got, media["image"], strict=True))
    assert wrapper._cache.stats().entries == 0, "nothing was processed, so nothing is kept"
    assert request.keys != wrapper.process(None, {"image": [embeddings(4), embeddings(3)]}).keys


def test_a_tensor_of_three_dimensions_is_embeddings() -> None:
    wrapper = MultiModalProcessor(PROCESSORS["llava"](), hidden_size=8)
    request = wrapper.process(None, {"image": torch.zeros(2, 5, 8)})
    assert request.tensors()["image_embeds"].shape == (2, 5, 8)


def test_qwen_s_embeddings_come_with_their_grid() -> None:
    processor = PROCESSORS["qwen2_vl"]()
    wrapper = MultiModalProcessor(processor, hidden_size=8)
    media = {"image": {"image_embeds": embeddings(10), "image_grid_thw": torch.tensor([[1, 4, 4], [1, 4, 6]])}}
    request = wrapper.process(f"a{processor.image_token}b{processor.image_token}", media)
    assert [where.length for where in request.placeholders["image"]] == [4, 6]
    tensors = request.tensors(return_tensors="pt")
    assert torch.equal(tensors["image_embeds"], media["image"]["image_embeds"])
    assert torch.equal(tensors["image_grid_thw"], media["image"]["image_grid_thw"])
    assert request.device_bytes() == {"image": [4 * 8 * 4, 6 * 8 * 4]}


@pytest.mark.parametrize(
    ("name", "given", "match"),
    [
        ("llava", [embeddings(5, 9)], r"of shape \(5, 9\), expected \[tokens, 8\]"),
        ("llava", [embeddings(0)], r"of shape \(0, 8\)"),
        ("llava", [embeddings(2).to(torch.int64)], "embeddings of torch.int64"),
        ("llava", [embeddings(2), torch.zeros(1, 2, 8)], r"of shape \(1, 2, 8\)"),
        ("llava", [embeddings(2).to_sparse()], "sparse"),
        ("llava", {"image_embeds": embeddings(2)}, "no image items as a mapping"),
        ("mllama", [embeddings(5)], "MllamaProcessor takes no image items as embeddings"),
        ("qwen2_vl", [embeddings(4)], "in a mapping, with their grid"),
        ("qwen2_vl", {"image_embeds": embeddings(4)}, "image_embeds and image_grid_thw are needed"),
        (
            "qwen2_vl",
            {"image_embeds": embeddings(5), "image_grid_thw": torch.tensor([[1, 4, 4]])},
            "items take 4 of 5 entries",
        ),
        ("qwen2_vl", {"image_embeds": embeddings(4), "image_grid_thw": torch.tensor([1, 4, 4])}, "must be positive"),
        ("qwen2_vl", {"image_embeds": embeddings(4), "image_grid_thw": torch.tensor([[1, 4, -4]])}, "must be positive"),
    ],
)
def test_embeddings_that_do_not_fit_are_refused(name: str, given: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        MultiModalProcessor(PROCESSORS[name](), hidden_size=8).process(None, {"image": given})


def test_embeddings_have_to_be_allowed() -> None:
    with pytest.raises(ValueError, match="given as embeddings, for which no hidden_size is set"):
        MultiModalProcessor(PROCESSORS["llava"]()).process(None, {"image": [embeddings(5)]})


def test_a_still_picture_s_second_frame_stays_at_home() -> None:
    """Bytes per item: half of bfloat16, a quarter of float32, and half of that without the second frame."""
    processor = PROCESSORS["qwen2_vl"]()
    media = {"image": [picture(1), picture(2)]}
    floats = MultiModalProcessor(processor).process(None, media)
    options: list[dict[str, Any]] = [
        {"native": native_qwen2_vl(), "device_normalize": True},
        {"native": native_qwen2_vl(), "device_normalize": True, "still_frames": "one"},
        {"device_normalize": True, "still_frames": "one"},
    ]
    data, once, theirs = (MultiModalProcessor(processor, **chosen).process(None, media) for chosen in options)
    for i in range(2):
        size = floats.device_bytes()["image"][i]
        assert [request.device_bytes()["image"][i] for request in (data, once, theirs)] == [
            size // 4,
            size // 8,
            size // 2,
        ]
    assert len({floats.keys["image"][0], data.keys["image"][0], once.keys["image"][0], theirs.keys["image"][0]}) == 4
    norm = FusedInputNorm.from_config(processor.image_processor.to_dict())
    expected = floats.tensors(return_tensors="pt")["pixel_values"].to(torch.bfloat16)
    pixels, single, floating = (r.tensors(return_tensors="pt")["pixel_values"] for r in (data, once, theirs))
    assert torch.equal(norm(pixels), expected)
    assert torch.equal(norm(single, frames=2), expected)
    assert torch.equal(norm(floating, frames=2), expected)
    assert (data.tensors()["image_grid_thw"] == once.tensors()["image_grid_thw"]).all()


def test_what_is_left_to_the_device_by_default_is_the_family_s() -> None:
    qwen = MultiModalProcessor(PROCESSORS["qwen2_vl"](), device_normalize=None)
    assert float(qwen.process(None, {"image": [picture(1)]}).tensors()["pixel_values"].max()) > 200
    llava = MultiModalProcessor(PROCESSORS["llava"](), device_normalize=None)
    assert float(llava.process(None, {"image": [picture(1)]}).tensors()["pixel_values"].max()) < 5
    with pytest.raises(ValueError, match="LlavaProcessor repeats no frames"):
        MultiModalProcessor(PROCESSORS["llava"](), still_frames="one")


@pytest.mark.parametrize("scope", ["flat", "images_kwargs", "both"])
@pytest.mark.parametrize("who", ["configured", "request"])
def test_no_option_anywhere_switches_normalisation_on_twice(scope: str, who: str) -> None:
    """In vLLM a request's scope gets past the guard, and pixels are normalised twice."""
    on = {"do_normalize": True, "do_rescale": True}
    asked = {"flat": on, "images_kwargs": {"images_kwargs": on}, "both": {**on, "images_kwargs": on}}[scope]
    processor = PROCESSORS["qwen2_vl"]()
    expected = MultiModalProcessor(processor).process(None, {"image": [picture(1)]}).tensors(return_tensors="pt")
    for native in (None, native_qwen2_vl()):
        configured = asked if who == "configured" else {}
        wrapper = MultiModalProcessor(processor, native=native, device_normalize=True, options=configured)
        request = wrapper.process(None, {"image": [picture(1)]}, options=asked if who == "request" else {})
        norm = FusedInputNorm.from_config(processor.image_processor.to_dict())
        got = norm(request.tensors(return_tensors="pt")["pixel_values"])
        assert torch.equal(got, expected["pixel_values"].to(torch.bfloat16))


def test_a_name_of_other_content_is_refused() -> None:
    wrapper, processor = counting("llava")
    token = processor.image_token
    small, large = np.zeros((10, 10, 3), np.uint8), np.zeros((100, 100, 3), np.uint8)
    wrapper.process(token, {"image": [small]}, uuids={"image": ["a"]})
    with pytest.raises(ValueError, match="stands for another content"):
        wrapper.process(token, {"image": [large]}, uuids={"image": ["a"]})
    with pytest.raises(ValueError, match="stands for another content"):
        wrapper.process(token * 2, {"image": [small, Image.fromarray(large)]}, uuids={"image": ["b", "b"]})
    wrapper.process(token * 2, {"image": [small, None]}, uuids={"image": ["a", "a"]})
    assert processor.batches == [1]
