"""Pictures as transformers takes them. What becomes of them is compared in test_processor.py; here, what is refused."""

import io

import numpy as np
import pytest
from PIL import Image

import mmcpp
from mmcpp.hf.pictures import flat, to_core, undecoded
from samples import encode, noise, smooth


def test_samples_have_one_picture():
    assert flat(["a", "b"]) == flat([["a"], ("b",)]) == ["a", "b"]
    for images in ([], [["a", "b"]], [["a"], []]):
        with pytest.raises(mmcpp.UnsupportedError):
            flat(images)


def test_pil_images():
    image = Image.fromarray(noise(6, 7))
    assert (to_core(image, converts=True) == noise(6, 7)).all()
    assert to_core(image.convert("L"), converts=True).shape == (6, 7, 3)
    with pytest.raises(mmcpp.UnsupportedError, match="mode L"):
        to_core(image.convert("L"), converts=False)


def test_a_transparent_colour_is_one_like_any_other_where_nothing_is_converted():
    image = Image.new("RGB", (2, 2), (1, 2, 3))
    image.info["transparency"] = (1, 2, 3)
    assert to_core(image, converts=False)[0, 0].tolist() == [1, 2, 3]
    assert to_core(image, converts=True)[0, 0].tolist() == [255, 255, 255]


@pytest.mark.hf
def test_arrays():
    pytest.importorskip("transformers", reason="its rule finds out the order of channels")
    array = noise(6, 7)
    assert to_core(array, converts=False) is array
    for planes in (array.transpose(2, 0, 1), np.ascontiguousarray(array.transpose(2, 0, 1))):
        assert (to_core(planes, converts=True) == array).all()
        assert (to_core(planes, converts=True, input_data_format="channels_first") == array).all()
    assert (to_core(array[:, :, :1], converts=True) == array[:, :, :1]).all()
    flipped = to_core(array[:, ::-1], converts=False)
    assert flipped.flags.c_contiguous and (flipped == array[:, ::-1]).all()
    with pytest.raises(ValueError, match="channel dimension"):
        to_core(noise(6, 7, 2), converts=True)


@pytest.mark.hf
@pytest.mark.parametrize("converts", [True, False])
@pytest.mark.parametrize(
    "image",
    [noise(6, 7, 4), noise(6, 7)[:, :, 0], noise(6, 7).astype(np.float32), noise(6, 7)[None], b"bytes", "text", None],
    ids=str,
)
def test_what_the_core_does_not_take(image, converts):
    pytest.importorskip("transformers", reason="its rule finds out the order of channels")
    with pytest.raises(mmcpp.UnsupportedError):
        to_core(image, converts=converts)


@pytest.mark.hf
def test_tensors():
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers", reason="its rule finds out the order of channels")
    tensor = torch.from_numpy(noise(6, 7).transpose(2, 0, 1).copy())
    assert (to_core(tensor, converts=True) == noise(6, 7)).all()
    with pytest.raises(mmcpp.UnsupportedError, match="uint8"):
        to_core(tensor.bfloat16(), converts=True)
    with pytest.raises(mmcpp.UnsupportedError, match="meta"):
        to_core(tensor.to("meta"), converts=True)


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_jpeg_that_is_not_decoded_is_given_as_bytes(mode, tmp_path):
    data = encode(Image.fromarray(smooth(30, 40)).convert(mode), "JPEG")
    (tmp_path / "picture.jpg").write_bytes(data)
    for source in (io.BytesIO(data), tmp_path / "picture.jpg"):
        image = Image.open(source)
        assert to_core(image, converts=True) == undecoded(image) == data
        expected = np.asarray(Image.open(io.BytesIO(data)))
        assert (np.asarray(image) == expected).all()  # it is as good as before
        assert undecoded(image) is None
        assert (to_core(image, converts=True) == mmcpp.decode_image(data)).all()


def test_only_a_whole_jpeg_is(tmp_path):
    for fmt in ("PNG", "WEBP", "GIF", "BMP"):
        assert undecoded(Image.open(io.BytesIO(encode(smooth(30, 40), fmt)))) is None
    image = Image.open(io.BytesIO(encode(smooth(300, 400), "JPEG")))
    image.draft("RGB", (100, 75))
    assert undecoded(image) is None
    image = Image.open(io.BytesIO(encode(smooth(300, 400), "JPEG")))
    image.draft("L", (400, 300))
    assert undecoded(image) is None
    image = Image.open(io.BytesIO(encode(smooth(30, 40), "JPEG")))
    image.fp.close()
    assert undecoded(image) is None
    assert undecoded(smooth(30, 40)) is None
