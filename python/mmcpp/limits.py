"""What a picture and a request may cost; checked before memory is taken."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

__all__ = ["DecodeLimits", "RequestLimits"]


@dataclass(frozen=True)
class DecodeLimits:
    """Limits of one picture, checked from its header."""

    max_encoded_bytes: int = 64 << 20
    """Bytes of the file."""
    max_side: int = 65_535
    """Pixels."""
    max_pixels: int = 178_956_970
    """Height times width; by default where Pillow 13 raises DecompressionBombError."""

    def __post_init__(self) -> None:
        """Refuse what is no size."""
        _check(self, max_side=2**31 - 1)


@dataclass(frozen=True)
class RequestLimits:
    """Limits of one request."""

    max_items: int = 64
    """Pictures."""
    max_total_bytes: int = 256 << 20
    """Encoded bytes and given pixels together."""
    max_tokens: int = 1 << 20
    """Of the expanded prompt."""

    def __post_init__(self) -> None:
        """Refuse what is no size."""
        _check(self)


def values(limits: object, kind: type[DecodeLimits | RequestLimits]) -> tuple[Any, ...] | None:
    """Give the fields of an argument ``limits`` as the core takes them; None is its defaults."""
    if limits is None:
        return None
    if not isinstance(limits, kind):
        raise TypeError(f"limits: expected {kind.__name__} or None, got {type(limits).__name__}")
    return dataclasses.astuple(limits)


def _check(limits: DecodeLimits | RequestLimits, **largest: int) -> None:
    for name, value in dataclasses.asdict(limits).items():
        most = largest.get(name, 2**63 - 1)
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name}: expected an int, got {type(value).__name__}")
        if not 0 <= value <= most:
            raise ValueError(f"{name}: expected 0 to {most}, got {value}")
