"""Where items stand in a prompt: a text or token ids, with a placeholder per item or expanded already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.errors import LimitError
from mmcpp.placeholder import PlaceholderRange
from mmcpp.processing_hf import HfMedia, ProcessedItem
from mmcpp.prompt import (
    BoundUpdate,
    BoundUpdates,
    Content,
    detect_updates,
    expand_prompt,
    find_placeholders,
)

__all__ = ["Form", "ItemPlacer"]

Prompt: TypeAlias = Union[str, Sequence[int], "npt.NDArray[np.int64]"]
Form = Literal["detect", "plain", "expanded"]
"""Whether a prompt holds a placeholder per item or what becomes of them."""


class ItemPlacer:
    """Puts what items became into prompts, or finds it there. As thread-safe as the processor is."""

    def __init__(self, media: HfMedia, surplus: Literal["refuse", "allow"]) -> None:
        """Place the items of a processor.

        Args:
            media: the processor's half that made the items.
            surplus: what becomes of placeholders that no item is for: refused, or left as text.
        """
        self._media = media
        self._surplus = surplus

    def place(
        self,
        prompt: Prompt,
        items: Mapping[str, list[ProcessedItem]],
        form: Form,
        options: Mapping[str, Any],
        max_tokens: int | None,
    ) -> tuple[npt.NDArray[np.int64], dict[str, list[PlaceholderRange]]]:
        """Give the expanded prompt, and where in it each item stands.

        Args:
            prompt: a text or token ids.
            items: modality -> items in the order of their placeholders.
            form: of the prompt. By default ids are looked at, and texts are plain.
            options: of the processor; those of the text are for the tokenizer.
            max_tokens: of the expanded prompt.

        Returns:
            Ids int64 [n]; modality -> ranges, in item order.

        Raises:
            ValueError: items and placeholders do not match, or a prompt that is expanded in part or in a way that may
                mean both.
            LimitError: too many tokens.
        """
        if isinstance(prompt, str) and form != "expanded":
            return self._expand_text(prompt, items, options, max_tokens)
        return self._place_in_ids(prompt, items, form, options, max_tokens)

    def _expand_text(
        self,
        text: str,
        items: Mapping[str, list[ProcessedItem]],
        options: Mapping[str, Any],
        max_tokens: int | None,
    ) -> tuple[npt.NDArray[np.int64], dict[str, list[PlaceholderRange]]]:
        """Expand the text, encode it as a whole and see which tokens the items became."""
        updates = self._updates(items, as_text=True)
        expanded = expand_prompt(self._media.layout(text), updates, surplus=self._surplus)
        encoded = self._media.tokenizer(expanded.text, return_offsets_mapping=True, **_text_options(options))
        ids = _mmcpp.token_ids(encoded["input_ids"])
        _check_length(ids, max_tokens)
        offsets = np.asarray(encoded["offset_mapping"], np.int64).reshape(-1, 2)
        placeholders = {
            modality: [
                self._tokens_of(modality, ids, offsets, where) for where in expanded.placeholders.get(modality, [])
            ]
            for modality in items
        }
        for modality, ranges in placeholders.items():
            for i, (where, item) in enumerate(zip(ranges, items[modality], strict=True)):
                whole_length = len(item.ids) if item.is_embed is None else int(item.is_embed.sum())
                if where.num_embeds != whole_length:
                    raise ValueError(
                        f"processing: {where.num_embeds} of {whole_length} tokens of {modality} item {i} are left of it"
                        " after encoding; the tokenizer cuts prompts off"
                    )
        return ids, placeholders

    def _tokens_of(
        self, modality: str, ids: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64], where: PlaceholderRange
    ) -> PlaceholderRange:
        """Give the tokens that lie within characters of the text; those that also cover others do not."""
        begins, ends = offsets[:, 0], offsets[:, 1]
        inside = np.flatnonzero((begins >= where.offset) & (ends <= where.end) & (ends > begins))
        if len(inside) == 0:
            raise ValueError(f"processing: no token lies within characters {where.offset} to {where.end}")
        first, last = int(inside[0]), int(inside[-1])
        is_embed = ids[first : last + 1] == self._media.rules.embed_token(self._media.processor, modality)
        return PlaceholderRange(first, last - first + 1, None if is_embed.all() else is_embed)

    def _place_in_ids(
        self,
        prompt: Prompt,
        items: Mapping[str, list[ProcessedItem]],
        form: Form,
        options: Mapping[str, Any],
        max_tokens: int | None,
    ) -> tuple[npt.NDArray[np.int64], dict[str, list[PlaceholderRange]]]:
        if isinstance(prompt, str):
            prompt = self._media.tokenizer(self._media.layout(prompt), **_text_options(options))["input_ids"]
        ids = _mmcpp.token_ids(prompt)
        updates = self._updates(items, as_text=False)
        if form == "plain" or (form == "detect" and not self._is_expanded(ids, updates)):
            expanded = expand_prompt(ids, updates, surplus=self._surplus, max_tokens=max_tokens)
            return _mmcpp.token_ids(expanded.ids), {
                modality: expanded.placeholders.get(modality, []) for modality in items
            }
        _check_length(ids, max_tokens)
        found = find_placeholders(ids, updates)
        for modality, own in items.items():
            if len(found.get(modality, [])) != len(own):
                raise ValueError(
                    f"prompt: {len(own)} {modality} item(s), {len(found.get(modality, []))} of which stand in a prompt"
                    " that should be expanded"
                )
        return ids, {modality: found.get(modality, []) for modality in items}

    def _is_expanded(self, ids: npt.NDArray[np.int64], updates: BoundUpdates) -> bool:
        detection = detect_updates(ids, updates)
        if detection.state == "partial" and not self._is_plain(ids, updates):
            absent = ", ".join(f"{missing.modality} item {missing.item}" for missing in detection.missing)
            raise ValueError(f"prompt: expanded in part, without {absent}")
        ambiguous = detection.ambiguous and not self._has_embeddings(ids, updates) and self._differs(ids, updates)
        if detection.state == "applied" and ambiguous:
            raise ValueError(f"prompt: plain or expanded, say which: {detection.reason}")
        return detection.state == "applied"

    def _is_plain(self, ids: npt.NDArray[np.int64], updates: BoundUpdates) -> bool:
        """Tell whether there is just one placeholder per item: several beside each other may look like an item."""
        if self._has_embeddings(ids, updates):
            return False
        try:
            expand_prompt(ids, updates, surplus="refuse")
        except ValueError:
            return False
        return True

    def _has_embeddings(self, ids: npt.NDArray[np.int64], updates: BoundUpdates) -> bool:
        """Tell whether there are tokens that receive embeddings and are no placeholders: nobody types those."""
        for modality in [modality for modality, count in updates.counts.items() if count > 0]:
            token = self._media.rules.embed_token(self._media.processor, modality)
            if token in ids and token not in self._media.tokenizer.encode(
                self._media.placeholder(modality), add_special_tokens=False
            ):
                return True
        return False

    def _differs(self, ids: npt.NDArray[np.int64], updates: BoundUpdates) -> bool:
        """Tell whether an ambiguous prompt becomes another one when it is expanded."""
        expanded = expand_prompt(ids, updates, surplus="allow")
        return expanded.ids is None or not np.array_equal(expanded.ids, ids)

    def _updates(self, items: Mapping[str, list[ProcessedItem]], *, as_text: bool) -> BoundUpdates:
        """State what stands for each item: as text, or as ids that fall back on text."""
        bound: dict[str, list[list[BoundUpdate]]] = {}
        targets: dict[str, list[str]] = {}
        for modality in self._media.modalities:
            placeholder = self._media.placeholder(modality)
            targets[modality] = [placeholder]
            bound[modality] = [
                [BoundUpdate("replace", placeholder, _content_of(item, as_text=as_text))]
                for item in items.get(modality, [])
            ]
        return BoundUpdates(bound, targets, None if as_text else self._media.tokenizer)


def _content_of(item: ProcessedItem, *, as_text: bool) -> Content:
    if as_text:
        return Content(item.text)
    mask = item.is_embed
    return Content(item.ids, None if mask is None else lambda ids, _: mask)


def _text_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return dict(options.get("text_kwargs") or {})


def _check_length(ids: npt.NDArray[np.int64], max_tokens: int | None) -> None:
    if max_tokens is not None and len(ids) > max_tokens:
        raise LimitError(f"prompt: expands to {len(ids)} tokens, the limit is {max_tokens}")
