"""Ids of the tokens around pictures, from the files of a checkpoint's tokenizer.

Read are ``tokenizer.json``, else ``added_tokens_decoder`` of ``tokenizer_config.json`` and ``added_tokens.json``, as
transformers 5.24 and older ones wrote them. No text is tokenized here: a mark must be one token by the files alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mmcpp.errors import UnsupportedError

if TYPE_CHECKING:
    from mmcpp.config_reader import ConfigReader

__all__ = ["Mark", "Marks", "TokenizerFiles"]


class Mark(NamedTuple):
    """A text that must be one token."""

    text: str
    setting: str = ""
    """Of ``processor_config.json`` or ``tokenizer_config.json``, where they may name another text."""
    suffix: str = ""
    """Behind either text."""


Marks = Mapping[str, Mark | Sequence[Mark]]
"""A spec's keys, and the marks whose ids they have."""

# What patterns of byte-level tokenizers end with, so that line breaks alone are one piece.
_LINES_TOGETHER = r"\s+(?!\S)"
_DIGITS_APART = re.compile(r"(^|[|(])\\p\{N\}([|)]|$)")


class TokenizerFiles:
    """The tokens of one tokenizer."""

    def __init__(self, read: Callable[[str], ConfigReader]) -> None:
        """Read the files.

        Args:
            read: gives the file of this name in a checkpoint's folder, empty if there is none.

        Raises:
            ValueError: no JSON, or a value of the wrong type.
        """
        self._tokenizer, self._config = read("tokenizer.json"), read("tokenizer_config.json")
        self._processor = read("processor_config.json")
        self._added = _added_tokens(read("added_tokens.json")) | _decoder(self._config) | _list(self._tokenizer)

    def ids(self, marks: Marks) -> dict[str, Any]:
        """Give the ids of ``marks``, key by key.

        Raises:
            UnsupportedError: one of them is not one token.
        """
        return {
            key: self._id(mark) if isinstance(mark, Mark) else [self._id(one) for one in mark]
            for key, mark in marks.items()
        }

    def places(self, most: int, text: str = "<row_{}_col_{}>") -> dict[str, Any]:
        """Give the ids of ``<row_1_col_1>`` and so on, as a spec has them: of the largest square that all are tokens
        of, up to ``most`` rows; beyond it a family refuses pictures. Nothing if ``most`` is 0.

        Args:
            most: rows, and columns.
            text: with the places of both numbers.

        Raises:
            UnsupportedError: not even the first is one token.
        """
        along = min(most, 1)
        while along < most and all(text.format(*place) in self._added for place in _rim(along + 1)):
            along += 1
        if along == 0:
            return {}
        texts = [text.format(row, column) for row in range(1, along + 1) for column in range(1, along + 1)]
        return {"row_column_token_ids": [self._id(Mark(text)) for text in texts], "mark_columns": along}

    def line_breaks(self) -> dict[str, Any]:
        """Give the ids of 1, 2, ... line breaks that are one token wherever they stand, as a spec has them.

        Raises:
            UnsupportedError: not both of the first two are.
        """
        count = 2
        while "\n" * (count + 1) in self._added:
            count += 1
        if not all("\n" * i in self._added for i in (1, 2)):
            raise UnsupportedError("tokenizer: line breaks are no tokens of their own; write a spec")
        return {"line_token_ids": [self._id(Mark("\n" * i)) for i in range(1, count + 1)]}

    def _id(self, mark: Mark) -> int:
        text = (self._setting(mark.setting) or mark.text) + mark.suffix
        if text in self._added:
            number, strips = self._added[text]
            if strips:
                raise UnsupportedError(f"tokenizer: {text!r} takes the spaces beside it; write a spec")
            return number
        plain = self._plain(text)
        if plain is None:
            raise UnsupportedError(f"tokenizer: {text!r} is not one token of the files in this folder; write a spec")
        return plain

    def _setting(self, name: str) -> str | None:
        """The text by this name: of the processor, of the tokenizer, or of its named further tokens."""
        if not name:
            return None
        places = [self._processor, self._config]
        for key in ("extra_special_tokens", "model_specific_special_tokens"):
            if isinstance(self._config.get(key), Mapping):
                places.append(self._config.mapping(key, {}))
        for place in places:
            value = place.get(name)
            text = value.get("content") if isinstance(value, Mapping) else value
            if isinstance(text, str):
                return text
        return None

    def _plain(self, text: str) -> int | None:
        """The token of line breaks, or of a digit between marks, if the tokenizer is one of bytes whose pieces are
        known to be these texts."""
        model = self._tokenizer.mapping("model", {})
        vocabulary = model.mapping("vocab", {})
        pieces = _pieces(self._tokenizer.get("pre_tokenizer"))
        normalizer = self._tokenizer.get("normalizer")
        if model.get("type") != "BPE" or not any(piece.get("type") == "ByteLevel" for piece in pieces):
            return None
        if normalizer is not None and _of(normalizer, "type") != "NFC":
            return None
        patterns = [_of(_of(piece, "pattern"), "Regex") for piece in pieces if piece.get("type") == "Split"]
        if text.isdecimal():
            apart = any(piece.get("type") == "Digits" and piece.get("individual_digits") is True for piece in pieces)
            apart = apart or any(isinstance(p, str) and _DIGITS_APART.search(p) for p in patterns)
            if not apart and any(vocabulary.get(f"{pair:02}") is not None for pair in range(100)):
                return None
        elif not all(isinstance(p, str) and _LINES_TOGETHER in p for p in patterns):
            return None
        return vocabulary.integer(text.replace("\n", "Ċ"), None)


def _rim(side: int) -> list[tuple[int, int]]:
    """What a square of places has more than the next smaller one."""
    return [(side, column) for column in range(1, side + 1)] + [(row, side) for row in range(1, side)]


def _of(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _pieces(pre_tokenizer: object) -> list[Mapping[str, Any]]:
    """The steps of a pre-tokenizer, also of sequences of them."""
    if not isinstance(pre_tokenizer, Mapping):
        return []
    steps = pre_tokenizer.get("pretokenizers")
    if pre_tokenizer.get("type") != "Sequence" or not isinstance(steps, list):
        return [pre_tokenizer]
    return [step for step in steps if isinstance(step, Mapping)]


def _entry(values: ConfigReader, number: int | None) -> dict[str, tuple[int, bool]]:
    text = values.text("content")
    if text is None or number is None:
        raise ValueError(f"{values.where}: expected tokens with an id and content")
    return {text: (number, values.get("lstrip") is True or values.get("rstrip") is True)}


def _list(tokenizer: ConfigReader) -> dict[str, tuple[int, bool]]:
    added = {}
    for token in tokenizer.objects("added_tokens"):
        added.update(_entry(token, token.integer("id", None)))
    return added


def _decoder(config: ConfigReader) -> dict[str, tuple[int, bool]]:
    tokens = config.mapping("added_tokens_decoder", {})
    added = {}
    for key in tokens.names():
        number = int(key) if key.isascii() and key.isdecimal() else None
        added.update(_entry(tokens.mapping(key, {}), number))
    return added


def _added_tokens(file: ConfigReader) -> dict[str, tuple[int, bool]]:
    return {text: (file.integer(text, -1), False) for text in file.names()}
