"""Serving engines that use mmcpp without a change: vLLM by its plugins, SGLang in place of its own extension."""

from __future__ import annotations

__all__: list[str] = []
