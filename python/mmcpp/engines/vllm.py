"""The plugin of vLLM: the image processors that vLLM gets from transformers are those that mmcpp works for.

vLLM 0.33 finds it by the entry point ``vllm.general_plugins`` and calls it in each of its processes, before any
processor is made.
"""

from __future__ import annotations

import logging

from mmcpp.hf import patch_transformers

__all__ = ["register"]


def register() -> None:
    """Patch transformers for this process (see ``mmcpp.hf.patch_transformers``). May be called again.

    Nothing else of vLLM changes: prompts, caches and hashes are its own. Where transformers is missing or cannot be
    patched, vLLM goes on without, and its log says why.
    """
    logger = logging.getLogger("vllm.plugins.mmcpp")
    try:
        patch_transformers()
    except Exception:  # a plugin must not keep a server from starting
        logger.exception("mmcpp: transformers is left as it is")
    else:
        logger.info("mmcpp: image processors of transformers are mmcpp's where it supports them")
