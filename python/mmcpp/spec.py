"""Specs: what configures a family, from a preset or from a checkpoint's own JSON files.

The core takes resolved numbers only; everything that depends on how Hugging Face writes its files
is here. A spec is a plain JSON object that a native server takes unchanged.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from mmcpp.config_reader import ConfigReader
from mmcpp.errors import UnsupportedError
from mmcpp.families import (
    by_model,
    deepseek_vl_hybrid,
    fixed_size,
    global_tiles,
    granite_docling,
    idefics3,
    inkling,
    internvl,
    lfm2_vl,
    llama4,
    llava_next,
    minicpmv,
    mllama,
    ovis2,
    padded_patches,
    perception_lm,
    phi4_multimodal,
    pixtral,
    qwen_vl,
)
from mmcpp.families.tokens import Marks, TokenizerFiles
from mmcpp.inputs import text

__all__ = [
    "Backend",
    "Checkpoint",
    "backends",
    "families",
    "image_spec",
    "load_spec",
    "per_picture_constants",
    "preset_names",
    "preset_spec",
    "to_json",
]

Backend = Literal["torchvision", "pil"]

# In the order of the core.
_FAMILIES = (
    qwen_vl,
    fixed_size,
    internvl,
    llava_next,
    pixtral,
    padded_patches,
    idefics3,
    mllama,
    llama4,
    global_tiles,
    perception_lm,
    minicpmv,
    ovis2,
    deepseek_vl_hybrid,
    granite_docling,
    lfm2_vl,
    phi4_multimodal,
    inkling,
)
_PRESETS = qwen_vl.PRESETS
# The class of checkpoints whose file names none.
_CLASS_OF_MODEL = {
    **dict.fromkeys(
        ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"), "Qwen2VLImageProcessor"
    ),
    **dict.fromkeys(("glm4v", "glm4v_moe"), "Glm4vImageProcessor"),
    **dict.fromkeys(("glm46v", "glm_ocr"), "Glm46VImageProcessor"),
}
# The class of checkpoints whose file names remote code, where its name is another class's too.
_CLASS_OF_REMOTE = {"image_processing_keye.SiglipImageProcessor": "KeyeImageProcessor"}
# What models are called whose file names an image processor that their own code does not use.
_CLASS_OF_OWN_CODE = dict.fromkeys(
    ("internvl_chat", "skywork_chat", "NVLM_D", "h2ovl_chat"), "InternVLChatImageProcessor"
)
# Processors whose settings stand in processor_config.json itself, where there is no file of an image processor; and
# what they are called in models that use them otherwise.
_PROCESSOR_OF_ALL = "DeepseekVLV2Processor"
_PROCESSOR_OF_ARCHITECTURE = {
    "DeepseekVLV2ForCausalLM": "DeepseekVLV2Processor",
    "DeepseekOCRForCausalLM": "DeepseekOCRProcessor",
}
_NO_TOKEN = -1  # a spec needs a number; no prompt has this one


def families() -> dict[str, dict[str, list[str]]]:
    """List the families: the ``image_processors`` of transformers that each equals, and the ``model_types`` whose
    prompts it expands from a checkpoint's files alone.

    >>> pixtral = families()["pixtral"]
    >>> pixtral["image_processors"]
    ['PixtralImageProcessor']
    """
    of_transformers = {
        family.__name__.rpartition(".")[2]: {
            "image_processors": list(family.CLASSES),
            "model_types": [*family.MODEL_TYPES, *getattr(family, "MARKS", {})],
        }
        for family in _FAMILIES
    }
    for name, model_types in by_model.FAMILIES.items():
        family = of_transformers.setdefault(name, {"image_processors": [], "model_types": []})
        family["model_types"] += model_types
    return of_transformers


def backends(image_processor: str) -> tuple[Backend, ...]:
    """List the backends that the class ``image_processor`` has, ``"pil"`` and ``"torchvision"`` or one of them.

    >>> backends("Kimi_K25ImageProcessor")
    ('torchvision',)
    """
    only: dict[str, tuple[Backend, ...]] = {}
    for family in _FAMILIES:
        only |= getattr(family, "BACKENDS", {})
    return only.get(image_processor, ("pil", "torchvision"))


def preset_names() -> list[str]:
    """List the names that ``preset_spec`` takes."""
    return list(_PRESETS)


def preset_spec(name: str, *, backend: Backend = "torchvision") -> dict[str, Any]:
    """Give the spec of a well-known checkpoint line, such as ``"qwen3_vl"``.

    Args:
        name: one of ``preset_names()``.
        backend: as for ``load_spec``.

    Raises:
        ValueError: an unknown name or backend.
        TypeError: a name that is no str.

    >>> preset_spec("qwen3_vl")["patch_size"]
    16
    """
    if text("preset", name) in _PRESETS:
        return _PRESETS[name].to_dict() | _arithmetic(backend)
    raise ValueError(f"preset: expected one of {', '.join(preset_names())}, got {name!r}")


def load_spec(
    folder: str | os.PathLike[str], *, backend: Backend | None = None, for_prompts: bool = False
) -> dict[str, Any]:
    """Read the spec of a checkpoint from its JSON files.

    The image processor's settings are taken from ``processor_config.json`` (its
    ``image_processor`` object, as transformers 5 writes it), else from
    ``preprocessor_config.json``; the image token from ``config.json``; of models that put further tokens around
    pictures, these and it from the tokenizer's files (see ``mmcpp.families.tokens``). Models that have no image
    processor in transformers are told by their ``model_type`` (see ``mmcpp.families.by_model``).

    Args:
        folder: of the checkpoint.
        backend: whose arithmetic to follow. transformers has two classes of image processors:
            ``"torchvision"``, which it takes where torchvision is installed, and ``"pil"``. The
            default is the class that the file names, ``"pil"`` if it ends in ``Pil`` and else
            ``"torchvision"``, whatever is installed here, or the one backend that the class has.
            ``"pil"`` follows the order of passes of the Pillow that is installed, 13 and later if
            none is.
        for_prompts: whether prompts will be expanded too. If not, ``config.json`` may be missing,
            or be of another model that shares this image processor; the image token is -1 then, and no
            tokenizer is read.

    Returns:
        A JSON object as ``ImageProcessor.from_spec`` takes it.

    Raises:
        FileNotFoundError: no such folder, or neither file is in it.
        UnsupportedError: a model or a flag that mmcpp does not do; never half-honoured.
        ValueError: no JSON, or a value of the wrong type.
    """
    folder = Path(folder)
    path = folder / "config.json"
    model = ConfigReader(_read_object(path) if path.exists() else {}, path.name)
    reader = by_model.reader_of(model)
    if reader is not None:
        return reader(_by_model(folder, model, backend, for_prompts))
    config = _image_processor_config(folder)
    base, suffix = _class_name(config, model)
    if backend is None:
        backend = "pil" if suffix == "Pil" or "torchvision" not in backends(base) else "torchvision"
    if backend not in backends(base) and backend in backends(""):
        only = " and ".join(backends(base))
        raise UnsupportedError(
            f"{config.where}: backend {backend!r} is not supported: {base} there is for {only} alone"
        )
    path = folder / "processor_config.json"
    processor = ConfigReader(_read_object(path) if path.exists() else {}, path.name)
    return _family_spec(Checkpoint(base, config, processor, model, _arithmetic(backend), for_prompts, folder))


def image_spec(class_name: str, settings: ConfigReader, *, backend: Backend) -> dict[str, Any]:
    """Give the spec of an image processor from its settings alone, as ``preprocessor_config.json`` would have them.

    Args:
        class_name: of transformers, without the suffix of its backend.
        settings: what it was made with; absent ones have the class's defaults.
        backend: as for ``load_spec``.

    Returns:
        As ``load_spec`` without prompts.

    Raises:
        UnsupportedError: a class or a setting that mmcpp does not do.
        ValueError: a value of the wrong type.
    """
    nothing = ConfigReader({}, "no file")
    return _family_spec(Checkpoint(class_name, settings, nothing, nothing, _arithmetic(backend), for_prompts=False))


def per_picture_constants(class_name: str) -> Mapping[str, int]:
    """Give keys of an image processor's result that no family makes: those whose number is the same for each picture,
    with every setting that is supported.

    Args:
        class_name: of transformers, without the suffix of its backend.
    """
    family = next((f for f in _FAMILIES if class_name in f.CLASSES), None)
    constants: Mapping[str, Mapping[str, int]] = getattr(family, "CONSTANTS", {})
    return constants.get(class_name, {})


def to_json(spec: Mapping[str, Any] | str) -> str:
    """Give the spec as the JSON text that the core reads.

    Raises:
        TypeError: not a mapping or a text, or a key or value of a type that JSON does not have.
        ValueError: a value that JSON cannot express, such as NaN.
    """
    if isinstance(spec, str):
        return text("spec", spec)
    if not isinstance(spec, Mapping):
        raise TypeError(f"spec: expected a mapping or JSON text, got {type(spec).__name__}")
    return "{" + ", ".join(_member(key, value) for key, value in spec.items()) + "}"


@dataclass(frozen=True)
class Checkpoint:
    """What a family's reader needs of a checkpoint."""

    class_name: str
    """Of the image processor, without the suffix of its backend."""
    image: ConfigReader
    """The image processor's settings."""
    processor: ConfigReader
    """processor_config.json; empty if there is none."""
    model: ConfigReader
    """config.json; empty if there is none."""
    arithmetic: Mapping[str, Any]
    """The spec's keys ``resample`` and ``pillow_generation``."""
    for_prompts: bool
    """Whether prompts will be expanded too."""
    folder: Path | None = None
    """With the tokenizer's files; none if there are settings alone."""

    def tokens(self, model_types: Mapping[str, int], marks: Mapping[str, Marks]) -> dict[str, Any]:
        """Give a spec's keys of tokens: the image token, and those around pictures if prompts will be expanded.

        Args:
            model_types: as for ``image_token``.
            marks: the model types whose tokens stand in the tokenizer's files, and their keys.

        Raises:
            UnsupportedError: prompts are wanted of another model type, or a mark is not one token.
        """
        model_type = self.model.text("model_type")
        own = marks.get(model_type or "") if self.for_prompts else None
        if own is None:
            return {"image_token_id": self.image_token({**model_types, **dict.fromkeys(marks, _NO_TOKEN)})}
        return self.tokenizer.ids(own)

    @cached_property
    def tokenizer(self) -> TokenizerFiles:
        """The tokens of the tokenizer's files; ValueError for files that are none."""

        def read(name: str) -> ConfigReader:
            path = None if self.folder is None else self.folder / name
            return ConfigReader({} if path is None or not path.exists() else _read_object(path), name)

        return TokenizerFiles(read)

    def image_token(self, model_types: Mapping[str, int]) -> int:
        """Give the image token.

        Args:
            model_types: those whose prompts the family can expand from the files, with the token of each where
                config.json names none.

        Raises:
            UnsupportedError: prompts are wanted of another model type.
        """
        model_type = self.model.text("model_type")
        if model_type is not None and model_type in model_types:
            old = self.model.integer("image_token_index", model_types[model_type])
            return self.model.integer("image_token_id", old)
        if self.for_prompts:
            raise self.model.unsupported("model_type", ", ".join(model_types) or "none for prompts; write a spec")
        return _NO_TOKEN


def _member(key: object, value: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"spec: expected keys of type str, got {key!r}")
    try:
        return f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}"
    except TypeError as error:
        raise TypeError(f"spec: {key}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"spec: {key}: {error}") from None


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # JSONDecodeError, UnicodeDecodeError; nested too deeply
        raise ValueError(f"{path.name}: no valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path.name}: expected a JSON object, got {type(value).__name__}")
    return value


def _image_processor_config(folder: Path) -> ConfigReader:
    names = ("processor_config.json", "preprocessor_config.json")
    paths = [folder / name for name in names]
    if paths[0].exists():
        # As transformers 5: one file for all of a processor's parts, if it was saved that way.
        processor = _read_object(paths[0])
        nested = processor.get("image_processor")
        if isinstance(nested, dict):
            return ConfigReader(nested, f"{names[0]}: image_processor")
        if processor.get("processor_class") == _PROCESSOR_OF_ALL and not paths[1].exists():
            return ConfigReader(processor, names[0])
    if paths[1].exists():
        return ConfigReader(_read_object(paths[1]), names[1])
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    raise FileNotFoundError(
        f"{folder}: found neither {names[1]} nor {names[0]} with an `image_processor`; "
        "is this the folder of a vision checkpoint?"
    )


def _by_model(folder: Path, model: ConfigReader, backend: Backend | None, for_prompts: bool) -> Checkpoint:
    """What a reader needs where the model type says the family: no class, and Pillow's arithmetic."""
    if backend not in (None, "pil"):
        model_type = model.text("model_type")
        raise UnsupportedError(f"{model.where}: backend {backend!r} is not supported: {model_type} has pil alone")
    path = folder / "preprocessor_config.json"
    config = ConfigReader(_read_object(path) if path.exists() else {}, path.name)
    return Checkpoint("", config, ConfigReader({}, "no file"), model, _arithmetic("pil"), for_prompts, folder)


def _remote_class(config: ConfigReader) -> str:
    """``auto_map``'s module and class of the image processor, without the repository that it may be in."""
    remote = config.get("auto_map")
    name = remote.get("AutoImageProcessor") if isinstance(remote, Mapping) else None
    name = name[0] if isinstance(name, list) and name else name
    return name.rpartition("--")[2] if isinstance(name, str) else ""


def _class_name(config: ConfigReader, model: ConfigReader) -> tuple[str, str]:
    """The image processor's class, as (base name, suffix of its backend)."""
    model_type = model.get("model_type")
    if isinstance(model_type, str) and model_type in _CLASS_OF_OWN_CODE:
        return _CLASS_OF_OWN_CODE[model_type], ""
    name = config.text("image_processor_type")
    extractor = config.text("feature_extractor_type")
    if name is None and extractor is not None:
        name = extractor.replace("FeatureExtractor", "ImageProcessor")
    name = _CLASS_OF_REMOTE.get(_remote_class(config), name)
    if name is None:
        name = _CLASS_OF_MODEL.get(model.text("model_type") or "")
    if name is None and config.get("processor_class") == _PROCESSOR_OF_ALL:
        architectures = model.get("architectures")
        architecture = architectures[0] if isinstance(architectures, list) and architectures else None
        name = _PROCESSOR_OF_ARCHITECTURE.get(architecture) if isinstance(architecture, str) else None
        if name is None:
            raise model.unsupported("architectures", ", ".join(_PROCESSOR_OF_ARCHITECTURE))
    if name is None:
        raise UnsupportedError(
            f"{config.where}: image_processor_type is missing"
            + ("; its class is remote code" if config.get("auto_map") else "")
        )
    for suffix in ("Fast", "Pil"):
        if name.endswith(suffix):
            return name.removesuffix(suffix), suffix
    return name, ""


def _family_spec(checkpoint: Checkpoint) -> dict[str, Any]:
    name = checkpoint.class_name
    family = next((f for f in _FAMILIES if name in f.CLASSES), None)
    if family is None:
        known = ", ".join(name for f in _FAMILIES for name in f.CLASSES)
        where = checkpoint.image.where
        raise UnsupportedError(f"{where}: image_processor_type {name!r} is not supported; supported: {known}")
    spec: dict[str, Any] = family.read_spec(checkpoint)
    return spec


def _arithmetic(backend: str) -> dict[str, Any]:
    if backend == "torchvision":
        return {"resample": "aten_u8", "pillow_generation": 13}
    if backend == "pil":
        try:
            pillow = importlib.metadata.version("pillow")
        except importlib.metadata.PackageNotFoundError:
            pillow = "13"
        return {"resample": "pil", "pillow_generation": 13 if int(pillow.split(".", maxsplit=1)[0]) >= 13 else 12}
    raise ValueError(f'backend: expected "torchvision" or "pil", got {backend!r}')
