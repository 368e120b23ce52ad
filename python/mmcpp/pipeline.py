"""The image half of a model family, and whole requests."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.image import ImageInfo, Profile, side
from mmcpp.inputs import ImageInput, text, to_media_list
from mmcpp.limits import DecodeLimits, RequestLimits, values
from mmcpp.spec import Backend, load_spec, to_json

__all__ = [
    "DType",
    "ImageProcessor",
    "Item",
    "ItemBatch",
    "ItemPlan",
    "ItemTimes",
    "Pipeline",
    "PlannedRequest",
    "Response",
    "ResponseTimes",
]

DType = Literal["float32", "bfloat16", "float16", "uint8"]
"""Of features. numpy has no bfloat16: such arrays are ``uint16`` and hold the bits."""

# The image half has no request to protect: a training loop's batch is as large as it likes.
_NO_LIMITS = (2**63 - 1, 2**63 - 1, 2**63 - 1)


@dataclass(frozen=True)
class ItemPlan:
    """What a picture of some size becomes, known without pixels."""

    feature_shape: tuple[int, ...]
    grid: tuple[int, int, int]
    """``(t, h, w)`` in patches, before any merge; of families that cut tiles ``(tiles, rows,
    columns)``, where tiles counts the thumbnail too."""
    tokens: int
    """Prompt tokens that take the placeholder's place."""
    resized_height: int
    """Pixels of the picture that the model sees."""
    resized_width: int


@dataclass(frozen=True)
class ItemTimes:
    """Where a picture's time went, in milliseconds."""

    hash_ms: float
    decode_ms: float
    process_ms: float


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class Item:
    """One picture of a result."""

    plan: ItemPlan
    feature: npt.NDArray[Any] | None
    """Of shape ``plan.feature_shape``; None in an ItemBatch, whose features are packed."""
    aux: dict[str, npt.NDArray[Any]]
    """Small tensors beside it, such as ``image_grid_thw`` ``int64 [3]``."""
    content_hash: int
    """``mmcpp.content_hash`` of the encoded bytes; for given pixels, of their size and values."""
    info: ImageInfo | None
    """What the file's header says; None for given pixels."""
    times: ItemTimes


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class ItemBatch:
    """The pictures of an ``ImageProcessor`` call."""

    features: npt.NDArray[Any]
    """All features along axis 0."""
    items: list[Item]


@dataclass(frozen=True)
class ResponseTimes:
    """Where a request's time went besides its pictures, in milliseconds."""

    layout_ms: float
    positions_ms: float


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class Response:
    """What a request becomes."""

    input_ids: npt.NDArray[np.int64]
    """Expanded, ``int64 [length]``."""
    items: list[Item]
    """In the order of the request's pictures."""
    offsets: list[tuple[int, int]]
    """``offsets[i]``: first and last token of item i, both inside."""
    positions: npt.NDArray[np.int64] | None
    """M-RoPE position ids, ``int64 [3, length]``, XD-RoPE's, ``[axes, length]``; None where positions are plain."""
    position_delta: int | None
    """Largest position + 1 - length; None where positions are plain."""
    times: ResponseTimes


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class PlannedRequest:
    """What a request becomes, without its pixels; the members are those of a ``Response``."""

    input_ids: npt.NDArray[np.int64]
    items: list[ItemPlan]
    offsets: list[tuple[int, int]]
    positions: npt.NDArray[np.int64] | None
    position_delta: int | None


_Self = TypeVar("_Self", bound="_Configured")


class _Configured:
    """A family and the rules of decoding: what an ImageProcessor and a Pipeline have in common.

    Immutable; every method may be called from any thread. Copies and pickles.
    """

    _for_prompts = False

    def __init__(self, spec: Mapping[str, Any] | str, profile: Profile, limits: DecodeLimits | None) -> None:
        self._json = to_json(spec)
        self._family = _mmcpp.Family(self._json)
        self._profile = text("profile", profile)
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

        Raises:
            ValueError: a key that is missing, misspelt or out of range.
            TypeError: the spec is neither a mapping nor a text.
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

        Raises:
            FileNotFoundError: no such folder, or not one of a vision checkpoint.
            UnsupportedError: a model, or a flag, that mmcpp does not do.
            ValueError: no JSON, or a value that is out of range.
        """
        return cls(load_spec(folder, backend=backend, for_prompts=cls._for_prompts), profile, limits)

    @property
    def spec(self) -> dict[str, Any]:
        """The spec, as a new dict."""
        spec: dict[str, Any] = json.loads(self._json)
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
    def spec_json(self) -> str:
        """The spec as JSON text, as a native server takes it."""
        return self._json

    def plan(self, height: int, width: int) -> ItemPlan:
        """Give what a picture of this size becomes, without its pixels.

        Args:
            height: of the picture, in pixels.
            width: of the picture, in pixels.

        Raises:
            ValueError: a size that the family refuses.
            TypeError: a size that is no integer.
        """
        return _plan(self._family.plan(side("height", height), side("width", width)))

    def count_tokens(self, height: int, width: int) -> int:
        """Give the prompt tokens that stand for a picture of this size.

        Args:
            height: of the picture, in pixels.
            width: of the picture, in pixels.

        Raises:
            ValueError: a size that the family refuses.
            TypeError: a size that is no integer.
        """
        return self.plan(height, width).tokens

    def __repr__(self) -> str:
        """Show the spec."""
        return f"{type(self).__name__}.from_spec({self._json})"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the native family out: the spec makes it again."""
        return {key: value for key, value in self.__dict__.items() if key != "_family"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the native family again."""
        self.__dict__.update(state)
        self._family = _mmcpp.Family(self._json)


class ImageProcessor(_Configured):
    """The image half of a model family: pictures in, the model's named tensors out.

    >>> from mmcpp.spec import preset_spec
    >>> processor = ImageProcessor.from_spec(preset_spec("qwen2_vl"))
    >>> inputs = processor(np.zeros((100, 76, 3), np.uint8))
    >>> {name: value.shape for name, value in inputs.items()}
    {'pixel_values': (48, 1176), 'image_grid_thw': (1, 3)}
    >>> processor.count_tokens(100, 76)
    12
    """

    def __call__(
        self,
        images: ImageInput | Sequence[ImageInput],
        *,
        dtype: DType = "float32",
        return_tensors: Literal["np", "pt"] = "np",
        out: npt.NDArray[Any] | None = None,
    ) -> dict[str, Any]:
        """Give the tensors that the checkpoint's Hugging Face image processor gives.

        Args:
            images: one picture, or a list or tuple of them: encoded bytes, a ``pathlib.Path``, a
                PIL image (transparency is composited on white) or a ``uint8`` array ``[height,
                width, 3]``.
            dtype: of the feature. ``"uint8"`` gives the pixels as resized and leaves normalisation
                to the device.
            return_tensors: ``"np"`` for numpy, ``"pt"`` for torch; neither copies. As numpy has no
                bfloat16, ``dtype="bfloat16"`` gives ``uint16`` arrays of the bits there, and
                ``torch.bfloat16`` tensors with ``"pt"``.
            out: where to write the feature, in pinned or shared memory, say: an array of its shape
                (``plan`` gives it, the shapes of several pictures added up along axis 0) and type
                (``uint16`` for ``"bfloat16"``), C-contiguous. The feature of the result is this
                memory. After an error its contents are unspecified.

        Returns:
            ``pixel_values`` of ``dtype`` and, of n pictures, what the family says beside it:

            - ``qwen_vl``: ``[patches of all pictures, 3 * temporal_patch_size * patch_size**2]``;
              ``image_grid_thw`` ``int64 [n, 3]``.
            - ``fixed_size``: ``[n, 3, height, width]``.
            - ``internvl``: ``[tiles of all pictures, 3, tile_height, tile_width]``; ``num_patches``
              ``int64 [n]``.
            - ``pixtral``: ``[n, 3, height, width]`` of the largest, zeros below and to the right;
              ``image_sizes`` ``int64 [n, 2]``, height first.
            - ``llava_next``: ``[n, tiles of the most, 3, tile_size, tile_size]``, zero tiles behind;
              ``image_sizes`` ``int64 [n, 2]`` of the given pictures, height first.

            Equal byte for byte to transformers 5.24, in the arithmetic of the spec's ``resample``.

        Raises:
            DecodeError, UnsupportedError, LimitError: a picture cannot be used; ``item`` says
                which, the lowest index if there are several.
            ValueError: no pictures, an array of another shape or not in C order, a size that the
                family refuses, an unknown dtype, an ``out`` of another shape, read-only or not in C
                order.
            TypeError: something that is no picture, or an ``out`` that is no array of that type.
            OSError: a file cannot be read.
        """
        if return_tensors not in ("np", "pt"):
            raise ValueError(f'return_tensors: expected "np" or "pt", got {return_tensors!r}')
        batch = self.process_items(images, dtype=dtype, out=out)
        tensors = {self._family.feature_name: batch.features}
        for name in batch.items[0].aux:
            tensors[name] = np.stack([item.aux[name] for item in batch.items])
        return tensors if return_tensors == "np" else _to_torch(tensors, dtype)

    def process_items(
        self,
        images: ImageInput | Sequence[ImageInput],
        *,
        dtype: DType = "float32",
        out: npt.NDArray[Any] | None = None,
    ) -> ItemBatch:
        """Give the features with what is known of each picture: plan, hash, header, times.

        Args:
            images: as for a call.
            dtype: as for a call.
            out: as for a call.

        Raises:
            The errors of a call.
        """
        features, items = _mmcpp.process_items(
            self._family,
            to_media_list(images),
            text("dtype", dtype),
            self._profile,
            self._decode_limits,
            _NO_LIMITS,
            out,
        )
        return ItemBatch(features, [_item(fields) for fields in items])


class Pipeline(_Configured):
    """A whole request: prompt and pictures in; tensors, expanded prompt and positions out."""

    _for_prompts = True

    def process(
        self,
        *,
        input_ids: Sequence[int] | npt.NDArray[Any],
        images: Sequence[ImageInput],
        dtype: DType = "float32",
        limits: RequestLimits | None = None,
    ) -> Response:
        """Run a request. All or nothing: the first error, in the order of items, is the answer.

        Args:
            input_ids: the prompt, with one placeholder (the spec's ``image_token_id``) a picture.
            images: the pictures in prompt order, in any form that an ``ImageProcessor`` takes.
            dtype: of the features.
            limits: of the request; ``RequestLimits()`` by default.

        Returns:
            Expanded ids, items, inclusive offsets, positions and times.

        Raises:
            DecodeError, UnsupportedError: a picture cannot be used; ``item`` says which.
            LimitError: a picture or the request is over a limit.
            ValueError: no ids or pictures, placeholders that do not match the pictures, or what
                an ``ImageProcessor`` refuses.
            TypeError: ids that are no integers, or something that is no picture.
            OSError: a file cannot be read.

        >>> from mmcpp.spec import preset_spec
        >>> pipeline = Pipeline.from_spec(preset_spec("qwen2_vl"))
        >>> picture = np.zeros((56, 56, 3), np.uint8)
        >>> response = pipeline.process(input_ids=[1, 151655, 2], images=[picture])
        >>> response.input_ids.tolist(), response.offsets
        ([1, 151655, 151655, 151655, 151655, 2], [(1, 4)])
        """
        fields = _mmcpp.process(
            self._family,
            _token_ids(input_ids),
            to_media_list(images),
            text("dtype", dtype),
            self._profile,
            self._decode_limits,
            values(limits, RequestLimits),
        )
        positions, delta = fields["positions"] or (None, None)
        return Response(
            input_ids=fields["input_ids"],
            items=[_item(item) for item in fields["items"]],
            offsets=fields["offsets"],
            positions=positions,
            position_delta=delta,
            times=ResponseTimes(fields["layout_ms"], fields["positions_ms"]),
        )

    def plan_request(
        self,
        *,
        input_ids: Sequence[int] | npt.NDArray[Any],
        sizes: Sequence[tuple[int, int]],
        limits: RequestLimits | None = None,
    ) -> PlannedRequest:
        """Give what ``process`` would give for pictures of these sizes, but for their tensors: for routers and
        schedulers, by arithmetic alone.

        Args:
            input_ids: as for ``process``.
            sizes: ``(height, width)`` of each picture in pixels, turned where the profile turns.
            limits: as for ``process``; bytes are not counted.

        Returns:
            Expanded ids, plans of the items, inclusive offsets and positions.

        Raises:
            LimitError: the request is over a limit.
            ValueError: no ids or sizes, placeholders that do not match them, or a size that the family refuses.
            TypeError: ids or sizes that are no integers.

        >>> from mmcpp.spec import preset_spec
        >>> pipeline = Pipeline.from_spec(preset_spec("qwen2_vl"))
        >>> planned = pipeline.plan_request(input_ids=[1, 151655, 2], sizes=[(56, 56)])
        >>> len(planned.input_ids), planned.offsets, planned.items[0].feature_shape
        (6, [(1, 4)], (16, 1176))
        """
        max_items, _, max_tokens = values(limits, RequestLimits) or _mmcpp.default_request_limits()
        fields = _mmcpp.plan_request(
            self._family,
            _token_ids(input_ids),
            [(side("height", height), side("width", width)) for height, width in sizes],
            max_items,
            max_tokens,
        )
        positions, delta = fields["positions"] or (None, None)
        items = [_plan(plan) for plan in fields["items"]]
        return PlannedRequest(fields["input_ids"], items, fields["offsets"], positions, delta)


def _plan(fields: dict[str, Any]) -> ItemPlan:
    return ItemPlan(**fields)


def _item(fields: dict[str, Any]) -> Item:
    info = fields["info"]
    return Item(
        plan=_plan(fields["plan"]),
        feature=fields["feature"],
        aux=fields["aux"],
        content_hash=fields["content_hash"],
        info=None if info is None else ImageInfo(**info),
        times=ItemTimes(*fields["times"]),
    )


def _token_ids(input_ids: object) -> npt.NDArray[np.int64]:
    try:
        array = np.asarray(input_ids)
    except ValueError as error:  # of lists of unequal lengths
        raise TypeError(f"input_ids: expected integers in one dimension: {error}") from None
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"input_ids: expected int64 integers in one dimension, got {array.dtype} of shape {array.shape}"
        )
    if array.dtype.kind == "u" and array.size > 0 and int(array.max()) > 2**63 - 1:
        raise ValueError(f"input_ids: {array.max()} does not fit in int64")
    return np.ascontiguousarray(array, dtype=np.int64)


def _to_torch(tensors: dict[str, npt.NDArray[Any]], dtype: DType) -> dict[str, Any]:
    import torch

    result = {name: torch.from_numpy(array) for name, array in tensors.items()}
    if dtype == "bfloat16":
        # numpy's stand-in is uint16; no tensor beside the features has that type.
        result = {n: t.view(torch.bfloat16) if t.dtype == torch.uint16 else t for n, t in result.items()}
    return result
