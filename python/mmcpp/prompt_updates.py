"""Rules of what is looked for in a prompt and what stands there afterwards, and their binding to items."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp

__all__ = [
    "END",
    "START",
    "BoundUpdate",
    "BoundUpdates",
    "Content",
    "Ids",
    "Place",
    "PromptUpdate",
    "Seq",
    "Tokenizer",
    "bind_updates",
    "prefix",
]

Ids: TypeAlias = Union[Sequence[int], "npt.NDArray[np.int64]"]
Seq: TypeAlias = Union[str, Sequence[int], "npt.NDArray[np.int64]"]
"""A text, or token ids."""
Mode = Literal["insert", "replace"]


class Tokenizer(Protocol):
    """What is needed of a tokenizer; those of Hugging Face have it."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Give the token ids of ``text``; ``add_special_tokens`` is always false."""
        ...

    def decode(self, token_ids: list[int]) -> str:
        """Give the text of ``token_ids``, special tokens included."""
        ...


@dataclass(frozen=True, eq=False)
class Place:
    """A target that is a place in the prompt rather than something in it.

    Inserting and replacing are the same there.
    """

    at: Literal["start", "end", "prefix"]
    """Of the prompt: its start, its end, or behind a beginning."""
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
    """All of it."""
    select: Select | None = None
    """From the token ids and the tokenizer to a bool per token; None selects all."""

    @classmethod
    def select_token_id(cls, full: Seq, token_id: int) -> Content:
        """Let the tokens of ``full`` that are ``token_id`` receive embeddings."""
        return cls.select_token_ids(full, [token_id])

    @classmethod
    def select_token_ids(cls, full: Seq, token_ids: Iterable[int]) -> Content:
        """Let the tokens of ``full`` that are one of ``token_ids`` receive embeddings."""
        wanted = np.asarray(list(token_ids), dtype=np.int64)
        return cls(full, lambda ids, _: np.isin(ids, wanted))

    @classmethod
    def select_text(cls, full: Seq, text: str) -> Content:
        """Let the tokens of ``full`` that occur in the encoding of ``text`` receive embeddings.

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
    """Whether the target stays or goes."""
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
    """Whether the target stays or goes."""
    target: Target
    """What is looked for."""
    content: Content
    """What stands for the item."""


@dataclass(frozen=True, eq=False)
class BoundUpdates:
    """The updates of all items of a request, ready for any number of prompts."""

    items: Mapping[str, Sequence[Sequence[BoundUpdate]]]
    """Modality -> item -> alternatives; modalities in order of priority."""
    placeholders: Mapping[str, Sequence[Seq]] = field(default_factory=dict)
    """Modality -> what is one of its placeholders wherever it stands, beside the items' targets."""
    tokenizer: Tokenizer | None = None
    """Needed where texts meet token ids."""

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

        rows: dict[int, list[npt.NDArray[np.bool_] | None]] = {}  # and all of their alternatives

        def row(alternatives: Sequence[BoundUpdate]) -> list[npt.NDArray[np.bool_] | None]:
            if id(alternatives) not in rows:
                rows[id(alternatives)] = [once(update.content) for update in alternatives]
            return rows[id(alternatives)]

        return [[row(alternatives) for alternatives in items] for items in self.items.values()]

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

        rows: dict[int, list[object]] = {}  # items may share all of their alternatives

        def row(alternatives: Sequence[BoundUpdate], own: Sequence[npt.NDArray[np.bool_] | None]) -> list[object]:
            if id(alternatives) not in rows:
                rows[id(alternatives)] = [
                    _parts(update, once, mask) for update, mask in zip(alternatives, own, strict=True)
                ]
            return rows[id(alternatives)]

        modalities = []
        for m, (modality, items) in enumerate(self.items.items()):
            nothing = itertools.repeat(None) if masks is None else masks[m]
            bound = [
                row(alternatives, [None] * len(alternatives) if own is None else own)
                for alternatives, own in zip(items, nothing, strict=False)
            ]
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
    items = {modality: _bind_all(alternatives, counts.get(modality, 0)) for modality, alternatives in rules.items()}
    placeholders = {
        modality: [
            rule.target
            for rule in alternatives
            if rule.mode == "replace" and not callable(rule.target) and not isinstance(rule.target, Place)
        ]
        for modality, alternatives in rules.items()
    }
    return BoundUpdates(items, placeholders, tokenizer)


def _bind_all(alternatives: Sequence[PromptUpdate], count: int) -> list[list[BoundUpdate]]:
    """Bind each item's alternatives; what is the same for all items is made once."""
    same = [None if callable(rule.target) or callable(rule.content) else rule.bind(0) for rule in alternatives]
    if all(bound is not None for bound in same):
        return [[bound for bound in same if bound is not None]] * count
    return [
        [rule.bind(item) if bound is None else bound for rule, bound in zip(alternatives, same, strict=True)]
        for item in range(count)
    ]


def _parts(
    update: BoundUpdate, convert: Callable[[Seq], Seq], mask: npt.NDArray[np.bool_] | None
) -> tuple[object, ...]:
    """Give an update as the core takes it."""
    place: str | None = None
    target = update.target
    if isinstance(target, Place):
        place, target = target.at, target.of if target.of is not None else ()
    return (update.mode, place, convert(target), convert(update.content.full), mask)


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
