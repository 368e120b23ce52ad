"""The drop-in against transformers' own classes: keys, types, shapes, dtypes and bytes, whatever a call says."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
from PIL import Image

import mmcpp
from hf import picture_in
from hf.dropin import NESTING, assert_alike, inputs, names, outcome, pair, processor
from mmcpp.hf import Accelerated, FallbackWarning, accelerate
from mmcpp.hf import processor as module
from samples import encode, noise, smooth

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
torch = pytest.importorskip("torch", reason="results are compared as tensors too")

BACKENDS = ["pil", "torchvision"] if transformers.utils.is_torchvision_available() else ["pil"]
OF_RGB = [name for name in inputs() if name.startswith(("pil RGB", "array, ", "tensor", "batch", "list of"))]
OF_RGB = [*(name for name in OF_RGB if name != "pil RGBA"), "jpeg"]
PICTURE = Image.fromarray(smooth(61, 90))


@pytest.fixture(params=[(name, backend) for backend in BACKENDS for name in names(backend)], ids="-".join)
def both(request):
    name, backend = request.param
    if name[0].isupper():  # a class without settings
        try:
            return pair(name, backend)
        except mmcpp.UnsupportedError as error:
            pytest.skip(f"needs settings: {error}")
    return pair(name, backend)


@pytest.mark.parametrize("form", ["np", "pt", None])
def test_every_form_of_pictures(both, form):
    ours, theirs = accelerate(both[0]), both[1]
    before, results = ours.mmcpp_calls["mmcpp"], 0
    for name, make in inputs().items():
        if not theirs.do_convert_rgb and name not in OF_RGB:
            continue
        results += assert_alike(
            lambda m=make: ours(m(), return_tensors=form), lambda m=make: theirs(m(), return_tensors=form)
        )
    assert results >= 7
    assert ours.mmcpp_calls == {"mmcpp": before + results, "transformers": 0}


OVERRIDES = [
    {"do_resize": False}, {"do_rescale": False}, {"do_normalize": False}, {"do_convert_rgb": False},
    {"do_rescale": False, "do_normalize": False}, {"do_resize": None}, {"do_normalize": None}, {"do_center_crop": None},
    {"do_center_crop": False}, {"do_center_crop": True}, {"do_pad": False}, {"do_pad": True}, {"resample": 2},
    {"resample": 0}, {"rescale_factor": 0.5}, {"image_mean": [0.1, 0.2, 0.3]}, {"image_std": 0.5}, {"image_mean": None},
    {"size": {"height": 56, "width": 84}}, {"size": {"shortest_edge": 300, "longest_edge": 1000}},
    {"size": {"shortest_edge": 84}}, {"size": {"longest_edge": 100}}, {"size": 84}, {"size": None},
    {"crop_size": {"height": 84, "width": 84}}, {"crop_size": 42}, {"patch_size": 28}, {"merge_size": 1},
    {"temporal_patch_size": 1}, {"min_pixels": 3136}, {"max_pixels": 6272}, {"max_patches": 4}, {"min_patches": 2},
    {"crop_to_patches": True}, {"image_grid_pinpoints": [[224, 224]]}, {"do_pan_and_scan": True},
    {"pan_and_scan_min_crop_size": 10}, {"pad_size": {"height": 500, "width": 500}}, {"default_to_square": True},
    {"data_format": "channels_last"}, {"data_format": "channels_first"}, {"input_data_format": "channels_last"},
    {"input_data_format": "channels_first"}, {"device": "cpu"}, {"disable_grouping": True}, {"image_seq_length": 3},
    {"return_tensors": "tf"}, {"no_such_setting": 1}, {"size": "large"}, {"do_resize": "yes"},
]  # fmt: skip


@pytest.mark.parametrize("override", OVERRIDES, ids=str)
def test_what_a_call_overrides(both, override):
    """Done by mmcpp or left to transformers, and refused as there; never ignored."""
    ours, theirs = both
    ours = accelerate(ours, unsupported="warn")
    arguments = {"return_tensors": "np", **override}
    picture = np.asarray(PICTURE) if "input_data_format" in override else PICTURE
    assert_alike(lambda: ours(picture, **arguments), lambda: theirs(picture, **arguments))


@pytest.mark.parametrize(
    "pictures",
    [
        [], None, 5, "no_such_file.png", b"bytes", [None], smooth(30, 40)[:, :, 0], smooth(30, 40) / 255.0,
        smooth(30, 40).astype(np.int32), noise(30, 40, 4), noise(30, 40, 2), [[PICTURE, PICTURE]], [[PICTURE], []],
        [PICTURE, [PICTURE]], picture_in("RGB", 20, 30).convert("1"), Image.fromarray(noise(30, 30)).convert("I"),
        picture_in("L", 5, 6).convert("LA"), np.zeros((0, 5, 3), np.uint8), np.zeros((3, 40, 3), np.uint8),
        noise(1, 300), Image.fromarray(noise(2, 900)), torch.zeros(3, 20, 30), torch.zeros(2, 3, 20, 30).byte(),
    ],
    ids=lambda value: type(value).__name__ + str(getattr(value, "shape", "")),
)  # fmt: skip
def test_pictures_that_are_no_matter_of_course(both, pictures):
    ours, theirs = both
    ours = accelerate(ours, unsupported="warn")
    assert_alike(lambda: ours(pictures, return_tensors="np"), lambda: theirs(pictures, return_tensors="np"))


def test_a_damaged_file_is_refused_as_by_transformers(both):
    ours, theirs = both
    data = encode(noise(61, 90), "JPEG")[:2000]
    text = outcome(lambda: theirs(Image.open(io.BytesIO(data))))
    assert text.startswith("OSError: ")
    assert outcome(lambda: ours(Image.open(io.BytesIO(data)))) == text


def test_tensors_are_the_memory_that_was_written_to(monkeypatch):
    ours, _ = pair("clip", "pil")
    made = []
    call = mmcpp.ImageProcessor.__call__
    monkeypatch.setattr(
        mmcpp.ImageProcessor, "__call__", lambda self, *a, **k: made.append(call(self, *a, **k)) or made[-1]
    )
    for form in ("np", "pt"):
        result = ours([PICTURE, PICTURE], return_tensors=form)["pixel_values"]
        assert result.__array_interface__["data"] if form == "np" else result.is_contiguous()
        assert np.shares_memory(np.asarray(result), made[-1]["pixel_values"])
    assert len(made) == 2


def test_batch_feature_and_attributes_are_those_of_transformers(tmp_path):
    ours, theirs = pair("glm4v", "pil")
    assert type(ours(PICTURE)) is type(theirs(PICTURE))
    assert ours.to_dict() == theirs.to_dict()
    assert ours.to_json_string() == theirs.to_json_string()
    assert repr(ours) == repr(theirs)
    ours.save_pretrained(tmp_path)
    assert (tmp_path / "preprocessor_config.json").read_text() == theirs.to_json_string()
    for height, width in ((61, 90), (300, 200)):
        patches = theirs.get_number_of_image_patches(height, width, {})
        assert ours.get_number_of_image_patches(height, width, {}) == patches
        assert ours(noise(height, width), return_tensors="np")["pixel_values"].shape[0] == patches


def test_settings_that_are_changed_later_hold():
    ours, theirs = (copy.deepcopy(p) for p in pair("clip", "pil"))
    for p in (ours, theirs):
        p.crop_size = {"height": 98, "width": 112}
        p.image_mean = [0.1, 0.2, 0.3]
    assert assert_alike(lambda: ours(PICTURE, return_tensors="np"), lambda: theirs(PICTURE, return_tensors="np"))
    assert ours.mmcpp_calls == {"mmcpp": 1, "transformers": 0}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p)), accelerate])
def test_copies_and_pickles(both, copied):
    ours, theirs = both
    other = copied(ours)
    assert type(other) is type(ours) and other is not ours
    assert other.to_dict() == theirs.to_dict()
    assert assert_alike(lambda: other(PICTURE, return_tensors="pt"), lambda: theirs(PICTURE, return_tensors="pt"))


class Pictures(torch.utils.data.Dataset):
    """Tensors of a few pictures, made where the item is asked for."""

    def __init__(self, image_processor):
        self.image_processor = image_processor

    def __len__(self):
        return 6

    def __getitem__(self, index):
        picture = Image.fromarray(noise(300 + index, 400, seed=index))
        return self.image_processor(picture, return_tensors="pt")["pixel_values"][0]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_workers_of_a_data_loader(start):
    ours, theirs = pair("clip", "pil")
    ours([PICTURE] * 8)  # threads of this process must not be missed in others
    loader = torch.utils.data.DataLoader(
        Pictures(ours), batch_size=2, num_workers=2, multiprocessing_context=start, timeout=300
    )
    got = torch.cat(list(loader))
    expected = torch.stack([Pictures(theirs)[i] for i in range(6)])
    assert torch.equal(got, expected)


def test_transformers_does_the_rest_with_a_warning_once(monkeypatch):
    monkeypatch.setattr(module, "_WARNED", set())
    ours = accelerate(processor("clip", "pil"))
    with pytest.warns(FallbackWarning, match="CLIPImageProcessorPil: .*do_resize false is not supported") as caught:
        ours(PICTURE, do_resize=False, return_tensors="np")
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours(PICTURE, do_resize=False, return_tensors="np")
        ours(PICTURE, return_tensors="np")
    assert ours.mmcpp_calls == {"mmcpp": 1, "transformers": 2}
    with pytest.warns(FallbackWarning, match="uint8"):
        ours(smooth(30, 40) / 255.0)


def test_an_error_if_asked_for():
    ours = accelerate(processor("clip", "pil"), unsupported="error")
    with pytest.raises(mmcpp.UnsupportedError, match="do_resize"):
        ours(PICTURE, do_resize=False)
    with pytest.raises(mmcpp.UnsupportedError, match="device"):
        ours(PICTURE, device="meta")
    with pytest.raises(TypeError, match="no_such_setting"):  # as transformers
        ours(PICTURE, no_such_setting=1)
    with pytest.raises(ValueError, match="unsupported: expected"):
        accelerate(ours, unsupported="ignore")


class Changed(transformers.CLIPImageProcessorPil):
    """Not transformers' own, so its rules may be others."""


def test_classes_that_are_not_known_stay(monkeypatch):
    monkeypatch.setattr(module, "_WARNED", set())
    theirs = Changed()
    with pytest.raises(mmcpp.UnsupportedError, match="Changed of .* is not a class of transformers"):
        accelerate(theirs, unsupported="error")
    with pytest.warns(FallbackWarning, match="Changed"):
        assert accelerate(theirs) is theirs
    with pytest.raises(mmcpp.UnsupportedError, match="object"):
        accelerate(object(), unsupported="error")


def test_a_class_that_gives_something_else_stays(monkeypatch):
    """As one of a later transformers may."""
    monkeypatch.setattr(module, "_FORMS", {})
    theirs = transformers.CLIPImageProcessorPil(size={"shortest_edge": 50}, crop_size={"height": 50, "width": 50})
    preprocess = type(theirs)._preprocess

    def changed(self, *args, **kwargs):
        result = preprocess(self, *args, **kwargs)
        return type(result)({"pixel_values": [picture * 2 for picture in result["pixel_values"]]})

    with monkeypatch.context() as patch:
        patch.setattr(type(theirs), "_preprocess", changed)
        with pytest.raises(mmcpp.UnsupportedError, match="not equalled .another pixel_values."):
            accelerate(theirs, unsupported="error")
        patch.delattr(transformers.image_processing_utils.BaseImageProcessor, "_preprocess_image_like_inputs")
        with pytest.raises(mmcpp.UnsupportedError, match="not built like"):
            accelerate(theirs, unsupported="error")
    assert isinstance(accelerate(theirs, unsupported="error"), Accelerated)


def test_what_transformers_refuses_is_refused_in_its_words():
    ours, theirs = pair("glm4v", "pil")
    text = outcome(lambda: theirs(noise(1, 300), input_data_format="channels_last"))
    assert text.startswith("ValueError: absolute aspect ratio")
    assert outcome(lambda: ours(noise(1, 300), input_data_format="channels_last")) == text


@pytest.mark.parametrize("name", NESTING)
def test_classes_that_put_pictures_into_samples_stay(name):
    theirs = getattr(transformers, f"{name}Pil")()
    with pytest.raises(mmcpp.UnsupportedError, match="several pictures into one sample"):
        accelerate(theirs, unsupported="error")
    with pytest.warns(match="several pictures into one sample"):
        assert accelerate(theirs) is theirs
