"""Model families that are written in Python.

A family describes data: what a picture of some size becomes, its feature, and how the prompt expands
around it. The driver owns the rest, such as limits, decoding, threads and which error is told. The GIL
is taken for the calls of a family alone; decoding goes on without it. C++ has the same contract, in
``mmcpp/family.h``.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.errors import MmError

if TYPE_CHECKING:
    from mmcpp.results import ItemPlan

__all__ = ["Explicit", "Family", "Repeat", "Segment", "Text"]


@dataclass(frozen=True)
class Text:
    """Source tokens ``[begin, end)``, copied as they are."""

    begin: int
    end: int


@dataclass(frozen=True)
class Repeat:
    """``count`` times the token ``id`` in place of ``source_tokens`` source tokens, for one item."""

    item: int
    id: int
    count: int
    source_tokens: int = 1


@dataclass(frozen=True)
class Explicit:
    """These ids in place of ``source_tokens`` source tokens.

    Only ``[content_begin, content_end)`` counts as the item; the rest are its wrapper.
    """

    item: int
    ids: Sequence[int]
    content_begin: int
    content_end: int
    source_tokens: int = 1


Segment: TypeAlias = Text | Repeat | Explicit
"""A part of a prompt; a layout's segments together consume every source token once, in order."""


class Family(abc.ABC):
    """One model family, configured for one checkpoint. To be subclassed.

    Methods must not change the family: they are called from any thread, at the same time on a
    free-threaded Python. What they raise ends the request as an error: a ``ValueError`` or
    ``TypeError`` as such (code ``"invalid_argument"``), an ``MmError`` with its code, ``MemoryError`` as
    ``"out_of_memory"``, anything else as a ``RuntimeError``.
    """

    name: str
    """Such as ``"my_model"``."""
    feature_name: str = "pixel_values"
    """The feature's name in the model's inputs."""
    pads_features: bool = False
    """Whether features of one batch may differ in the sides behind the first: the packed tensor has the
    largest of each then, zero elsewhere, and ``process`` may get a larger ``out``."""
    keeps_alpha: bool = False
    """Whether transparency is the family's to deal with: ``process`` gets pictures that have some with four
    channels then, and arrays ``[height, width, 4]`` may be given; whatever the decode profile does with it."""
    image_token_id: int | None = None
    """The placeholder of a picture, for the layout that this class has."""

    @abc.abstractmethod
    def plan(self, height: int, width: int) -> ItemPlan:
        """Give what a picture of this size becomes, by arithmetic alone.

        Args:
            height: of the picture, in pixels.
            width: of the picture, in pixels.

        Raises:
            ValueError: a size that the family refuses.
        """

    @abc.abstractmethod
    def process(self, image: npt.NDArray[np.uint8], plan: ItemPlan, out: npt.NDArray[Any]) -> None:
        """Write the feature of a picture.

        Args:
            image: ``uint8 [height, width, 3]``, RGB; with ``keeps_alpha``, of a picture with transparency
                ``[height, width, 4]``, RGBA.
            plan: of this size.
            out: of shape ``plan.feature_shape``, zero. ``float32``, ``float16``, ``uint8`` (pixels as
                resized, normalisation left to the device), or ``uint16`` for the bits of bfloat16, as
                the caller asked.
        """

    def aux(self, plan: ItemPlan) -> dict[str, npt.NDArray[Any]]:
        """Give small tensors beside the feature, the same names for each picture; none by default.

        Args:
            plan: of the picture.
        """
        return {}

    def layout(self, input_ids: npt.NDArray[np.int64], plans: list[ItemPlan]) -> Sequence[Segment]:
        """Give how the prompt expands.

        By default each ``image_token_id`` becomes as many of itself as its picture has tokens.

        Args:
            input_ids: ``int64 [length]``.
            plans: of the pictures, in order.

        Raises:
            ValueError: ids and pictures do not match.
            NotImplementedError: there is no ``image_token_id``, so the class must have a layout of its own.
        """
        if self.image_token_id is None:
            raise NotImplementedError(f"{type(self).__name__} has neither an image_token_id nor a layout")
        places = np.flatnonzero(input_ids == self.image_token_id).tolist()
        if len(places) != len(plans):
            raise ValueError(f"prompt has {len(places)} media placeholder(s) but {len(plans)} media item(s)")
        segments: list[Segment] = []
        end = 0
        for item, (place, plan) in enumerate(zip(places, plans, strict=True)):
            segments += [Text(end, place), Repeat(item, self.image_token_id, plan.tokens)]
            end = place + 1
        return [*segments, Text(end, len(input_ids))]

    def positions(
        self, length: int, offsets: list[tuple[int, int]], plans: list[ItemPlan]
    ) -> tuple[npt.NDArray[np.int64], int] | None:
        """Give position ids ``int64 [3, length]`` and the delta; None, as by default, where they are plain.

        Args:
            length: of the expanded prompt.
            offsets: first and last token of each picture, both inside.
            plans: of the pictures.
        """
        return None


def native(family: Family) -> _mmcpp.Family:
    """Give the core's side of a family."""
    if not isinstance(family, Family):
        raise TypeError(f"family: expected a mmcpp.family.Family, got {type(family).__name__}")
    return _mmcpp.Family.from_methods(_Methods(family))


Outcome: TypeAlias = tuple[tuple[str, str] | None, Any]


def outcome(function: Callable[..., Any], *args: Any) -> Outcome:
    """Call a function for the core: ``(None, value)``, or ``((code, message), the exception)``."""
    try:
        return None, function(*args)
    except BaseException as error:  # no exception may pass through the core
        return (_code(error), f"{type(error).__name__}: {error}"), error


def _code(error: BaseException) -> str:
    if isinstance(error, MmError):
        return error.code
    if isinstance(error, (ValueError, TypeError)):
        return "invalid_argument"
    return "out_of_memory" if isinstance(error, MemoryError) else "internal"


class _Methods:
    """A family's methods in plain values, as the core calls them."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self.name = str(family.name)
        self.feature_name = str(family.feature_name)
        self.pads_features = bool(family.pads_features)
        self.keeps_alpha = bool(family.keeps_alpha)

    def plan(self, height: int, width: int) -> Outcome:
        return outcome(self._plan, height, width)

    def process(self, image: Any, plan: dict[str, Any], out: Any) -> Outcome:
        return outcome(self._family.process, image, _to_plan(plan), out)

    def aux(self, plan: dict[str, Any]) -> Outcome:
        return outcome(self._aux, plan)

    def layout(self, input_ids: Any, plans: list[dict[str, Any]]) -> Outcome:
        return outcome(self._layout, input_ids, plans)

    def positions(self, length: int, offsets: list[tuple[int, int]], plans: list[dict[str, Any]]) -> Outcome:
        return outcome(self._positions, length, offsets, plans)

    def _plan(self, height: int, width: int) -> tuple[Any, ...]:
        plan = self._family.plan(height, width)
        shape = tuple(int(side) for side in plan.feature_shape)
        t, h, w = (int(side) for side in plan.grid)
        return shape, (t, h, w), int(plan.tokens), int(plan.resized_height), int(plan.resized_width)

    def _aux(self, plan: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
        aux = self._family.aux(_to_plan(plan))
        return {str(name): np.asarray(value, order="C") for name, value in aux.items()}

    def _layout(self, input_ids: Any, plans: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [_to_tuple(s) for s in self._family.layout(input_ids, [_to_plan(plan) for plan in plans])]

    def _positions(self, length: int, offsets: list[tuple[int, int]], plans: list[dict[str, Any]]) -> Any:
        positions = self._family.positions(length, offsets, [_to_plan(plan) for plan in plans])
        if positions is None:
            return None
        ids, delta = positions
        return np.ascontiguousarray(ids, dtype=np.int64), int(delta)


def _to_plan(fields: dict[str, Any]) -> ItemPlan:
    from mmcpp.results import ItemPlan

    return ItemPlan(**fields)


def _to_tuple(segment: Segment) -> tuple[Any, ...]:
    if isinstance(segment, Text):
        return int(segment.begin), int(segment.end)
    if isinstance(segment, Repeat):
        return int(segment.item), int(segment.id), int(segment.count), int(segment.source_tokens)
    if isinstance(segment, Explicit):
        ids = [int(token) for token in segment.ids]
        return int(segment.item), ids, int(segment.content_begin), int(segment.content_end), int(segment.source_tokens)
    raise TypeError(f"layout: expected Text, Repeat or Explicit, got {type(segment).__name__}")
