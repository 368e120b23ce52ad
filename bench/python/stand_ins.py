"""Modules made up for what a few modules of a package import, so that these load without the rest of it."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import logging
import types
from pathlib import Path
from typing import Any


class StandIn(type):
    """A class that has whatever is asked of it."""

    def __getattr__(cls, name: str) -> Any:
        """Give another one."""
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(name)

    def __getitem__(cls, _: Any) -> Any:
        """Be generic."""
        return cls

    def __or__(cls, _: Any) -> Any:
        """Be part of a union."""
        return cls

    __ror__ = __or__


def stand_in(name: str) -> Any:
    """Make a class of this name, whose objects decorate functions with nothing."""
    return StandIn(name, (), {"__init__": lambda self, *a, **k: None, "__call__": lambda self, f=None, *a, **k: f})


class StandInModule(types.ModuleType):
    """A module of such classes."""

    __path__: list[str] = []  # noqa: RUF012 - as a package has it

    def __getattr__(self, name: str) -> Any:
        """Make it up."""
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, logging.getLogger if name == "init_logger" else stand_in(name))
        return getattr(self, name)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a few modules of vLLM, and for all others of it, and for its heavy packages, stand-ins."""

    def __init__(self, folder: Path, real: tuple[str, ...]) -> None:
        """Take real modules from the folder of the package."""
        self._folder, self._real = folder, {f"vllm.{name}" for name in real}

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Say where a module comes from."""
        if fullname.split(".", maxsplit=1)[0] not in {"vllm", "torch", "transformers", "PIL"}:
            return None
        if fullname in self._real:
            file = self._folder.joinpath(*fullname.split(".")[1:]).with_suffix(".py")
            return importlib.util.spec_from_file_location(fullname, file)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        """Make a stand-in."""
        return StandInModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is in it."""
