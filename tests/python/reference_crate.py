"""The reference crate, where it is at hand: `MMCPP_SGLANG` names the `_multimodal` extension of the wheel sglang
0.5.23, or a folder that it lies in somewhere (the wheel unpacked: `pip download --no-deps sglang==0.5.23`); else an
installed sglang is taken. The extension is loaded alone: its package would import all of sglang."""

import importlib.machinery
import importlib.util
import os
from pathlib import Path

import pytest

VERSION = "0.5.23"


def _extension() -> Path | None:
    named = os.environ.get("MMCPP_SGLANG")
    if named is not None:
        path = Path(named)
        return path if path.is_file() else next(path.rglob("_multimodal.*.so"))
    spec = importlib.util.find_spec("sglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(spec.submodule_search_locations[0], "srt", "rust_extensions").glob("_multimodal.*.so"), None)


def load_crate():
    """The extension module, or a skip with the reason."""
    path = _extension()
    if path is None:
        pytest.skip(f"no reference crate: sglang {VERSION} is not installed and MMCPP_SGLANG names none")
    loader = importlib.machinery.ExtensionFileLoader("_multimodal", str(path))
    spec = importlib.util.spec_from_loader("_multimodal", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
