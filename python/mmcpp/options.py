"""Options of a processor: where they apply, and what wins when a server and a request both set some.

Options for one modality stand in its scope, ``{"images_kwargs": {"size": ...}}``; all others are flat
and apply wherever they are understood. The rules are those of vLLM 0.33, but for one fault: there, a
request that asks for normalisation within a scope is normalised twice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

__all__ = [
    "SCOPES",
    "SCOPE_OF",
    "complete_pixel_bounds",
    "for_modality",
    "leave_normalisation_out",
    "merge_options",
    "pixel_bounds",
    "resolve_options",
]

Options: TypeAlias = Mapping[str, Any]

SCOPES = ("text_kwargs", "images_kwargs", "videos_kwargs", "audio_kwargs")
SCOPE_OF = {"image": "images_kwargs", "video": "videos_kwargs", "audio": "audio_kwargs"}
"""Modality -> the scope of its options."""

_PIXEL_BOUNDS = {"min_pixels": "shortest_edge", "max_pixels": "longest_edge"}


def merge_options(configured: Options, request: Options) -> dict[str, Any]:
    """Merge a server's options with a request's.

    The request wins, mappings are merged by their leaves, and an empty scope is none. An option that
    stands in a scope of either side is found, from the weakest to the strongest, among the configured
    flat ones, the configured scope, the request's flat ones, the request's scope.

    Args:
        configured: the server's.
        request: the request's.
    """
    merged = _merge(_flat(configured), _flat(request))
    for scope in SCOPES:
        weak, strong = configured.get(scope) or None, request.get(scope) or None
        if strong is not None and not isinstance(strong, Mapping):
            merged[scope] = strong
        elif weak is not None and not isinstance(weak, Mapping):
            if strong is not None:
                merged[scope] = _merge_scope(configured, {}, request, strong)
            else:
                merged[scope] = weak
        elif weak is not None or strong is not None:
            merged[scope] = _merge_scope(configured, weak or {}, request, strong or {})
    return merged


def resolve_options(options: Options, supported: Mapping[str, Collection[str]] | None = None) -> dict[str, Any]:
    """Put flat options where they apply.

    Args:
        options: from ``merge_options``.
        supported: scope -> the options that it understands. Each flat option goes to every scope that
            understands it, where a scoped one wins (by its leaves); what no scope understands stays
            flat. None if nobody knows: flat options that some scope sets itself are dropped then.

    Raises:
        TypeError: a scope that options go to is no mapping.
    """
    if supported is None:
        scoped = {name for scope in SCOPES if isinstance(options.get(scope), Mapping) for name in options[scope]}
        return {name: value for name, value in options.items() if name in SCOPES or name not in scoped}
    resolved = dict(options)
    for name, value in _flat(options).items():
        for scope in [scope for scope, names in supported.items() if name in names]:
            own = resolved.get(scope, {})
            if not isinstance(own, Mapping):
                raise TypeError(f"options: {scope} must be a mapping, got {type(own).__name__}")
            resolved[scope] = {**own, name: _merge_values(value, own[name]) if name in own else value}
            resolved.pop(name, None)
    return resolved


def for_modality(options: Options, modality: str) -> dict[str, Any]:
    """Give the options that may change what items of a modality become.

    For images, videos and audio these are the flat ones and those of their own scope, for others all.
    """
    scope = SCOPE_OF.get(modality)
    if scope is None:
        return dict(options)
    return {name: value for name, value in options.items() if name == scope or name not in SCOPES}


def leave_normalisation_out(options: Options) -> dict[str, Any]:
    """Tell the processor to give pixels as they are, for a device that normalises them.

    Args:
        options: of the processor, in scopes or flat; left as they are.

    Options that ask for it are overruled wherever they stand, so that no pixel is normalised twice.
    """
    off = {"do_normalize": False, "do_rescale": False}
    asked = any(isinstance(options.get(scope), Mapping) and off.keys() & options[scope].keys() for scope in SCOPES)
    if not asked:
        return {**options, **off}
    # An option that one scope sets is no longer taken from the flat ones: each scope says it then.
    pictures = {scope: {**(options.get(scope) or {}), **off} for scope in ("images_kwargs", "videos_kwargs")}
    return {**options, **off, **pictures}


def complete_pixel_bounds(options: Options) -> dict[str, Any]:
    """Say the bounds of Qwen-VL pictures in both of their forms.

    ``min_pixels`` is ``size["shortest_edge"]``, ``max_pixels`` is ``size["longest_edge"]``; where one
    form is given the other is added, flat and in the scopes of pictures and videos each for itself.
    Given ones are left alone even if they contradict each other. To be done to a request's options
    before they are merged: then the request wins in whatever form it speaks.
    """
    result = _complete(options)
    for scope in ("images_kwargs", "videos_kwargs"):
        if isinstance(options.get(scope), Mapping):
            result[scope] = _complete(options[scope])
    return result


def pixel_bounds(options: Options, default: Mapping[str, int] | None = None) -> dict[str, int]:
    """Give the bounds of Qwen-VL pictures that options come to, in pixels.

    Args:
        options: flat; ``min_pixels`` and ``max_pixels`` win over ``size``. None stands for no option.
        default: the checkpoint's ``size``.

    Returns:
        ``shortest_edge`` and ``longest_edge``, as far as they are known.
    """
    bounds = dict(default or {}) | {
        edge: side for edge, side in (options.get("size") or {}).items() if side is not None
    }
    given = {edge: options.get(name) for name, edge in _PIXEL_BOUNDS.items()}
    return bounds | {edge: pixels for edge, pixels in given.items() if pixels is not None}


def _complete(options: Options) -> dict[str, Any]:
    result = dict(options)
    size = dict(options.get("size") or {})
    for pixels, edge in _PIXEL_BOUNDS.items():
        if options.get(pixels) is not None and size.get(edge) is None:
            size[edge] = options[pixels]
        elif pixels not in options and size.get(edge) is not None:
            result[pixels] = size[edge]
    if size:
        result["size"] = size
    return result


def _flat(options: Options) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in SCOPES}


def _merge(weak: Options, strong: Options) -> dict[str, Any]:
    merged = dict(weak)
    for name, value in strong.items():
        merged[name] = _merge_values(merged[name], value) if name in merged else value
    return merged


def _merge_values(weak: Any, strong: Any) -> Any:
    return _merge(weak, strong) if isinstance(weak, Mapping) and isinstance(strong, Mapping) else strong


def _merge_scope(configured: Options, weak: Options, request: Options, strong: Options) -> dict[str, Any]:
    names = [*weak, *(name for name in strong if name not in weak)]
    merged: dict[str, Any] = {}
    for level in (configured, weak, request, strong):
        merged = _merge(merged, {name: level[name] for name in names if name in level})
    return merged
