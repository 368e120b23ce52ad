"""What a processor of pictures and a pipeline of requests are made of: a spec, a checkpoint's folder or a family."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TypeVar

from mmcpp import _mmcpp
from mmcpp.errors import UnsupportedError
from mmcpp.family import Family, native
from mmcpp.image import Profile, side
from mmcpp.inputs import text as checked_text
from mmcpp.limits import DecodeLimits, values
from mmcpp.results import ItemPlan, to_plan
from mmcpp.spec import Backend, load_spec, to_json

__all__ = ["Configured"]

_Self = TypeVar("_Self", bound="Configured")


class Configured:
    """A family and the rules of decoding: what an ImageProcessor and a Pipeline have in common.

    Immutable; every method may be called from any thread. Copies and pickles.
    """

    _for_prompts = False

    def __init__(self, spec: Mapping[str, Any] | str | Family, profile: Profile, limits: DecodeLimits | None) -> None:
        """Configure: ``from_spec``, ``from_pretrained`` and ``from_family`` are the ways to call this.

        Args:
            spec: a mapping, its JSON text, or a family that is written in Python.
            profile: whose rules decode encoded bytes.
            limits: what one encoded picture may cost.
        """
        self._custom = spec if isinstance(spec, Family) else None
        self._json = "" if isinstance(spec, Family) else to_json(spec)
        self._family = self._native()
        self._profile = checked_text("profile", profile)
        self._decode_limits = values(limits, DecodeLimits)

    @classmethod
    def from_spec(
        cls: type[_Self],
        spec: Mapping[str, Any] | str,
        *,
        profile: Profile = "hf",
        limits: DecodeLimits | None = None,
    ) -> _Self:
        """Configure from a spec.

        Args:
            spec: a mapping or its JSON text, with the key ``family`` and that family's own keys;
                ``mmcpp.spec.preset_spec`` has well-known ones.
            profile: whose rules decode encoded bytes (see ``decode_image``). ``"hf"`` gives what
                transformers gives for ``Image.open``.
            limits: what one encoded picture may cost; ``DecodeLimits()`` by default.

        Returns:
            An instance that follows the spec, which is read once.

        Raises:
            ValueError: a key that is missing, misspelt or out of range.
            TypeError: the spec is neither a mapping nor a text, or ``limits`` no DecodeLimits.
        """
        return cls(spec, profile, limits)

    @classmethod
    def from_pretrained(
        cls: type[_Self],
        folder: str | os.PathLike[str],
        *,
        backend: Backend | None = None,
        profile: Profile = "hf",
        limits: DecodeLimits | None = None,
    ) -> _Self:
        """Configure from the JSON files of a checkpoint's folder.

        Args:
            folder: of the checkpoint.
            backend: whose arithmetic to follow, ``"torchvision"`` or ``"pil"``; by default the one
                whose class the files name (see ``mmcpp.spec.load_spec``).
            profile: as for ``from_spec``.
            limits: as for ``from_spec``.

        Returns:
            An instance that gives what transformers 5.24's processor of this folder gives.

        Raises:
            FileNotFoundError: no such folder, or not one of a vision checkpoint.
            UnsupportedError: a model, or a flag, that mmcpp does not do.
            ValueError: no JSON, or a value that is out of range.
        """
        return cls(load_spec(folder, backend=backend, for_prompts=cls._for_prompts), profile, limits)

    @classmethod
    def from_family(
        cls: type[_Self], family: Family, *, profile: Profile = "hf", limits: DecodeLimits | None = None
    ) -> _Self:
        """Configure with a family that is written in Python.

        Args:
            family: an instance of a subclass of ``mmcpp.family.Family``. Its ``name``, ``feature_name``,
                ``pads_features`` and ``keeps_alpha`` are read once, here.
            profile: as for ``from_spec``.
            limits: as for ``from_spec``.

        Raises:
            TypeError: no such instance.
        """
        if not isinstance(family, Family):
            raise TypeError(f"family: expected a mmcpp.family.Family, got {type(family).__name__}")
        return cls(family, profile, limits)

    def _native(self) -> _mmcpp.Family:
        return _mmcpp.Family(self._json) if self._custom is None else native(self._custom)

    @property
    def spec(self) -> dict[str, Any]:
        """The spec, as a new dict; UnsupportedError for a family that is written in Python."""
        spec: dict[str, Any] = json.loads(self.spec_json)
        return spec

    @property
    def family(self) -> str:
        """The family's name, such as ``"qwen_vl"``."""
        return self._family.name

    @property
    def feature_name(self) -> str:
        """The feature's name in the model's inputs, such as ``"pixel_values"``."""
        return self._family.feature_name

    @property
    def pack_axis(self) -> int:
        """The side along which the features of several pictures are joined, mostly 0."""
        return self._family.pack_axis

    @property
    def joined_aux(self) -> list[str]:
        """The tensors in ``Item.aux`` that a batch joins along their first side; all others are stacked."""
        return self._family.joined_aux

    @property
    def ones_aux(self) -> list[str]:
        """The tensors in ``Item.aux`` that a batch fills up with ones where they differ in size; others with zeros."""
        return self._family.ones_aux

    @property
    def spec_json(self) -> str:
        """The spec as JSON text, as a native server takes it; UnsupportedError as for ``spec``."""
        if self._custom is not None:
            raise UnsupportedError(f"spec: {self.family} is written in Python and has none")
        return self._json

    def plan(self, height: int, width: int) -> ItemPlan:
        """Give what a picture of this size becomes, without its pixels.

        Args:
            height: of the picture, in pixels.
            width: of the picture, in pixels.

        Returns:
            Shape, grid and tokens, by the size rule of the family's class in transformers 5.24.

        Raises:
            ValueError: a size that the family refuses.
            TypeError: a size that is no integer.
        """
        return to_plan(self._family.plan(side("height", height), side("width", width)))

    def count_tokens(self, height: int, width: int) -> int:
        """Give the prompt tokens that stand for a picture of this size.

        Where a picture's number is among them, as of MiniCPM-V, it has one digit here: the plans of a request count
        those of its own numbers. Where line breaks are among them, as of Gemma 3, a prompt has fewer: they become one
        token with line breaks that stand beside the picture.

        Args:
            height: of the picture, in pixels.
            width: of the picture, in pixels.

        Returns:
            Their number, ``plan(height, width).tokens``.

        Raises:
            ValueError: a size that the family refuses.
            TypeError: a size that is no integer.
        """
        return self.plan(height, width).tokens

    def __repr__(self) -> str:
        """Show the spec."""
        if self._custom is not None:
            return f"{type(self).__name__}.from_family({self._custom!r})"
        return f"{type(self).__name__}.from_spec({self._json})"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the native family out: the spec makes it again."""
        return {key: value for key, value in self.__dict__.items() if key != "_family"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the native family again."""
        self.__dict__.update(state)
        self._family = self._native()
