"""Pictures of many machines: a class for Ray Data's ``map_batches``, and the same for a ``torch`` Dataset.

    spec = mmcpp.spec.load_spec(folder)  # here: the workers need not have the folder
    rows = ray.data.read_binary_files(pictures).map_batches(
        MapBatches,
        fn_constructor_args=(spec,),
        compute=ray.data.ActorPoolStrategy(size=1),  # cores, less those that read
        batch_size=16,
        runtime_env={"env_vars": {"MMCPP_THREADS": "1"}},  # one worker, one core
    )

Both are plain callables of columns or of a row, and pickle: this module imports neither ray nor torch. A row's
result depends on the row alone, so a row that is done again, since its worker was killed, gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mmcpp.errors import UnsupportedError
from mmcpp.image import Profile
from mmcpp.inputs import ImageInput
from mmcpp.limits import DecodeLimits, RequestLimits
from mmcpp.pipeline import DType, ImageProcessor, Pipeline, to_torch
from mmcpp.results import aux_of, joined

__all__ = ["MapBatches", "Transform"]

Array = npt.NDArray[Any]


class _Rows:
    """What becomes of one row; the errors that lie in its data are told apart from all others."""

    def __init__(
        self,
        spec: Mapping[str, Any] | str,
        *,
        images: str = "bytes",
        paths: bool = False,
        input_ids: str | None = None,
        dtype: DType = "float32",
        errors: Literal["raise", "column"] = "raise",
        profile: Profile = "hf",
        limits: DecodeLimits | None = None,
        request_limits: RequestLimits | None = None,
    ) -> None:
        """Configure.

        Args:
            spec: the family, as ``ImageProcessor.from_spec`` takes it; ``mmcpp.spec.load_spec`` makes it of a
                checkpoint's folder.
            images: the column of pictures, a row's cell being one or a list of them: encoded bytes, as
                ``ray.data.read_binary_files`` names its column, ``data:`` URLs, or ``uint8 [height, width, 3]``.
            paths: whether a ``str`` in that column is the path of a file, to be read where the worker is.
            input_ids: the column of prompts, token ids with one placeholder a picture; None for pictures alone.
            dtype: of the feature, as an ``ImageProcessor`` takes it.
            errors: ``"raise"`` lets the exception of the first bad row end the call. ``"column"`` gives each row
                a column ``error``: ``""``, or the exception's class and text. A bad row's other new columns are
                empty: the feature, ids and ranges have a first side of 0, the rest is zeros.
            profile: whose rules decode encoded bytes (see ``mmcpp.decode_image``).
            limits: what one encoded picture may cost; ``DecodeLimits()`` by default.
            request_limits: of a row with a prompt; ``RequestLimits()`` by default.

        Raises:
            ValueError: a spec as for ``from_spec``, or an unknown ``errors``.
            UnsupportedError: a family whose pictures become several features each.
            TypeError: a spec as for ``from_spec``.
        """
        if errors not in ("raise", "column"):
            raise ValueError(f'errors: expected "raise" or "column", got {errors!r}')
        self._images, self._paths, self._ids = images, paths, input_ids
        self._dtype: DType = dtype
        self._keep_going = errors == "column"
        self._processor = ImageProcessor.from_spec(spec, profile=profile, limits=limits)
        if self._processor.plan(64, 64).feature_parts:  # rows would differ in their columns
            raise UnsupportedError(f"spec: {self._processor.family} with several features a picture is not supported")
        self._pipeline = Pipeline.from_spec(spec, profile=profile, limits=limits)
        self._request_limits = request_limits
        self._empty: dict[str, Array] | None = None

    def _row(self, pictures: object, input_ids: object) -> dict[str, Array]:
        """Give a row's new columns."""
        if not self._keep_going:
            return self._tensors(self._listed(pictures), input_ids)
        try:
            return {**self._tensors(self._listed(pictures), input_ids), "error": np.array("", object)}
        except (ValueError, TypeError, OSError) as error:  # an MmError is a ValueError; TypeError of a null cell, say
            return {**self._nothing(), "error": np.array(f"{type(error).__name__}: {error}", object)}

    def _listed(self, pictures: object) -> list[ImageInput]:
        many = isinstance(pictures, (list, tuple)) or (isinstance(pictures, np.ndarray) and pictures.dtype == object)
        return [Path(p) if self._paths and isinstance(p, str) else p for p in (pictures if many else [pictures])]  # type: ignore

    def _tensors(self, pictures: list[ImageInput], input_ids: object) -> dict[str, Array]:
        if self._ids is None:
            batch = self._processor.process_items(pictures, dtype=self._dtype)
            items, feature, extra = batch.items, batch.features, {}
        else:
            response = self._pipeline.process(
                input_ids=np.asarray(input_ids), images=pictures, dtype=self._dtype, limits=self._request_limits
            )
            items = response.items
            feature = joined([item.feature for item in items if item.feature is not None], self._processor.pack_axis)
            extra = {"input_ids": response.input_ids, "offsets": np.array(response.offsets, np.int64)}
            if response.positions is not None:
                extra |= {"positions": response.positions, "position_delta": np.array(response.position_delta)}
        tokens = np.array(sum(item.plan.tokens for item in items))
        return {
            self._processor.feature_name: feature,
            **aux_of(items, self._processor.joined_aux, self._processor.ones_aux),
            "tokens": tokens,
            **extra,
        }

    def _nothing(self) -> dict[str, Array]:
        """Give the columns of a row that has an error: those of a black picture, emptied."""
        if self._empty is None:
            prompt = [self._processor.spec.get("image_token_id", 0)]
            full = self._tensors([np.zeros((64, 64, 3), np.uint8)], prompt)
            cut = {self._processor.feature_name, "input_ids", "offsets"}
            self._empty = {name: array[:0] if name in cut else np.zeros_like(array) for name, array in full.items()}
            if "positions" in full:
                self._empty["positions"] = full["positions"][:, :0]
        return {name: array.copy() for name, array in self._empty.items()}


class MapBatches(_Rows):
    """For Ray Data's ``map_batches``: columns of pictures in, columns of tensors out, row for row.

    The batch is a dict of numpy arrays (``batch_format="numpy"``, Ray's own choice). Its columns come back but for the
    pictures, with these besides, where a cell of n pictures is as a call of ``ImageProcessor`` with them gives:

    - ``pixel_values``, or what else the family calls its feature, and the tensors that belong to it.
    - ``tokens``: ``int64``, prompt tokens that stand for the pictures.
    - with prompts: ``input_ids`` ``int64 [length]``, expanded; ``offsets`` ``int64 [n, 2]``, each picture's first and
      last token, both inside; and where the family has them ``positions`` ``int64 [axes, length]`` and
      ``position_delta`` ``int64``.

    Cells of one shape are one array ``[rows, ...]``, others an object array, which Ray stores as tensors of variable
    shape. bfloat16 is ``uint16``, as numpy has no such type.

    >>> from mmcpp.spec import preset_spec
    >>> mapper = MapBatches(preset_spec("qwen2_vl"), images="image", errors="column")
    >>> cells = np.empty(2, object)
    >>> cells[:] = [np.zeros((56, 56, 3), np.uint8), b"no picture"]
    >>> batch = mapper({"key": np.array([7, 8]), "image": cells})
    >>> [cell.shape for cell in batch["pixel_values"]], batch["key"].tolist(), batch["tokens"].tolist()
    ([(16, 1176), (0, 1176)], [7, 8], [4, 0])
    """

    def __call__(self, batch: Mapping[str, Array]) -> dict[str, Array]:
        """Give the batch with its pictures as tensors.

        Args:
            batch: columns of equally many rows.

        Raises:
            KeyError: no such column.
            The errors of ``ImageProcessor`` or, with prompts, ``Pipeline.process``; with ``errors="column"`` those
            alone that do not lie in the data, such as MemoryError.
        """
        pictures = batch[self._images]
        prompts: Sequence[object] = [None] * len(pictures) if self._ids is None else list(batch[self._ids])
        rows = [self._row(*cells) for cells in zip(pictures, prompts, strict=True)]
        new = {name: _column([row[name] for row in rows]) for name in (rows[0] if rows else {})}
        return {name: column for name, column in batch.items() if name != self._images} | new


class Transform(_Rows):
    """For a ``torch`` Dataset: what ``MapBatches`` makes of a column, made of one sample, as tensors.

    Pickles, so that a ``DataLoader``'s workers may be spawned as well as forked.
    """

    def __call__(self, sample: Any) -> dict[str, Any]:
        """Give the sample with its pictures as tensors.

        Args:
            sample: a mapping with the columns of a row, or its picture or list of pictures alone, as a dataset of
                pictures hands it to its ``transform``.

        Returns:
            As a row of ``MapBatches``, numbers and arrays as tensors without a copy, bfloat16 as such; ``error`` is a
            ``str``.

        Raises:
            As ``MapBatches``.
        """
        fields = dict(sample) if isinstance(sample, Mapping) else {self._images: sample}
        row = self._row(fields.pop(self._images), None if self._ids is None else fields[self._ids])
        error = {"error": row.pop("error").item()} if self._keep_going else {}
        return {**fields, **to_torch(row, self._dtype), **error}


def _column(cells: list[Array]) -> Array:
    if all(cell.shape == cells[0].shape for cell in cells):
        return np.stack(cells)
    column = np.empty(len(cells), object)
    for i, cell in enumerate(cells):  # column[:] would look into arrays whose first sides agree
        column[i] = cell
    return column
