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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.placeholder import PlaceholderRange, overlapping, sort_by_offset, truncate_prompt

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

Ids: TypeAlias = Union[Sequence[int], "npt.NDArray[np.int64]"]
Seq: TypeAlias = Union[str, Sequence[int], "npt.NDArray[np.int64]"]
"""A text, or token ids."""
Mode = Literal["insert", "replace"]
Compat = Literal["vllm"]


class Tokenizer(Protocol):
    """What is needed of a tokenizer; those of Hugging Face have it."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Give the token ids of a text."""
        ...

    def decode(self, token_ids: list[int]) -> str:
        """Give the text of token ids, special tokens included."""
        ...


@dataclass(frozen=True, eq=False)
class Place:
    """A target that is a place in the prompt rather than something in it.

    Inserting and replacing are the same there.
    """

    at: Literal["start", "end", "prefix"]
    of: Seq | None = None
    """For ``"prefix"``: the place is behind it, if the prompt begins with it."""


START = Place("start")
END = Place("end")


def prefix(of: Seq) -> Place:
    """Name the place behind ``of``, which exists only in prompts that begin with it."""
    return Place("prefix", of)


Select: TypeAlias = Callable[["npt.NDArray[np.int64]", Tokenizer | None], "npt.ArrayLike"]


@dataclass(frozen=True, eq=False)
class Content:
    """What stands for an item, and which of its tokens receive embeddings."""

    full: Seq
    select: Select | None = None
    """From the token ids and the tokenizer to a bool per token; None selects all."""

    @classmethod
    def select_token_id(cls, full: Seq, token_id: int) -> Content:
        """Let the tokens that are ``token_id`` receive embeddings."""
        return cls.select_token_ids(full, [token_id])

    @classmethod
    def select_token_ids(cls, full: Seq, token_ids: Iterable[int]) -> Content:
        """Let the tokens that are one of ``token_ids`` receive embeddings."""
        wanted = np.asarray(list(token_ids), dtype=np.int64)
        return cls(full, lambda ids, _: np.isin(ids, wanted))

    @classmethod
    def select_text(cls, full: Seq, text: str) -> Content:
        """Let the tokens that occur in the encoding of ``text`` receive embeddings.

        As in vLLM, each token is looked at for itself: a token of ``text`` counts wherever it is.
        """

        def select(ids: npt.NDArray[np.int64], tokenizer: Tokenizer | None) -> npt.NDArray[np.bool_]:
            return np.isin(ids, np.asarray(_encode(text, tokenizer), dtype=np.int64))

        return cls(full, select)


Target: TypeAlias = Seq | Place


@dataclass(frozen=True, eq=False)
class PromptUpdate:
    """One rule for all items of a modality; several rules of a modality are alternatives."""

    modality: str
    mode: Mode
    target: Target | Callable[[int], Target]
    """What is looked for, or a function from the item's index to it."""
    content: Seq | Content | Callable[[int], Seq | Content]
    """What stands for the item, or a function from the item's index to it."""

    @classmethod
    def insertion(
        cls,
        modality: str,
        target: Target | Callable[[int], Target],
        content: Seq | Content | Callable[[int], Seq | Content],
    ) -> PromptUpdate:
        """Put the content right after the target, which stays.

        The contents of all items go to the target's first occurrence, in item order.
        """
        return cls(modality, "insert", target, content)

    @classmethod
    def replacement(
        cls,
        modality: str,
        target: Target | Callable[[int], Target],
        content: Seq | Content | Callable[[int], Seq | Content],
    ) -> PromptUpdate:
        """Put the content instead of the target, one occurrence for each item."""
        return cls(modality, "replace", target, content)

    def bind(self, item: int) -> BoundUpdate:
        """Give the rule as it is for one item."""
        target = self.target(item) if callable(self.target) else self.target
        content = self.content(item) if callable(self.content) else self.content
        return BoundUpdate(self.mode, target, content if isinstance(content, Content) else Content(content))


@dataclass(frozen=True, eq=False)
class BoundUpdate:
    """A rule for one item."""

    mode: Mode
    target: Target
    content: Content


@dataclass(frozen=True, eq=False)
class BoundUpdates:
    """The updates of all items of a request, ready for any number of prompts."""

    items: Mapping[str, Sequence[Sequence[BoundUpdate]]]
    """Modality -> item -> alternatives; modalities in order of priority."""
    placeholders: Mapping[str, Sequence[Seq]] = field(default_factory=dict)
    """Modality -> what is one of its placeholders wherever it stands, beside the items' targets."""
    tokenizer: Tokenizer | None = None

    @property
    def modalities(self) -> list[str]:
        """The modalities, in order of priority."""
        return list(self.items)

    @property
    def counts(self) -> dict[str, int]:
        """Items of each modality."""
        return {modality: len(items) for modality, items in self.items.items()}

    @cached_property
    def masks(self) -> list[list[list[npt.NDArray[np.bool_] | None]]]:
        """Which tokens of each content receive embeddings, by modality, item and alternative."""
        made: dict[int, npt.NDArray[np.bool_] | None] = {}  # items may share one content

        def once(content: Content) -> npt.NDArray[np.bool_] | None:
            if content.select is None:
                return None
            if id(content) not in made:
                made[id(content)] = _mask(content, self.tokenizer)
            return made[id(content)]

        return [
            [[once(update.content) for update in alternatives] for alternatives in items]
            for items in self.items.values()
        ]

    @cached_property
    def tokens(self) -> _mmcpp.PromptUpdates:
        """The updates in the core's form, targets and contents as token ids."""
        return self._core(lambda value: _to_ids(value, self.tokenizer), self.masks)

    @cached_property
    def text(self) -> _mmcpp.PromptUpdates:
        """The updates in the core's form, targets and contents as text."""
        return self._core(lambda value: _to_text(value, self.tokenizer), None)

    def only(self, applied: Sequence[Sequence[int | None]]) -> BoundUpdates:
        """Keep of each item's alternatives the one that was applied."""
        return BoundUpdates(
            {
                modality: [
                    list(alternatives) if choice is None else [alternatives[choice]]
                    for alternatives, choice in zip(items, choices, strict=True)
                ]
                for (modality, items), choices in zip(self.items.items(), applied, strict=True)
            },
            self.placeholders,
            self.tokenizer,
        )

    def _core(
        self,
        convert: Callable[[Seq], Seq],
        masks: list[list[list[npt.NDArray[np.bool_] | None]]] | None,
    ) -> _mmcpp.PromptUpdates:
        made: dict[int, Seq] = {}  # items share their rules' objects: convert each once

        def once(value: Seq) -> Seq:
            if id(value) not in made:
                made[id(value)] = convert(value)
            return made[id(value)]

        modalities = []
        for m, (modality, items) in enumerate(self.items.items()):
            bound = []
            for i, alternatives in enumerate(items):
                item = []
                for a, update in enumerate(alternatives):
                    place: str | None = None
                    target = update.target
                    if isinstance(target, Place):
                        place, target = target.at, target.of if target.of is not None else ()
                    mask = masks[m][i][a] if masks is not None else None
                    item.append((update.mode, place, once(target), once(update.content.full), mask))
                bound.append(item)
            extra = [once(value) for value in self.placeholders.get(modality, ())]
            modalities.append((modality, bound, extra))
        return _mmcpp.PromptUpdates(modalities)


def bind_updates(
    updates: Iterable[PromptUpdate],
    counts: Mapping[str, int],
    *,
    tokenizer: Tokenizer | None = None,
) -> BoundUpdates:
    """Resolve rules for the items of a request.

    Args:
        updates: rules; those of one modality are alternatives, tried in this order. The modalities'
            order of appearance is their priority.
        counts: modality -> number of items; 0 for those left out.
        tokenizer: needed where texts meet token ids.

    Returns:
        The bound updates. A replacement's fixed target counts as a placeholder of its modality even
        where there is no item, so that such a prompt is seen to have one too many.

    Raises:
        ValueError: items of a modality that no rule is for, or a negative count.
    """
    rules: dict[str, list[PromptUpdate]] = {}
    for update in updates:
        rules.setdefault(update.modality, []).append(update)
    for modality, count in counts.items():
        if count < 0:
            raise ValueError(f"prompt: {count} {modality} items")
        if count > 0 and modality not in rules:
            raise ValueError(f"prompt: {count} {modality} item(s) but no update for that modality")
    items = {
        modality: [[rule.bind(item) for rule in alternatives] for item in range(counts.get(modality, 0))]
        for modality, alternatives in rules.items()
    }
    placeholders = {
        modality: [
            rule.target
            for rule in alternatives
            if rule.mode == "replace" and not callable(rule.target) and not isinstance(rule.target, Place)
        ]
        for modality, alternatives in rules.items()
    }
    return BoundUpdates(items, placeholders, tokenizer)


@dataclass(frozen=True)
class Surplus:
    """A placeholder that no item uses: tokens ``[start, end)`` of the given prompt."""

    modality: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class PromptPlan:
    """Which update applies where in one prompt; nothing has been changed yet."""

    prompt: Seq
    updates: BoundUpdates
    core: _mmcpp.UpdatePlan

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
        The prompt, and a range for every item.

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
    found: dict[str, dict[int, PlaceholderRange]]
    """Modality -> item -> where its content stands."""
    missing: list[MissingItem]
    surplus: list[Surplus]
    """Placeholders outside of contents that no missing item could use."""


def detect_updates(prompt: Seq, updates: BoundUpdates) -> Detection:
    """Tell whether a prompt is expanded already, what is missing and where.

    A prompt is ambiguous when the targets of all items stand in it too and leave no more
    placeholders over than the contents do, as where content and target are the same.

    Args:
        prompt: token ids or a text.
        updates: from ``bind_updates``.
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
    """Find every occurrence of ``target`` from ``start`` on, none overlapping the one before.

    Returns:
        Begin and end of each. An empty target occurs nowhere.

    Raises:
        ValueError: ``start`` is negative.
    """
    if start < 0:
        raise ValueError(f"prompt: start must not be negative, got {start}")
    return [(begin, begin + len(target)) for begin in _mmcpp.find_matches(prompt, target, start)]


def replace_matches(ids: Ids, target: Ids, content: Ids) -> npt.NDArray[np.int64]:
    """Replace every occurrence of ``target``, as ``find_matches`` finds them.

    Returns:
        int64 [n].
    """
    source = _mmcpp.token_ids(ids)
    new = _mmcpp.token_ids(content)
    parts: list[npt.NDArray[np.int64]] = []
    at = 0
    for begin, end in find_matches(source, target):
        parts += [source[at:begin], new]
        at = end
    return np.concatenate([*parts, source[at:]])


def _encode(text: str, tokenizer: Tokenizer | None) -> list[int]:
    if tokenizer is None:
        raise ValueError(f"prompt: a tokenizer is needed to encode {text[:40]!r}")
    return tokenizer.encode(text, add_special_tokens=False)


def _to_ids(value: Seq, tokenizer: Tokenizer | None) -> npt.NDArray[np.int64]:
    return _mmcpp.token_ids(_encode(value, tokenizer) if isinstance(value, str) else value)


def _to_text(value: Seq, tokenizer: Tokenizer | None) -> str:
    if isinstance(value, str):
        return value
    if len(value) == 0:
        return ""
    if tokenizer is None:
        raise ValueError(f"prompt: a tokenizer is needed to decode {list(value[:8])}")
    return tokenizer.decode([int(token) for token in value])


def _mask(content: Content, tokenizer: Tokenizer | None) -> npt.NDArray[np.bool_] | None:
    if content.select is None:
        return None
    ids = _to_ids(content.full, tokenizer)
    return np.asarray(content.select(ids, tokenizer), dtype=np.bool_)


def _surplus(core: Sequence[tuple[int, int, int]], updates: BoundUpdates) -> list[Surplus]:
    names = updates.modalities
    return [Surplus(names[m], begin, end) for m, begin, end in core]


def _ranges(
    placements: Sequence[tuple[int, int, int, int, int]], updates: BoundUpdates, *, with_masks: bool
) -> dict[str, dict[int, PlaceholderRange]]:
    names = updates.modalities
    masks = updates.masks if with_masks else None
    ranges: dict[str, dict[int, PlaceholderRange]] = {}
    for m, item, alternative, start, length in placements:
        mask = None if masks is None else masks[m][item][alternative]
        ranges.setdefault(names[m], {})[item] = PlaceholderRange(start, length, mask)
    return ranges


def _lists(ranges: dict[str, dict[int, PlaceholderRange]]) -> dict[str, list[PlaceholderRange]]:
    """Drop the numbers of items that are there from the first on."""
    return {modality: list(items.values()) for modality, items in ranges.items()}
