"""Which tokens of a prompt belong to which media item, stated as updates.

An update says what is looked for in a prompt (its target) and what stands there afterwards (its
content). Updates are bound to the number of items, then planned and applied to a prompt, or used to
find the items in a prompt that is expanded already. Prompts are token ids or texts; targets and
contents may be either, given a tokenizer.

The model is that of vLLM's multimodal processing; ``compat="vllm"`` follows the planner of its
release 0.33 to the letter. By default three of its faults are repaired: a place (start, end, behind
a prefix) is one of the given prompt and moves no scan, insertions hide nothing from replacements,
and items are listed in item order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.placeholder import PlaceholderRange, overlapping, sort_by_offset, truncate_prompt
from mmcpp.prompt_updates import (
    END,
    START,
    BoundUpdate,
    BoundUpdates,
    Content,
    Ids,
    Place,
    PromptUpdate,
    Seq,
    Tokenizer,
    bind_updates,
    prefix,
)

__all__ = [
    "END",
    "START",
    "BoundUpdate",
    "BoundUpdates",
    "Content",
    "Detection",
    "ExpandedPrompt",
    "MissingItem",
    "Place",
    "PlaceholderRange",
    "PromptPlan",
    "PromptUpdate",
    "Surplus",
    "Tokenizer",
    "bind_updates",
    "detect_updates",
    "expand_prompt",
    "find_matches",
    "find_placeholders",
    "overlapping",
    "plan_updates",
    "prefix",
    "replace_matches",
    "sort_by_offset",
    "truncate_prompt",
]
Compat = Literal["vllm"]


@dataclass(frozen=True)
class Surplus:
    """A placeholder that no item uses: tokens ``[start, end)`` of the given prompt."""

    modality: str
    """Whose placeholder it is."""
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class PromptPlan:
    """Which update applies where in one prompt; nothing has been changed yet."""

    prompt: Seq
    """As given."""
    updates: BoundUpdates
    """As given."""
    core: _mmcpp.UpdatePlan
    """The core's plan."""

    @property
    def applied(self) -> dict[str, list[int | None]]:
        """The alternative taken for each item; None where none applies."""
        return dict(zip(self.updates.modalities, self.core.applied, strict=True))

    @property
    def complete(self) -> bool:
        """Whether every item has a place."""
        return self.core.complete

    @property
    def surplus(self) -> list[Surplus]:
        """The placeholders left over, in prompt order."""
        return _surplus(self.core.surplus, self.updates)

    def check(self, *, refuse_surplus: bool = True) -> None:
        """Refuse a plan in which items and placeholders do not match.

        Raises:
            ValueError: an item has no place or an empty content, or (with ``refuse_surplus``) a
                placeholder has no item. The text names the modality and both numbers, ``item`` the
                item, counted through all modalities.
        """
        _mmcpp.check_plan(self._bound, self.core, refuse_surplus)

    def apply(self, *, max_tokens: int | None = None) -> tuple[Seq, dict[str, dict[int, PlaceholderRange]]]:
        """Carry the plan out.

        Returns:
            The prompt (int64 [n], or a text for a text), and modality -> item -> where its content
            stands. Items without a place, or with an empty content, are not in it.

        Raises:
            LimitError: the result would have more than ``max_tokens`` tokens (or characters).
        """
        limit = 2**64 - 1 if max_tokens is None else max_tokens
        expanded, placements = _mmcpp.apply_plan(self.prompt, self._bound, self.core, limit)
        return expanded, _ranges(placements, self.updates, with_masks=not isinstance(expanded, str))

    @property
    def _bound(self) -> _mmcpp.PromptUpdates:
        return self.updates.text if isinstance(self.prompt, str) else self.updates.tokens


@dataclass(frozen=True, eq=False)
class ExpandedPrompt:
    """A prompt in which the items' contents stand."""

    ids: npt.NDArray[np.int64] | None
    """int64 [n]; None where a text was expanded without a tokenizer."""
    text: str | None
    """The expanded text, where texts were worked on."""
    placeholders: dict[str, list[PlaceholderRange]]
    """Modality -> range of each item, in item order; in characters where ``ids`` is None."""
    applied: dict[str, list[int | None]]
    """Modality -> the alternative that was taken for each item."""


def plan_updates(prompt: Seq, updates: BoundUpdates, *, compat: Compat | None = None) -> PromptPlan:
    """Decide which update applies where in a prompt.

    One pass from left to right: the leftmost match wins, then the shorter one, then the earlier
    item. Contents are not searched. Time is linear in prompt and updates.

    Args:
        prompt: token ids or a text.
        updates: from ``bind_updates``.
        compat: ``"vllm"`` plans in the rounds of vLLM 0.33, faults included.

    Returns:
        The plan: ``check`` refuses one that does not fit, ``apply`` carries it out.

    Raises:
        ValueError: a mask does not fit its content, or a text meets token ids and there is no
            tokenizer.
    """
    bound = updates.text if isinstance(prompt, str) else updates.tokens
    return PromptPlan(prompt, updates, _mmcpp.plan_updates(prompt, bound, compat == "vllm"))


def expand_prompt(
    prompt: Seq,
    updates: BoundUpdates,
    *,
    compat: Compat | None = None,
    surplus: Literal["refuse", "allow"] | None = None,
    max_tokens: int | None = None,
    add_special_tokens: bool = True,
) -> ExpandedPrompt:
    """Expand a prompt so that every item stands in it.

    A text is encoded first if the updates have a tokenizer, and worked on as text if not. Where an
    item finds no place among tokens and there is a tokenizer, the prompt is decoded, expanded as
    text and encoded again: a target may hide inside a token ("foo" in "food").

    Args:
        prompt: token ids or a text.
        updates: from ``bind_updates``.
        compat: as in ``plan_updates``.
        surplus: what becomes of a prompt with more placeholders than items, such as one that a user
            typed. ``"allow"`` leaves them as they are, as vLLM does; refused by default, except with
            ``compat="vllm"``.
        max_tokens: of the result (characters, where texts are worked on).
        add_special_tokens: for encoding a text prompt.

    Returns:
        The prompt (int64 [n], or a text where texts are worked on), and modality -> item -> the range of tokens
        (characters) where its content stands.

    Raises:
        ValueError: items and placeholders do not match; the text names the modality and both
            numbers, ``item`` the item counted through all modalities.
        LimitError: the result would be too long.
    """
    refuse = surplus == "refuse" or (surplus is None and compat is None)
    if isinstance(prompt, str) and updates.tokenizer is not None:
        prompt = updates.tokenizer.encode(prompt, add_special_tokens=add_special_tokens)
    if not isinstance(prompt, str):
        prompt = _mmcpp.token_ids(prompt)
    plan = plan_updates(prompt, updates, compat=compat)
    if not plan.complete and updates.tokenizer is not None and not isinstance(prompt, str):
        return _expand_as_text(plan, updates.tokenizer, compat, refuse, max_tokens)
    plan.check(refuse_surplus=refuse)
    expanded, placed = plan.apply(max_tokens=max_tokens)
    return ExpandedPrompt(
        ids=None if isinstance(expanded, str) else np.asarray(expanded),
        text=expanded if isinstance(expanded, str) else None,
        placeholders=_lists(placed),
        applied=plan.applied,
    )


def _expand_as_text(
    token_plan: PromptPlan, tokenizer: Tokenizer, compat: Compat | None, refuse: bool, max_tokens: int | None
) -> ExpandedPrompt:
    updates = token_plan.updates
    text = tokenizer.decode([int(token) for token in token_plan.prompt])
    plan = plan_updates(text, updates, compat=compat)
    if not plan.complete:
        token_plan.check(refuse_surplus=refuse)  # raises: what the caller gave were tokens
    plan.check(refuse_surplus=refuse)
    expanded = str(plan.apply(max_tokens=max_tokens)[0])
    ids = _mmcpp.token_ids(tokenizer.encode(expanded, add_special_tokens=False))
    if max_tokens is not None and len(ids) > max_tokens:
        from mmcpp.errors import LimitError

        raise LimitError(f"prompt: expands to {len(ids)} tokens, the limit is {max_tokens}")
    found = find_placeholders(ids, updates.only(plan.core.applied))
    for modality, count in updates.counts.items():
        if len(found.get(modality, ())) != count:
            raise ValueError(
                f"prompt: {count} {modality} item(s) but {len(found.get(modality, ()))} of their contents in the"
                " prompt after it was expanded as text and encoded again"
            )
    return ExpandedPrompt(ids=ids, text=expanded, placeholders=found, applied=plan.applied)


def find_placeholders(prompt: Seq, updates: BoundUpdates) -> dict[str, list[PlaceholderRange]]:
    """Find the items' contents in a prompt that is expanded already.

    Args:
        prompt: token ids or a text.
        updates: from ``bind_updates``.

    Searched from left to right, in item order, as vLLM 0.33 does, in linear time: at each position
    each modality's first item not found yet, its alternatives in order. The search of a modality
    ends at an item that is nowhere.

    Returns:
        Modality -> ranges of its first items; modalities of which nothing was found are left out.
    """
    bound = updates.text if isinstance(prompt, str) else updates.tokens
    placements = _mmcpp.find_placeholders(prompt, bound)
    return _lists(_ranges(placements, updates, with_masks=not isinstance(prompt, str)))


@dataclass(frozen=True)
class MissingItem:
    """An item whose content is not where it should be."""

    modality: str
    """Of the item."""
    item: int
    target: tuple[int, int] | None
    """Begin and end of its unapplied target, if that stands in the prompt."""
    content_start: int | None
    """Where its content stands out of order, or within another, if it does."""


@dataclass(frozen=True, eq=False)
class Detection:
    """Whether a prompt already contains what its updates would make of it."""

    state: Literal["applied", "not_applied", "partial"]
    """Whether all contents stand there in item order, none, or some."""
    ambiguous: bool
    """The prompt may as well be read as not applied; ``reason`` says why."""
    reason: str
    """Empty unless the prompt is ambiguous."""
    found: dict[str, dict[int, PlaceholderRange]]
    """Modality -> item -> where its content stands."""
    missing: list[MissingItem]
    """Items whose content is not in its place."""
    surplus: list[Surplus]
    """Placeholders outside of contents that no missing item could use."""


def detect_updates(prompt: Seq, updates: BoundUpdates) -> Detection:
    """Tell whether a prompt is expanded already, what is missing and where.

    A prompt is ambiguous when the targets of all items stand in it too and leave no more
    placeholders over than the contents do, as where content and target are the same.

    Args:
        prompt: token ids or a text.
        updates: from ``bind_updates``.

    Returns:
        The verdict, the ranges that were found and the items that were not.
    """
    bound = updates.text if isinstance(prompt, str) else updates.tokens
    core = _mmcpp.detect_updates(prompt, bound)
    names = updates.modalities
    return Detection(
        state=core["state"],
        ambiguous=core["ambiguous"],
        reason=core["reason"],
        found=_ranges(core["found"], updates, with_masks=not isinstance(prompt, str)),
        missing=[
            MissingItem(names[m], item, None if begin is None or end is None else (begin, end), start)
            for m, item, begin, end, start in core["missing"]
        ],
        surplus=_surplus(core["surplus"], updates),
    )


def find_matches(prompt: Seq, target: Seq, *, start: int = 0) -> list[tuple[int, int]]:
    """Find every occurrence of ``target`` in ``prompt`` from ``start`` on, none overlapping the one before.

    Returns:
        Begin and end of each. An empty target occurs nowhere.

    Raises:
        ValueError: ``start`` is negative.
    """
    if start < 0:
        raise ValueError(f"prompt: start must not be negative, got {start}")
    return [(begin, begin + len(target)) for begin in _mmcpp.find_matches(prompt, target, start)]


def replace_matches(ids: Ids, target: Ids, content: Ids) -> npt.NDArray[np.int64]:
    """Replace every occurrence of ``target`` in ``ids`` by ``content``, as ``find_matches`` finds them.

    Args:
        ids: int64 [n].
        target: int64 [m]; an empty one occurs nowhere.
        content: int64 [k].

    Returns:
        int64 [length of the result].
    """
    source = _mmcpp.token_ids(ids)
    new = _mmcpp.token_ids(content)
    parts: list[npt.NDArray[np.int64]] = []
    at = 0
    for begin, end in find_matches(source, target):
        parts += [source[at:begin], new]
        at = end
    return np.concatenate([*parts, source[at:]])


def _surplus(core: Sequence[tuple[int, int, int]], updates: BoundUpdates) -> list[Surplus]:
    names = updates.modalities
    return [Surplus(names[m], begin, end) for m, begin, end in core]


def _ranges(
    placements: npt.NDArray[np.int64], updates: BoundUpdates, *, with_masks: bool
) -> dict[str, dict[int, PlaceholderRange]]:
    """From the core's int64 [5, n]: modality, item, alternative, start, length."""
    names = updates.modalities
    masks = updates.masks if with_masks else None
    ranges: dict[str, dict[int, PlaceholderRange]] = {}
    for m, item, alternative, start, length in zip(*placements.tolist(), strict=True):
        mask = None if masks is None else masks[m][item][alternative]
        ranges.setdefault(names[m], {})[item] = PlaceholderRange(start, length, mask)
    return ranges


def _lists(ranges: dict[str, dict[int, PlaceholderRange]]) -> dict[str, list[PlaceholderRange]]:
    """Drop the numbers of items that are there from the first on."""
    return {modality: list(items.values()) for modality, items in ranges.items()}
