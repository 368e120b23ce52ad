"""``from_pretrained`` for processors that mmcpp works for, and what is said of a folder that cannot be used."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mmcpp.errors import UnsupportedError
from mmcpp.hf.processor import Unsupported, accelerate

__all__ = ["AutoImageProcessor", "AutoProcessor", "check_folder"]

_IMAGE_FILES = ("processor_config.json", "preprocessor_config.json")
_TEXT_FILES = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json")


class AutoImageProcessor:
    """In place of ``transformers.AutoImageProcessor``."""

    @staticmethod
    def from_pretrained(
        folder: str | os.PathLike[str], *inputs: Any, unsupported: Unsupported = "warn", **kwargs: Any
    ) -> Any:
        """Load an image processor as transformers does, and let mmcpp do its work.

        Args:
            folder: of the checkpoint; anything else that transformers takes is left to it.
            inputs: as transformers takes them.
            unsupported: as for ``accelerate``.
            kwargs: as transformers takes them, such as ``backend="pil"``, or settings that override the folder's.

        Returns:
            What transformers returns, ``Accelerated`` where mmcpp supports it: a call gives a
            ``transformers.BatchFeature`` with the same keys, shapes, dtypes and bytes. With ``return_tensors="np"`` or
            ``"pt"`` the tensors are the memory that was written to; nothing is copied.

        Raises:
            FileNotFoundError: no such folder, or files are missing; the message says which were looked for.
            UnsupportedError: remote code that was not allowed, or a class that this transformers does not have; or
                anything that mmcpp does not support if ``unsupported="error"``.
            ImportError: transformers is not installed.
        """
        import transformers

        check_folder(folder, "AutoImageProcessor", trusted=bool(kwargs.get("trust_remote_code")))
        return _load(transformers.AutoImageProcessor.from_pretrained, folder, inputs, unsupported, kwargs)


class AutoProcessor:
    """In place of ``transformers.AutoProcessor``."""

    @staticmethod
    def from_pretrained(
        folder: str | os.PathLike[str], *inputs: Any, unsupported: Unsupported = "warn", **kwargs: Any
    ) -> Any:
        """Load a processor as transformers does, and let mmcpp do the work of its ``image_processor``.

        Args:
            folder: of the checkpoint; anything else that transformers takes is left to it.
            inputs: as transformers takes them.
            unsupported: as for ``accelerate``.
            kwargs: as transformers takes them.

        Returns:
            What transformers returns. Text, chat templates, ``mm_token_type_ids``, videos and audio are its own doing.

        Raises:
            FileNotFoundError, UnsupportedError, ValueError: as ``AutoImageProcessor.from_pretrained``.
        """
        import transformers

        check_folder(folder, "AutoProcessor", trusted=bool(kwargs.get("trust_remote_code")))
        return _load(transformers.AutoProcessor.from_pretrained, folder, inputs, unsupported, kwargs)


def check_folder(folder: str | os.PathLike[str], auto_class: str, *, trusted: bool = False) -> None:
    """Refuse a folder that transformers could do nothing with, or would ask about, with advice.

    Args:
        folder: of a checkpoint; what is neither a path nor a folder is not looked at.
        auto_class: ``"AutoImageProcessor"`` or ``"AutoProcessor"``.
        trusted: whether remote code may run.

    Raises:
        FileNotFoundError: as ``AutoImageProcessor.from_pretrained``.
        UnsupportedError: as there.
    """
    path = Path(folder)
    if not path.is_dir():
        if path.is_absolute() or isinstance(folder, os.PathLike) or str(folder).startswith((".", "~")):
            raise FileNotFoundError(f"{folder}: no such folder; give the folder that a checkpoint was saved in")
        return
    image = _image_settings(path)
    if image is None:
        raise FileNotFoundError(
            f"{folder}: looked for {_IMAGE_FILES[0]} with an image_processor and for {_IMAGE_FILES[1]}, found neither; "
            "copy them from the checkpoint, or write them with image_processor.save_pretrained(folder)"
        )
    if auto_class == "AutoProcessor" and not any((path / name).exists() for name in _TEXT_FILES):
        raise FileNotFoundError(
            f"{folder}: looked for a tokenizer ({', '.join(_TEXT_FILES)}), found none; copy its files from the "
            "checkpoint, or use mmcpp.hf.AutoImageProcessor for pictures alone"
        )
    _check_class(path, image, trusted=trusted)


def _check_class(path: Path, image: dict[str, Any], *, trusted: bool) -> None:
    name = image.get("image_processor_type") or image.get("feature_extractor_type")
    if not isinstance(name, str) or _is_known(name):
        return
    remote = _object(image.get("auto_map")).get("AutoImageProcessor")
    if remote is not None:
        if trusted:
            return
        raise UnsupportedError(
            f"{path}: the image processor {name} is remote code ({remote}); read it, and if you trust it, give "
            "trust_remote_code=True: it runs as it is, without mmcpp"
        )
    import transformers

    written = _object(_read(path / "config.json")).get("transformers_version")
    raise UnsupportedError(
        f"{path}: image_processor_type is {name}, which transformers {transformers.__version__} does not have; "
        + (f"the checkpoint was written by transformers {written}; " if written else "")
        + "install a newer one: pip install -U transformers"
    )


def _is_known(name: str) -> bool:
    import transformers

    base = name.replace("FeatureExtractor", "ImageProcessor").removesuffix("Fast").removesuffix("Pil")
    return any(hasattr(transformers, base + suffix) for suffix in ("", "Pil", "Fast"))


def _load(
    load: Callable[..., Any],
    folder: str | os.PathLike[str],
    inputs: tuple[Any, ...],
    unsupported: Unsupported,
    kwargs: dict[str, Any],
) -> Any:
    result = load(folder, *inputs, **kwargs)
    if isinstance(result, tuple):  # return_unused_kwargs
        return accelerate(result[0], unsupported=unsupported), *result[1:]
    return accelerate(result, unsupported=unsupported)


def _image_settings(path: Path) -> dict[str, Any] | None:
    """The settings that transformers would take; None if it finds none."""
    nested = _object(_read(path / _IMAGE_FILES[0])).get("image_processor")
    if isinstance(nested, dict):
        return nested
    return _object(_read(path / _IMAGE_FILES[1])) if (path / _IMAGE_FILES[1]).exists() else None


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: no valid JSON: {error}") from None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
