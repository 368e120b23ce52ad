"""Media of a request in every form, against vLLM's facts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmcpp.parse import normalize_channels, parse_media

Image = pytest.importorskip("PIL.Image")
torch = pytest.importorskip("torch")

CASES = json.loads((Path(__file__).parents[1] / "golden/vllm_media_cases.json").read_text())

# What is otherwise here, see cpp/docs/vllm_differences.md: what is given -> the refusal.
REFUSED_HERE = {
    '["np", [4, 6]]': "an image of 2 dimensions",
    '["dict", {"image_embeds": ["torch", [5, 8], "float32"]}]': "no str or mapping",
}


def made(given: Any) -> Any:
    kind, *rest = given
    if kind == "pil":
        return Image.new(rest[0], (rest[1], rest[2]))
    if kind in {"np", "torch"}:
        array = np.zeros(rest[0], rest[1] if len(rest) > 1 else "uint8")
        return array if kind == "np" else torch.from_numpy(array)
    if kind in {"list", "tuple"}:
        return (list if kind == "list" else tuple)(made(entry) for entry in rest[0])
    if kind == "dict":
        return {name: made(entry) for name, entry in rest[0].items()}
    return None if kind == "none" else rest[0]


def described(item: Any) -> Any:
    if item is None:
        return None
    if isinstance(item, dict):
        return {"kind": "dict", "keys": list(item)}
    if isinstance(item, Image.Image):
        return {"kind": "pil", "mode": item.mode, "size": list(item.size)}
    kind = "np" if isinstance(item, np.ndarray) else "torch"
    return {"kind": kind, "shape": list(item.shape), "dtype": str(item.dtype).removeprefix("torch.")}


def frames_alone(item: Any) -> Any:
    """vLLM hands on frames and metadata as a pair where it needs both; here metadata are beside the items."""
    return item["items"][0] if item is not None and item["kind"] == "tuple" else item


@pytest.mark.parametrize("case", CASES["parsed"], ids=lambda case: f"{case['modality']} {case['given']}"[:60])
def test_forms_equal_vllm_s(case: Any) -> None:
    media, options = {case["modality"]: made(case["given"])}, case.get("options", {})
    refusal = REFUSED_HERE.get(json.dumps(case["given"]))
    if "refused" in case or refusal is not None:
        with pytest.raises((ValueError, TypeError), match=refusal or r"^media: "):
            parse_media(media, **options)
        return
    parsed = parse_media(media, as_rgb=True, **options)
    assert (case["modality"] not in parsed) == case.get("absent", False)
    if case.get("absent"):
        return
    items = parsed[case["modality"]]
    assert items.kind == case["kind"]
    assert [described(item) for item in items.items] == [frames_alone(item) for item in case["items"]]
    pairs_have_no_size = any(item is not None and item["kind"] == "tuple" for item in case["items"])
    for name, one in (("sizes", items.size), ("lengths", items.length)):
        for index, expected in enumerate(case.get(name, [])):
            if not isinstance(expected, dict):
                assert one(index) == (tuple(expected) if name == "sizes" else expected)
            elif not pairs_have_no_size:
                with pytest.raises(ValueError, match="known"):
                    one(index)


def test_what_vllm_does_otherwise_is_there() -> None:
    assert set(REFUSED_HERE) <= {json.dumps(case["given"]) for case in CASES["parsed"]}


def test_pictures_are_left_alone_unless_asked_for() -> None:
    picture = Image.new("RGBA", (6, 4))
    assert parse_media({"image": picture})["image"].items[0] is picture
    [white] = parse_media({"image": picture}, as_rgb=True)["image"].items
    assert np.asarray(white).min() == 255
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = Image.new("RGB", (6, 4))
    turned.info["exif"] = exif.tobytes()
    turned.getexif().load(exif.tobytes())
    assert parse_media({"image": turned}, as_rgb=True)["image"].items[0].size == (4, 6)


def test_videos_keep_what_came_with_them() -> None:
    frames = np.zeros((2, 4, 6, 3), np.uint8)
    items = parse_media({"video": [(frames, {"fps": 2.0}), frames, None]})["video"]
    assert items.metadata == [{"fps": 2.0}, None, None]
    assert items.items[0] is frames
    both = parse_media({"video": (frames, {"fps": 2.0})})["video"]
    assert (len(both.items), both.metadata) == (1, [{"fps": 2.0}])


def test_sounds_of_another_rate_are_resampled() -> None:
    def every_second(samples: Any, given: float, wanted: float) -> Any:
        assert (given, wanted) == (32000, 16000)
        return samples[::2]

    options: Any = {"sample_rate": 16000, "resample": every_second}
    sounds = [(np.arange(8.0), 32000), (np.arange(8.0), 16000), np.arange(3.0), None]
    items = parse_media({"audio": sounds}, **options)["audio"]
    assert [len(items.items[i]) for i in range(3)] == [4, 8, 3]
    with pytest.raises(ValueError, match="sound 0 has 32000 Hz"):
        parse_media({"audio": sounds}, sample_rate=16000)


def test_channels() -> None:
    stereo = np.array([[1.0, 2, 3], [3, 4, 5]], np.float32)
    assert normalize_channels(stereo, 1).tolist() == [2, 3, 4]
    assert normalize_channels(stereo.T, 1).tolist() == [2, 3, 4]
    assert normalize_channels(stereo, None) is stereo
    assert normalize_channels(stereo, 2) is stereo
    assert normalize_channels(np.zeros((4, 9)), 2).shape == (2, 9)
    assert normalize_channels(np.zeros((3, 3)), 1).shape == (3,)
    with pytest.raises(ValueError, match=r"2 channel\(s\) has no 3"):
        normalize_channels(stereo, 3)
    with pytest.raises(ValueError, match="3 dimensions"):
        normalize_channels(np.zeros((1, 2, 3)), 1)


@pytest.mark.parametrize(
    ("media", "match"),
    [
        ({"image": "http://a/b.png"}, "a file is a pathlib.Path"),
        ({"image": np.zeros((1, 2, 3, 4, 5))}, "an image of 5 dimensions"),
        ({"video": "a.mp4"}, "video 0 is a str"),
        ({"video": [np.zeros((2, 2))]}, "video 0 of 2 dimensions"),
        ({"audio": ["la"]}, "sound 0 is a str"),
        ({"vision_chunk": ["x"]}, "a vision_chunk is a mapping"),
        ({"smell": 1}, "no modality 'smell', there are image, video, audio, vision_chunk"),
    ],
)
def test_what_is_none_of_these_forms_is_refused(media: Any, match: str) -> None:
    with pytest.raises((ValueError, TypeError), match=match):
        parse_media(media)
