import argparse

import pytest

import mmcpp
from checkpoints import write
from mmcpp.cli import model
from mmcpp.spec import preset_spec


def chosen(*arguments, required=True):
    parser = argparse.ArgumentParser()
    model.add_arguments(parser, required=required)
    parser.set_defaults(usage_error=parser.error)
    return parser.parse_args([str(argument) for argument in arguments])


def test_a_family_or_a_folder(tmp_path):
    expected = mmcpp.ImageProcessor.from_spec(preset_spec("qwen3_vl")).spec
    assert model.processor(chosen("--family", "qwen3_vl")).spec == expected
    pil = model.processor(chosen("--family", "qwen3_vl", "--backend", "pil"))
    assert pil.spec == expected | {"resample": "pil"}
    folder = write(tmp_path, {"image_processor_type": "Qwen2VLImageProcessorPil", "patch_size": 16})
    assert model.processor(chosen("--config", folder)).spec == mmcpp.ImageProcessor.from_pretrained(folder).spec
    assert model.processor(chosen("--config", folder, "--backend", "torchvision")).spec["resample"] == "aten_u8"


def test_what_cannot_be_is_a_usage_error(tmp_path, capsys):
    for arguments in ([], ["--family", "qwen2_vl", "--config", "."]):
        with pytest.raises(SystemExit, match="2"):
            chosen(*arguments)
    assert chosen(required=False).family is None
    with pytest.raises(SystemExit, match="2"):
        model.processor(chosen("--config", tmp_path / "none"))
    assert "--config: " in capsys.readouterr().err
