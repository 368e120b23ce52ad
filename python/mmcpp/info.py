"""What this build is made of."""

from __future__ import annotations

from dataclasses import dataclass

from mmcpp import _mmcpp

__all__ = ["BuildInfo", "build_info"]


@dataclass(frozen=True)
class BuildInfo:
    """A build's version, executor, instruction sets and codecs."""

    version: str
    executor: str
    """Who runs loops: ``"inline"`` (the caller), ``"tbb"`` or ``"chaos"`` (tests)."""
    isa: str
    """The kernel table in use, such as ``"scalar"``."""
    available_isas: tuple[str, ...]
    """Tables that this machine can run, best last."""
    codecs: dict[str, str]
    """Library and version, as loaded."""


def build_info() -> BuildInfo:
    """Give what this build is made of, for logs and bug reports.

    >>> build_info().executor in ("inline", "tbb", "chaos")
    True
    """
    fields = _mmcpp.build_info()
    fields["available_isas"] = tuple(fields["available_isas"])
    return BuildInfo(**fields)
