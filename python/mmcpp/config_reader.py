"""The values of a checkpoint's JSON files, read with checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, overload

from mmcpp.errors import UnsupportedError

__all__ = ["ConfigReader"]


class ConfigReader:
    """A JSON object of a checkpoint, read with checks; null counts as absent, as in transformers.

    Readers give the value of ``key``, or ``default`` where it is absent. They raise ValueError for a value of
    another type, and UnsupportedError for one that is valid but not done: ``require`` for every value but
    ``only``, whose ``meaning`` the message gives.
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        """Read ``values``, which messages call ``where``."""
        self._values = values
        self.where = where

    def get(self, key: str, default: Any = None) -> Any:
        """Give the value, or ``default`` if it is absent or null."""
        value = self._values.get(key)
        return default if value is None else value

    @overload
    def integer(self, key: str, default: int) -> int: ...
    @overload
    def integer(self, key: str, default: None) -> int | None: ...
    def integer(self, key: str, default: int | None) -> int | None:
        """Give an integer."""
        value = self.get(key, default)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self._wrong(key, "an integer")
        return value

    def number(self, key: str, default: float | None) -> float | None:
        """Give a number."""
        value = self.get(key, default)
        if value is not None and not _is_number(value):
            raise self._wrong(key, "a number")
        result: float | None = value
        return result

    def text(self, key: str) -> str | None:
        """Give a string."""
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise self._wrong(key, "a string")
        return value

    def channels(self, key: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
        """Give three numbers; one number stands for all three channels, as in transformers."""
        value = self.get(key, default)
        if _is_number(value):
            return (value, value, value)
        if not isinstance(value, (list, tuple)) or len(value) != 3 or not all(map(_is_number, value)):
            raise self._wrong(key, "three numbers")
        return (value[0], value[1], value[2])

    def sides(self, key: str, default: int) -> tuple[int, int]:
        """Give height and width; one number stands for both, as in transformers."""
        value = self.get(key, default)
        if isinstance(value, Mapping):
            reader = self.mapping(key, {})
            height, width = reader.integer("height", None), reader.integer("width", None)
        else:
            height = width = self.integer(key, default)
        if height is None or width is None:
            raise self.unsupported(key, "height and width")
        return height, width

    def edge(self, key: str, name: str, default: int) -> int:
        """Give the member ``name`` of the size ``key``, of which others must not be there; a number is it itself."""
        value = self.get(key, default)
        if not isinstance(value, Mapping):
            return self.integer(key, default)
        edge = self.mapping(key, {}).integer(name, None)
        square = name == "height" and value.get("width") == edge
        others = [k for k, v in value.items() if k != name and v is not None and not (k == "width" and square)]
        if edge is None or others:
            raise self.unsupported(key, f"{name} alone")
        return edge

    def mapping(self, key: str, default: Mapping[str, Any]) -> ConfigReader:
        """Give a reader of an object within this one."""
        value = self.get(key, default)
        if not isinstance(value, Mapping):
            raise self._wrong(key, "an object")
        return ConfigReader(value, f"{self.where}: {key}")

    def names(self) -> list[str]:
        """Give the names of all values."""
        return list(self._values)

    def objects(self, key: str) -> list[ConfigReader]:
        """Give readers of a list of objects; none if it is absent."""
        values = self.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
            raise self._wrong(key, "objects")
        return [ConfigReader(value, f"{self.where}: {key}") for value in values]

    def choice(self, key: str, default: int, names: Mapping[int, str]) -> str:
        """Give what ``names`` says to an integer; only those in it are supported."""
        number = self.integer(key, default)
        if number not in names:
            raise self.unsupported(key, ", ".join(f"{n} ({name})" for n, name in names.items()))
        return names[number]

    def require(self, key: str, only: object, meaning: str) -> None:
        """Refuse any value but the one that is supported."""
        if self.get(key, only) != only:
            raise self.unsupported(key, f"{json.dumps(only)} ({meaning})")

    def require_plain_pipeline(self, handled: tuple[str, ...] = ()) -> None:
        """Refuse flags that turn off a step which every family does, or turn on one that this one does not.

        Args:
            handled: flags that the family looks at itself.
        """
        steps = ("do_resize", "do_rescale", "do_normalize", "do_convert_rgb")
        for key in steps:
            if key not in handled:
                self.require(key, True, "the step cannot be left out")
        self.require("rescale_factor", 1 / 255, "1/255")
        self.require("data_format", "channels_first", "the order of channels")
        for key in self._values:
            if key.startswith("do_") and key not in steps + handled and self.get(key, False) is not False:
                raise self.unsupported(key, "false")

    def unsupported(self, key: str, supported: str) -> UnsupportedError:
        """Make the error for a value that is valid but not supported."""
        value = json.dumps(self.get(key))
        return UnsupportedError(f"{self.where}: {key} {value} is not supported; supported: {supported}")

    def _wrong(self, key: str, expected: str) -> ValueError:
        return ValueError(f"{self.where}: {key}: expected {expected}, got {json.dumps(self.get(key))}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
