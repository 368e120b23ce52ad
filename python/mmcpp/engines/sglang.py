"""In place of SGLang's own extension ``sglang.srt.rust_extensions._multimodal`` (0.5.23): a module of that name whose
functions are mmcpp's, and image processors that mmcpp works for."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from mmcpp import common, dsv41, inkling, qwen_vl
from mmcpp.hf import patch_transformers, unpatch_transformers

__all__ = ["MODULE", "install", "make_module", "uninstall"]

MODULE = "sglang.srt.rust_extensions._multimodal"
"""What SGLang's ``load_rust_extension`` looks up in ``sys.modules`` before it loads anything."""

_PARTS = {"common": common, "dsv41": dsv41, "inkling": inkling, "qwen_vl": qwen_vl}
_STATE: dict[str, Any] = {}
"""What was in the module's place, while ours is: the loaded module, or None."""


def make_module() -> ModuleType:
    """Make the module: ``common``, ``dsv41``, ``inkling`` and ``qwen_vl`` are mmcpp's. Anything else, as a later SGLang
    may have, is that of its own extension, which is loaded when it is first asked for.

    What differs from the extension on purpose is in the docstrings of mmcpp's modules.
    """
    module = ModuleType(MODULE, "mmcpp in place of SGLang's extension")
    module.__dict__.update(_PARTS, __all__=[*_PARTS], __getattr__=_of_sglang)
    return module


def install(*, processors: bool = True) -> None:
    """Put the module in place, for this process. To be called before SGLang's processors are imported: they keep what
    they found then. May be called again.

    Args:
        processors: also let transformers' ``AutoImageProcessor``, from which SGLang's processors get theirs, hand out
            those that mmcpp works for (see ``mmcpp.hf.patch_transformers``).

    Raises:
        ImportError: ``processors`` without transformers.
    """
    if processors:
        patch_transformers()
    if not _STATE:
        _STATE["before"] = sys.modules.get(MODULE)
        sys.modules[MODULE] = make_module()
        _in_package(sys.modules[MODULE])


def uninstall() -> None:
    """Take ``install`` back. What was imported in between stays as it is."""
    unpatch_transformers()
    if _STATE:
        before = _STATE.pop("before")
        del sys.modules[MODULE]
        if before is not None:
            sys.modules[MODULE] = before
        _in_package(before)


def _in_package(module: ModuleType | None) -> None:
    """As an attribute of the package too, if that is imported."""
    package_name, _, name = MODULE.rpartition(".")
    package = sys.modules.get(package_name)
    if package is None:
        return
    if module is not None:
        setattr(package, name, module)
    elif hasattr(package, name):
        delattr(package, name)


def _of_sglang(name: str) -> Any:
    """What mmcpp does not have, from SGLang's own file."""
    if name.startswith("__"):
        raise AttributeError(name)
    if "own" not in _CACHE:
        _CACHE["own"] = _load_own()
    if _CACHE["own"] is None:
        raise AttributeError(f"{MODULE}: mmcpp has no {name}, and SGLang's own extension is not installed")
    return getattr(_CACHE["own"], name)


_CACHE: dict[str, ModuleType | None] = {}


def _load_own() -> ModuleType | None:
    spec = importlib.util.find_spec("sglang")  # imports nothing of it
    for location in (spec.submodule_search_locations if spec is not None else None) or []:
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = Path(location, "srt", "rust_extensions", f"_multimodal{suffix}")
            if path.exists():
                loader = importlib.machinery.ExtensionFileLoader("_multimodal", str(path))
                own = importlib.util.module_from_spec(importlib.util.spec_from_loader("_multimodal", loader))  # type: ignore[arg-type]
                loader.exec_module(own)
                return own
    return None
