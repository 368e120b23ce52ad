"""The stock AutoImageProcessor, patched and not."""

import pytest
from PIL import Image

from hf.dropin import assert_alike, processor
from mmcpp.hf import Accelerated, patch_transformers, patched_transformers, unpatch_transformers
from samples import smooth

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is patched")
pytest.importorskip("torch", reason="results are compared as tensors too")
STOCK = transformers.AutoImageProcessor.__dict__["from_pretrained"]
PICTURE = Image.fromarray(smooth(61, 90))


@pytest.fixture
def folder(tmp_path):
    processor("glm46v", "pil").save_pretrained(tmp_path)
    yield tmp_path
    unpatch_transformers()
    assert transformers.AutoImageProcessor.__dict__["from_pretrained"] is STOCK


def load(folder, **arguments):
    return transformers.AutoImageProcessor.from_pretrained(folder, **arguments)


def test_patched_and_taken_back(folder):
    theirs = load(folder)
    patch_transformers()
    patch_transformers()  # once more changes nothing
    ours = load(folder)
    assert isinstance(ours, Accelerated) and isinstance(ours, type(theirs))
    assert assert_alike(lambda: ours(PICTURE, return_tensors="pt"), lambda: theirs(PICTURE, return_tensors="pt"))
    assert ours.mmcpp_calls == {"mmcpp": 1, "transformers": 0}
    unpatch_transformers()
    unpatch_transformers()
    assert not isinstance(load(folder), Accelerated)


def test_in_a_block(folder):
    with pytest.raises(KeyError), patched_transformers():
        assert isinstance(load(folder), Accelerated)
        raise KeyError
    assert not isinstance(load(folder), Accelerated)


def test_a_block_within_what_is_patched_already(folder):
    patch_transformers()
    with patched_transformers():
        assert isinstance(load(folder), Accelerated)
    assert isinstance(load(folder), Accelerated)


def test_settings_and_unused_arguments_go_through(folder):
    patch_transformers()
    ours, unused = load(folder, image_mean=[0.25] * 3, something=1, return_unused_kwargs=True, backend="pil")
    assert isinstance(ours, Accelerated)
    assert list(ours.image_mean) == [0.25] * 3
    assert unused["something"] == 1
    theirs = STOCK.__get__(None, transformers.AutoImageProcessor)(folder, image_mean=[0.25] * 3, backend="pil")
    assert assert_alike(lambda: ours(PICTURE, return_tensors="np"), lambda: theirs(PICTURE, return_tensors="np"))


def test_the_documentation_stays(folder):
    text = transformers.AutoImageProcessor.from_pretrained.__doc__
    patch_transformers()
    assert transformers.AutoImageProcessor.from_pretrained.__doc__ == text


def test_another_word_is_refused(folder):
    with pytest.raises(ValueError, match="unsupported"):
        patch_transformers(unsupported="raise")
