"""Where an item stands in an expanded prompt, and arithmetic on such ranges."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["PlaceholderRange", "overlapping", "sort_by_offset", "truncate_prompt"]


@dataclass(frozen=True, eq=False, slots=True)
class PlaceholderRange:
    """Tokens ``[offset, offset + length)`` of a prompt that stand for one item."""

    offset: int
    length: int
    is_embed: npt.NDArray[np.bool_] | None = None
    """bool [length]: which of the tokens receive embeddings; None means all."""

    def __eq__(self, other: object) -> bool:
        """Compare by value, masks included; no mask differs from a mask of all."""
        if not isinstance(other, PlaceholderRange):
            return NotImplemented
        if (self.offset, self.length) != (other.offset, other.length):
            return False
        if self.is_embed is None or other.is_embed is None:
            return self.is_embed is other.is_embed
        return bool(np.array_equal(self.is_embed, other.is_embed))

    __hash__ = None  # type: ignore[assignment]

    @property
    def end(self) -> int:
        """The position behind the last token."""
        return self.offset + self.length

    @property
    def num_embeds(self) -> int:
        """How many tokens receive embeddings."""
        return self.length if self.is_embed is None else int(np.count_nonzero(self.is_embed))

    @property
    def embeds_cumsum(self) -> npt.NDArray[np.int64] | None:
        """int64 [length]: embeddings up to and including each token; None without a mask."""
        return None if self.is_embed is None else np.cumsum(self.is_embed, dtype=np.int64)

    def embed_rows(self, start: int, end: int) -> tuple[int, int]:
        """Give the rows of the item's embeddings that its tokens ``[start, end)`` receive.

        Args:
            start: counted from the range's first token.
            end: behind the last one; 0 <= start <= end <= length.

        Returns:
            First row and the row behind the last, as vLLM 0.33's
            ``PlaceholderRange.get_embeds_indices_in_range``.

        Raises:
            ValueError: the tokens are not within the range.
        """
        if not 0 <= start <= end <= self.length:
            raise ValueError(f"placeholder: tokens {start}..{end} are outside its {self.length}")
        cumulative = self.embeds_cumsum
        if cumulative is None:
            return start, end
        first = int(cumulative[start - 1]) if start > 0 else 0
        last = int(cumulative[end - 1]) if end > 0 else 0
        return first, last

    def embed_runs(self) -> list[tuple[int, int]]:
        """Give the runs of embedded tokens as positions in the prompt, both ends inside."""
        if self.is_embed is None:
            return [(self.offset, self.end - 1)] if self.length > 0 else []
        padded = np.concatenate(([False], self.is_embed, [False]))
        edges = np.flatnonzero(padded[1:] != padded[:-1]) + self.offset
        return [(int(first), int(behind) - 1) for first, behind in zip(edges[::2], edges[1::2], strict=True)]


def sort_by_offset(
    placeholders: Mapping[str, Sequence[PlaceholderRange]],
) -> list[tuple[str, int]]:
    """Order all items of ``placeholders`` (modality -> ranges) by where they begin: (modality, item) pairs.

    Items that begin at one place keep the order of modalities, then items.
    """
    names = [(modality, item) for modality, ranges in placeholders.items() for item in range(len(ranges))]
    return sorted(names, key=lambda name: placeholders[name[0]][name[1]].offset)


def overlapping(ranges: Sequence[PlaceholderRange], start: int, end: int) -> range:
    """Find which of ``ranges`` share a token with ``[start, end)``, by binary search.

    Args:
        ranges: in prompt order, none overlapping another.
        start: position in the prompt.
        end: position behind the last token asked for.

    Returns:
        Indices into ``ranges``.
    """
    if start >= end:
        return range(0)
    first = bisect.bisect_right(ranges, start, key=lambda placeholder: placeholder.end)
    behind = bisect.bisect_left(ranges, end, key=lambda placeholder: placeholder.offset)
    return range(first, max(first, behind))


def truncate_prompt(
    ids: npt.NDArray[np.int64],
    placeholders: Mapping[str, Sequence[PlaceholderRange]],
    limit: int | None,
    *,
    side: Literal["left", "right"] = "right",
) -> tuple[npt.NDArray[np.int64], dict[str, list[PlaceholderRange]]]:
    """Cut an expanded prompt to ``limit`` tokens without touching an item.

    Args:
        ids: int64 [n].
        placeholders: where the items stand.
        limit: tokens to keep at most; None keeps all.
        side: where tokens are dropped.

    Returns:
        The tokens kept and the ranges in them.

    Raises:
        ValueError: an item would be cut or dropped, or the limit is negative.
    """
    kept = {modality: list(ranges) for modality, ranges in placeholders.items()}
    if limit is None or len(ids) <= limit:
        return ids, kept
    if limit < 0:
        raise ValueError(f"prompt: a limit of {limit} tokens")
    begin = 0 if side == "right" else len(ids) - limit
    for modality, ranges in placeholders.items():
        for item, placeholder in enumerate(ranges):
            if placeholder.offset < begin or placeholder.end > begin + limit:
                raise ValueError(
                    f"prompt: {modality} item {item} stands at tokens {placeholder.offset} to {placeholder.end - 1},"
                    f" of which a prompt cut to {begin}..{begin + limit} would lose some"
                )
        kept[modality] = [PlaceholderRange(r.offset - begin, r.length, r.is_embed) for r in ranges]
    return ids[begin : begin + limit], kept
