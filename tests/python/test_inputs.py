import base64
import os
import re
import sys

import numpy as np
import pytest
from PIL import Image

import mmcpp
from mmcpp.inputs import Prompt, to_media, to_media_each, to_media_list, token_ids
from mmcpp.spec import preset_spec
from samples import encode, noise, png

MODES = ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16"]


def picture_in(mode: str) -> Image.Image:
    if mode in ("RGBA", "LA"):
        return Image.fromarray(noise(6, 5, 4)).convert(mode)
    if mode == "PA":
        return Image.fromarray(noise(6, 5, 4)).convert("RGBA").convert("PA")
    if mode == "I;16":
        return Image.fromarray(noise(6, 5, 1)[:, :, 0].astype(np.uint16) * 257)
    if mode == "LAB":
        return Image.frombytes("LAB", (5, 6), noise(6, 5).tobytes())
    return Image.fromarray(noise(6, 5)).convert(mode)


@pytest.mark.parametrize("mode", MODES)
def test_pil_images_become_rgb_as_in_transformers(mode):
    image_transforms = pytest.importorskip("transformers.image_transforms", reason="the reference of the conversion")
    image = picture_in(mode)
    try:
        expected = image_transforms.convert_to_rgb(image, return_numpy=True)
    except ValueError as error:
        with pytest.raises(type(error)):
            to_media(image)
        return
    result = to_media(image)
    np.testing.assert_array_equal(result, expected)
    assert result.flags.c_contiguous


def test_transparency_is_composited_on_white():
    image = Image.fromarray(np.array([[[10, 20, 30, 0], [10, 20, 30, 255]]], np.uint8))
    np.testing.assert_array_equal(to_media(image), [[[255, 255, 255], [10, 20, 30]]])
    palette = Image.new("P", (2, 1))
    palette.putpalette([9, 8, 7, 1, 2, 3])
    palette.putpixel((1, 0), 1)
    palette.info["transparency"] = 0
    np.testing.assert_array_equal(to_media(palette), [[[255, 255, 255], [1, 2, 3]]])


def test_bytes_and_arrays_pass_as_they_are(tmp_path):
    for value in (b"x", bytearray(b"x"), memoryview(b"x"), noise(2, 3)):
        assert to_media(value) is value
    path = tmp_path / "a.png"
    path.write_bytes(png(3, 4))
    assert to_media(path) == png(3, 4)

    class Entry(os.PathLike):
        def __fspath__(self):
            return str(path)

    assert to_media(Entry()) == png(3, 4)


@pytest.mark.parametrize(
    ("value", "match"),
    [("a.png", r"pathlib\.Path.*'a\.png'"), ("x" * 1000, r"x\.\.\.'"), ([b"x"], "nested"), ((), "nested")],
)
def test_what_could_mean_several_things_is_refused(value, match):
    with pytest.raises(TypeError, match=match):
        to_media(value)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        to_media(tmp_path / "none.png")


def test_lists_name_the_item():
    assert to_media_list(b"x") == [b"x"]
    assert to_media_list((b"x", b"y")) == [b"x", b"y"]
    assert to_media_list([]) == []
    with pytest.raises(TypeError, match="image 1: .*pathlib"):
        to_media_list([b"x", "y"])


def test_pillow_is_not_imported_for_those_who_do_not_use_it():
    import subprocess

    code = "import sys, mmcpp, numpy; mmcpp.resize(numpy.zeros((2, 2, 3), 'u1'), 1, 1); sys.exit('PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


SPEC = preset_spec("qwen2_vl")


@pytest.mark.parametrize(
    "call",
    [
        lambda data, name: mmcpp.decode_image(data, profile=name),
        lambda data, name: mmcpp.resize(noise(4, 5), 3, 3, filter=name),
        lambda data, name: mmcpp.resize(noise(4, 5), 3, 3, convention=name),
        lambda data, name: mmcpp.ImageProcessor.from_spec(SPEC, profile=name),
        lambda data, name: mmcpp.ImageProcessor.from_spec(SPEC)(data, dtype=name),
        lambda data, name: mmcpp.Pipeline.from_spec(SPEC).process(input_ids=[1], images=[data], dtype=name),
        lambda data, name: preset_spec(name),
    ],
)
@pytest.mark.parametrize(
    ("name", "error"), [(None, TypeError), (b"x", TypeError), (["x"], TypeError), ("\udc80", ValueError)]
)
def test_what_is_no_text_is_refused_without_the_pictures_in_the_message(call, name, error):
    with pytest.raises(error) as raised:
        call(png(40, 60), name)
    assert len(str(raised.value)) < 100
    assert re.match(r"(profile|filter|convention|dtype|preset): ", str(raised.value))


RELEASED = memoryview(b"x")
RELEASED.release()


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (None, TypeError, "bytes-like object, got NoneType"),
        (5, TypeError, "got int"),
        (RELEASED, ValueError, "released"),
        (memoryview(b"abcd")[::2], ValueError, "contiguous"),
        (noise(4, 5).astype(np.float32), TypeError, "float32"),
        (noise(4, 5)[:, ::2], ValueError, "ascontiguousarray"),
        (noise(4, 5, 4), ValueError, r"shape \(4, 5, 4\)"),
        (np.zeros((0, 5, 3), np.uint8), ValueError, r"\(0, 5, 3\)"),
    ],
)
def test_every_bad_picture_is_named(value, error, match):
    good = png(40, 60)
    for call in (
        lambda: mmcpp.ImageProcessor.from_spec(SPEC)([good, noise(40, 60), value]),
        lambda: mmcpp.Pipeline.from_spec(SPEC).process(input_ids=[1], images=[good, noise(40, 60), value]),
    ):
        with pytest.raises(error, match=f"^image 2: .*{match}") as raised:
            call()
        if error is ValueError:
            assert (raised.value.code, raised.value.item) == ("invalid_argument", 2)


LOOPBACK = mmcpp.FetchPolicy(allowed_networks=["127.0.0.0/8"])


def test_source_strings(web_server, tmp_path):
    picture = noise(28, 28)
    encoded = encode(picture)
    path = tmp_path / "a.png"
    path.write_bytes(encoded)
    policy = mmcpp.FetchPolicy(file_roots=[tmp_path])
    text = base64.b64encode(encoded).decode()
    assert to_media_list(f"data:image/png;base64,{text}") == [encoded]
    assert to_media_list([picture, " DATA:;base64," + text, path])[1:] == [encoded, encoded]
    assert to_media_list([text, str(path), path.as_uri()], policy) == [encoded] * 3
    assert to_media_list([b"x", web_server.url("/hello")], LOOPBACK) == [b"x", b"/hello"]
    processor = mmcpp.ImageProcessor.from_spec(preset_spec("qwen2_vl"))
    expected = processor(encoded)["pixel_values"]
    np.testing.assert_array_equal(processor(str(path), policy=policy)["pixel_values"], expected)


@pytest.mark.parametrize("source", ["/etc/passwd", "a.png", "file:///etc/passwd", "http://x/", "aGVsbG8=", ""])
def test_without_a_policy_a_string_opens_nothing(source):
    with pytest.raises(TypeError, match=r"image 1: a picture's path is given as pathlib\.Path.*needs a FetchPolicy"):
        to_media_list([b"x", source])


def test_errors_of_sources_name_the_picture(web_server):
    images = [b"x", "data:,a", web_server.url("/status/404")]
    with pytest.raises(mmcpp.FetchError, match="^image 2: .*404") as caught:
        to_media_list(images, LOOPBACK)
    assert (caught.value.code, caught.value.item) == ("fetch_failed", 2)
    with pytest.raises(mmcpp.FetchError, match="^image 0: policy: ") as caught:
        to_media_list(web_server.url(), mmcpp.FetchPolicy())
    assert (caught.value.code, caught.value.item) == ("forbidden", 0)
    with pytest.raises(mmcpp.LimitError):
        to_media_list(["data:,abc", "data:,def"], LOOPBACK, max_total_bytes=5)
    with pytest.raises(mmcpp.FetchError, match="^image 0: data url: "):
        to_media_list("data:nothing")
    with pytest.raises(TypeError, match="policy: expected a FetchPolicy or None, got str"):
        to_media_list("data:,a", "anything")


def test_each_source_for_itself(web_server, tmp_path):
    images = ["data:,a", web_server.url("/status/404"), web_server.url("/b"), tmp_path / "none", b"c", "data:x"]
    results = to_media_each(images, LOOPBACK)
    assert [r for r in results if isinstance(r, bytes)] == [b"a", b"/b", b"c"]
    assert [type(results[i]) for i in (1, 3, 5)] == [mmcpp.FetchError, FileNotFoundError, mmcpp.FetchError]
    assert [results[i].item for i in (1, 5)] == [1, 5]
    assert len(to_media_each("data:,a")) == 1
    with pytest.raises(TypeError, match="image 1"):
        to_media_each([b"x", ["nested"]])


def test_a_prompt_is_ids_or_a_text():
    prompt = Prompt([1, 2], None, None)
    assert (prompt.ids.tolist(), prompt.tokenize) == ([1, 2], None)
    prompt = Prompt(None, "ab", lambda text: [ord(c) for c in text])
    assert prompt.tokenize("ab")[0] is None
    assert prompt.tokenize("ab")[1].tolist() == [97, 98]
    for arguments in ((None, None, None), ([1], "a", len), (None, "a", None), ([1], None, len), (None, "a", 5)):
        with pytest.raises(TypeError):
            Prompt(*arguments)
    with pytest.raises(TypeError, match="float64"):
        token_ids([1.5])
    with pytest.raises(ValueError, match="text: no Unicode text"):
        Prompt(None, "\ud800", len)
