"""Checkpoint folders through mmcpp.hf's classes and through transformers' own: pictures, prompts and chats; and
folders that cannot be used."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mmcpp
from hf.dropin import assert_alike, names, processor
from mmcpp.hf import Accelerated, AutoImageProcessor, AutoProcessor, accelerate
from samples import noise, smooth

pytestmark = pytest.mark.hf
transformers = pytest.importorskip("transformers", minversion="5.24", reason="transformers 5.24 is the reference")
pytest.importorskip("torch", reason="results are compared as tensors too")
processors = pytest.importorskip("hf_processors")

PICTURES = [Image.fromarray(smooth(61, 90)), Image.fromarray(noise(50, 40))]
CHAT = (
    "{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE{% else %}{{ part['text'] }}{% endif %}{% endfor %}\n{% endfor %}"
)


@pytest.mark.parametrize("name", names("pil"))
def test_image_processors_of_folders(tmp_path, name):
    theirs = processor(name, "pil")
    theirs.save_pretrained(tmp_path)
    try:
        ours = AutoImageProcessor.from_pretrained(tmp_path, unsupported="error")
    except mmcpp.UnsupportedError as error:
        pytest.skip(f"needs settings: {error}")
    assert isinstance(ours, Accelerated)
    theirs = transformers.AutoImageProcessor.from_pretrained(tmp_path)
    assert ours.to_dict() == theirs.to_dict()
    for picture in PICTURES:
        assert assert_alike(
            lambda p=picture: ours(p, return_tensors="np"), lambda p=picture: theirs(p, return_tensors="np")
        )


@pytest.mark.parametrize("name", processors.PROCESSORS)
def test_prompts_and_chats(name):
    """Whole processors: text, ids, masks, token types and pictures."""
    make = processors.PROCESSORS[name]
    theirs, ours = make(), make()
    try:
        assert accelerate(ours, unsupported="error") is ours
    except mmcpp.UnsupportedError:
        pytest.skip(f"{type(ours.image_processor).__name__} is not supported")
    token = getattr(theirs, "boi_token", None) or theirs.image_token
    for p in (theirs, ours):
        p.chat_template = CHAT.replace("IMAGE", token)
    texts = [f"see {token} here", f"{token} and that"]
    messages = [
        {"role": "user", "content": [{"type": "image", "image": PICTURES[0]}, {"type": "text", "text": "what is it?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "a picture"}]},
        {"role": "user", "content": [{"type": "text", "text": "and"}, {"type": "image", "image": PICTURES[1]}]},
    ]
    calls = [
        lambda p: p(text=texts[0], images=PICTURES[0], return_tensors="pt", return_mm_token_type_ids=True),
        lambda p: p(text=texts, images=[[image] for image in PICTURES], padding=True, return_mm_token_type_ids=True),
        lambda p: p(text=f"{token} beside {token}", images=PICTURES, return_tensors="np"),
        lambda p: p(images=PICTURES[:1], return_tensors="np"),
        lambda p: p.apply_chat_template(messages, tokenize=True, return_dict=True, return_tensors="pt"),
        lambda p: p.apply_chat_template(messages, tokenize=True, return_dict=True),
    ]
    results = 0
    for call in calls:
        results += assert_alike(lambda c=call: c(ours), lambda c=call: c(theirs))
    assert results >= 4
    assert ours.image_processor.mmcpp_calls["mmcpp"] >= 4
    assert ours.image_processor.mmcpp_calls["transformers"] == 0


def test_processors_of_folders(tmp_path):
    theirs = processors.llava()
    theirs.chat_template = CHAT.replace("IMAGE", theirs.image_token)
    theirs.save_pretrained(tmp_path)
    ours = AutoProcessor.from_pretrained(tmp_path, unsupported="error")
    theirs = transformers.AutoProcessor.from_pretrained(tmp_path)
    assert type(ours) is type(theirs)
    assert isinstance(ours.image_processor, Accelerated)
    messages = [{"role": "user", "content": [{"type": "image", "image": PICTURES[0]}, {"type": "text", "text": "?"}]}]
    arguments = {"tokenize": True, "return_dict": True, "return_tensors": "pt"}
    assert assert_alike(
        lambda: ours.apply_chat_template(messages, **arguments),
        lambda: theirs.apply_chat_template(messages, **arguments),
    )
    again = tmp_path / "again"
    ours.save_pretrained(again)
    for name in ("processor_config.json", "tokenizer_config.json"):
        theirs.save_pretrained(tmp_path / "theirs")
        assert (again / name).read_text() == (tmp_path / "theirs" / name).read_text()


def folder_with(path: Path, **files: object) -> Path:
    for name, value in files.items():
        (path / f"{name}.json").write_text(value if isinstance(value, str) else json.dumps(value))
    return path


REMOTE = {"image_processor_type": "SomeImageProcessor", "auto_map": {"AutoImageProcessor": "image.SomeImageProcessor"}}
BAD = {
    "empty": ({}, FileNotFoundError, "looked for processor_config.json with an image_processor and for preprocessor_"),
    "no image processor within": ({"processor_config": {"processor_class": "X"}}, FileNotFoundError, "found neither"),
    "remote code": ({"preprocessor_config": REMOTE}, mmcpp.UnsupportedError, "trust_remote_code=True"),
    "newer": (
        {
            "preprocessor_config": {"image_processor_type": "NewImageProcessor"},
            "config": {"transformers_version": "9.1.0"},
        },
        mmcpp.UnsupportedError,
        "NewImageProcessor, which transformers .* written by transformers 9.1.0; install a newer one: pip install -U",
    ),
    "no JSON": ({"preprocessor_config": "{"}, ValueError, "preprocessor_config.json: no valid JSON"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("auto", [AutoImageProcessor, AutoProcessor])
def test_folders_that_cannot_be_used(tmp_path, name, auto):
    files, kind, message = BAD[name]
    folder_with(tmp_path, tokenizer={}, **files)
    with pytest.raises(kind, match=message):
        auto.from_pretrained(tmp_path)


def test_a_folder_without_a_tokenizer(tmp_path):
    processor("clip", "pil").save_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match="looked for a tokenizer .tokenizer.json.*AutoImageProcessor"):
        AutoProcessor.from_pretrained(tmp_path)


def test_no_such_folder(tmp_path):
    for folder in (tmp_path / "gone", str(tmp_path / "gone"), "./gone"):
        with pytest.raises(FileNotFoundError, match="no such folder"):
            AutoImageProcessor.from_pretrained(folder)


def test_a_supported_class_wins_over_remote_code(tmp_path):
    """As with transformers, where nobody allowed the remote code."""
    settings = processor("clip", "pil").to_dict()
    folder_with(tmp_path, preprocessor_config={**settings, "auto_map": {"AutoImageProcessor": "image.Some"}})
    ours = AutoImageProcessor.from_pretrained(tmp_path, trust_remote_code=False)
    assert isinstance(ours, Accelerated)
    assert np.asarray(ours(PICTURES[0], return_tensors="np")["pixel_values"]).shape[0] == 1
