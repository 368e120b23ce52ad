"""vLLM's digests, byte for byte where the facts give the bytes."""

import io
import json
import uuid as uuids
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.hashing_vllm import EncodedMedia, vllm_hash, vllm_item_hash, vllm_stream

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_identity_cases.json").read_text())
PilImage = pytest.importorskip("PIL.Image")


def rgb_2x1() -> Any:
    image = PilImage.new("RGB", (2, 1))
    image.putpixel((0, 0), (1, 2, 3))
    image.putpixel((1, 0), (4, 5, 6))
    return image


def picture(fact: Any) -> Any:
    if "index" in fact:
        image = PilImage.new(fact["mode"], fact["size"])
        image.putdata(fact["index"])
        image.putpalette(fact["palette_rgb"])
        return image
    image = PilImage.new(fact["mode"], fact["size"])
    image.putdata([tuple(pixel) for pixel in fact["pixels"]])
    return image


def array(fact: Any) -> Any:
    return np.array(fact["data"], dtype=fact["dtype"]).reshape(fact["shape"])


def tensor(fact: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor(fact["data"], dtype=getattr(torch, fact["dtype"]))


def encoded_image(fact: Any) -> Any:
    data = bytes.fromhex(fact["original_bytes_hex"])
    return EncodedMedia(PilImage.open(io.BytesIO(data)), data, fact["io_config"])


def exif_uuid(text: str) -> Any:
    image = PilImage.new("RGB", (2, 1))
    image.getexif()[0x800D] = uuids.UUID(text)
    return image


MAKERS = {
    "str": str,
    "int": int,
    "bool": bool,
    "float": float,
    "ndarray": array,
    "tensor": tensor,
    "pil": picture,
    "pil_exif_uuid": exif_uuid,
    "media_with_bytes": encoded_image,
    "media_with_bytes_video": lambda _: EncodedMedia(np.zeros((2, 8, 8, 3), np.uint8), b"x" * 100),
    "dict": lambda pairs: {key: made(value) for key, value in pairs},
}


def made(fact: Any) -> Any:
    if fact == "tuple(2,4)":
        return (2, 4)
    if isinstance(fact, list):
        return [made(element) for element in fact]
    if not fact:
        return {}
    [(kind, value)] = fact.items()
    return MAKERS[kind](value)


@pytest.mark.parametrize("fact", CASES["digests"], ids=lambda fact: fact["note"])
def test_digests_equal_the_reference(fact: Any) -> None:
    values = {name: made(value) for name, value in fact["values"].items()}
    assert vllm_hash("blake3", **values) == fact["blake3"]
    assert vllm_hash("sha256", **values) == fact["sha256"]
    assert vllm_hash(**values) == fact["blake3"]


def test_streams_equal_the_reference() -> None:
    values = {
        "'test'": "test",
        "None": None,
        "[2,'a']": [2, "a"],
        "{'k':True}": {"k": True},
        "ndarray u8 [0,1,2]": np.arange(3, dtype=np.uint8),
        "PIL RGB 2x1 (1,2,3),(4,5,6)": rgb_2x1(),
    }
    assert len(CASES["streams"]) == len(values)
    for fact in CASES["streams"]:
        parts = vllm_stream(**{fact["name"]: values[fact["value"]]})
        assert b"".join(bytes(part) for part in parts).hex() == fact["hex"]


def test_items_equal_the_reference() -> None:
    for fact in CASES["items"]:
        got = vllm_item_hash(
            "test-model",
            "image",
            rgb_2x1(),
            uuid=fact["uuid"],
            mm_processor_kwargs=fact["processor"],
            media_io_kwargs=fact["loader"],
            algorithm="sha256",
        )
        assert got == fact["sha256"]


def item(modality: str, processor: Any = None, loader: Any = None) -> str:
    return vllm_item_hash("m", modality, "content", mm_processor_kwargs=processor, media_io_kwargs=loader)


def test_options_of_another_modality_do_not_count() -> None:
    for processor, loader in (({"videos_kwargs": {"fps": 2}}, None), (None, {"video": {"num_frames": 8}})):
        assert item("image", processor, loader) == item("image")
        assert item("video", processor, loader) != item("video")
    assert item("video", {"images_kwargs": {"a": 1}}) == item("video")
    assert item("image", {"images_kwargs": {"a": 1}}) != item("image")
    assert item("vision_chunk", {"images_kwargs": {"a": 1}}) != item("vision_chunk"), "others take all"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"ab": "c"}, {"a": "bc"}),
        ({"size": {"shortest_edge": 224}}, {"size.shortest_edge": 224}),
        ({"fps": [2, 4]}, {"fps": {"0": 2, "1": 4}}),
        ({"video_pruning_rate": None}, {"video_pruning_rate": ""}),
        ({"size": {}}, {}),
        ({"size": []}, {}),
        ({"size": {}}, {"size": []}),
    ],
)
def test_options_of_another_shape_differ(a: Any, b: Any) -> None:
    assert vllm_hash(**a) != vllm_hash(**b)
    assert item("image", a) != item("image", b)


def test_relations_of_pictures_and_arrays() -> None:
    new = PilImage.new
    line = new("1", (10, 20))
    line.paste(1, (0, 3, 10, 4))
    column = new("1", (20, 10))
    column.paste(1, (3, 0, 4, 10))
    different = [
        (new("1", (10, 10), 1), new("L", (10, 10), 1)),
        (new("RGBA", (10, 10), 1), new("CMYK", (10, 10), 1)),
        (line, column),
        (np.zeros((5, 10, 20, 3)), np.zeros((10, 20, 5, 3))),
    ]
    for a, b in different:
        assert vllm_hash(image=a) != vllm_hash(image=b)
    strided = np.arange(24).reshape(4, 6)[:, ::2]
    assert vllm_hash(value=strided) == vllm_hash(value=strided.copy())
    named = new("RGB", (2, 1))
    named.getexif()[0x800D] = "no uuid"
    assert vllm_hash(image=named) == vllm_hash(image=new("RGB", (2, 1)))


def test_relations_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    assert vllm_hash(value=torch.zeros(())) != vllm_hash(value=torch.zeros((1,)))
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.zeros((5, 10, 20, 3), dtype=dtype), torch.zeros((10, 20, 5, 3), dtype=dtype)
        assert vllm_hash(value=a) != vllm_hash(value=b)


def test_relations_of_encoded_media() -> None:
    frames = np.arange(2 * 2 * 2 * 3, dtype=np.uint8).reshape(2, 2, 2, 3)
    small, large = b"x" * 23, b"x" * 25
    assert vllm_hash(video=EncodedMedia(frames, large)) != vllm_hash(video=EncodedMedia(frames, small))
    assert vllm_hash(video=EncodedMedia(frames, large)) != vllm_hash(video=EncodedMedia(frames + 1, large))
    assert vllm_hash(video=EncodedMedia(frames, small)) == vllm_hash(video=EncodedMedia(frames + 1, small))
    file = io.BytesIO()
    PilImage.new("RGBA", (2, 2), (1, 2, 3, 4)).save(file, "PNG")
    data = file.getvalue()
    plain = EncodedMedia(PilImage.open(io.BytesIO(data)), data)
    changed = EncodedMedia(PilImage.new("RGB", (2, 2)), data, {"image_mode": "RGB"})
    assert vllm_hash(image=plain) != vllm_hash(image=changed)


def test_damaged_exif_is_no_error() -> None:
    file = io.BytesIO()
    PilImage.new("RGB", (2, 2)).save(file, "JPEG", exif=b"Exif\x00\x00not a tiff header")
    vllm_hash(image=PilImage.open(file))


def test_known_collisions_are_kept() -> None:
    assert vllm_hash(value="test") == vllm_hash(value=b"test") == vllm_hash(value=memoryview(b"test"))
    assert vllm_hash(value=0) == vllm_hash(value=0.0)


def test_what_has_no_stable_hash_is_refused() -> None:
    for value in (object(), {1, 2}, np.int64(1), np.array([None])):
        with pytest.raises(TypeError, match="no stable hash"):
            vllm_hash(value=value)
    assert vllm_hash(value=2**64 - 1)
    with pytest.raises(ValueError, match="beyond 64 bits"):
        vllm_hash(value=2**64)
