"""The image half of a model family, and whole requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy.typing as npt

from mmcpp import _mmcpp
from mmcpp.cancelling import CancelFlag, Stop
from mmcpp.configured import Configured
from mmcpp.fetching import FetchPolicy
from mmcpp.image import side
from mmcpp.inputs import ImageInput, Prompt, to_media_each, to_media_list, token_ids
from mmcpp.inputs import text as checked_text
from mmcpp.limits import RequestLimits, values
from mmcpp.results import (
    Item,
    ItemBatch,
    ItemPlan,
    ItemTimes,
    PlannedRequest,
    RequestCounters,
    Response,
    ResponseTimes,
    aux_of,
    batch_tensors,
    to_item,
    to_plan,
)

__all__ = [
    "DType",
    "ImageProcessor",
    "Item",
    "ItemBatch",
    "ItemPlan",
    "ItemTimes",
    "Pipeline",
    "PlannedRequest",
    "RequestCounters",
    "Response",
    "ResponseTimes",
]

DType = Literal["float32", "bfloat16", "float16", "uint8"]
"""Of features. numpy has no bfloat16: such arrays are ``uint16`` and hold the bits."""

# The image half has no request to protect: a training loop's batch is as large as it likes.
_NO_LIMITS = (2**63 - 1, 2**63 - 1, 2**63 - 1)


class ImageProcessor(Configured):
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
        policy: FetchPolicy | None = None,
        timeout: float | None = None,
        cancel: CancelFlag | None = None,
    ) -> dict[str, Any]:
        """Give the tensors that the checkpoint's Hugging Face image processor gives.

        Args:
            images: one picture, or a list or tuple of them: encoded bytes, a ``pathlib.Path``, a
                PIL image (transparency is composited on white), a ``uint8`` array ``[height,
                width, 3]``, or a source string: a ``data:`` URL, and with a ``policy`` whatever
                that allows of ``mmcpp.fetch``'s sources.
            dtype: of the feature. ``"uint8"`` gives the pixels as resized and leaves normalisation
                to the device.
            return_tensors: ``"np"`` for numpy, ``"pt"`` for torch; neither copies. As numpy has no
                bfloat16, ``dtype="bfloat16"`` gives ``uint16`` arrays of the bits there, and
                ``torch.bfloat16`` tensors with ``"pt"``.
            out: where to write the feature, in pinned or shared memory, say: an array of its shape
                (``plan`` gives it, the shapes of several pictures added up along ``pack_axis``) and type
                (``uint16`` for ``"bfloat16"``), C-contiguous. The feature of the result is this
                memory, or a copy of it where several pictures have several tensors each. After an error its
                contents are unspecified.
            policy: what source strings may be; None for ``data:`` URLs alone, so that a string of a
                stranger opens neither a file nor a connection. A ``pathlib.Path`` needs none.
            timeout: seconds that the call may take, fetching included.
            cancel: a flag by which another thread ends the call.

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
            - ``granite_docling``: ``[n, tiles of the most, 3, tile_height, tile_width]``, zero tiles behind;
              ``pixel_attention_mask`` ``bool [n, tiles of the most]``.
            - ``idefics3``: ``[n, tiles of the most, 3, tile_size, tile_size]``, zero tiles behind;
              ``pixel_attention_mask`` ``int64 [n, tiles of the most, tile_size, tile_size]``.
            - ``mllama``: ``[n, 1, max_tiles, 3, tile_size, tile_size]``, zero tiles behind; ``aspect_ratio_ids``
              and ``num_tiles`` ``int64 [n, 1]``, ``aspect_ratio_mask`` ``int64 [n, 1, max_tiles]``.
            - ``llama4``: ``[tiles of all pictures, 3, tile_size, tile_size]``; ``aspect_ratios``
              ``int64 [n, 2]``, rows first.
            - ``global_tiles``, of ``deepseek_vl2``: ``[wholes and tiles of all pictures, 3, tile_size, tile_size]``;
              ``images_spatial_crop`` ``int64 [n, 2]``, columns first. Of the others ``[n, 3, global_size,
              global_size]``, and if there are tiles ``[tiles of all pictures, 3, tile_size, tile_size]``:
              ``images_crop`` with ``images_spatial_crop``, or ``pixel_values_local`` with ``num_local_patches``
              ``int64 [n]`` and of ``unlimited_ocr`` ``patches_grid`` ``int64 [n, 2]``, columns first.
            - ``deepseek_vl_hybrid``: ``[n, 3, size, size]``, and ``high_res_pixel_values`` ``[n, 3, high_res_size,
              high_res_size]``.
            - ``lfm2_vl``: ``[tiles and wholes of all pictures, patches of the most, 3 * patch_size**2]``, zero patches
              behind; of each ``pixel_attention_mask`` ``int32 [patches of the most]`` and ``spatial_shapes``
              ``int64 [2]``, rows first.
            - ``perception_lm``: ``[n, tiles of the most, 3, tile_size, tile_size]``, zero tiles behind.
            - ``padded_patches``: ``[n, max_patches, 3 * patch_size**2]``, zero patches behind; of the size
              rule ``siglip2`` ``pixel_attention_mask`` ``int32 [n, max_patches]`` and ``spatial_shapes``
              ``int64 [n, 2]``, rows first; of ``gemma4`` ``image_position_ids`` ``int64 [n, max_patches, 2]``,
              columns first, -1 behind, and ``num_soft_tokens_per_image`` ``int64 [n]``.
            - ``ovis2``: ``[tiles of all pictures, 3, tile_size, tile_size]``; ``grids`` ``int64 [n, 2]``, rows first.
            - ``minicpmv``: ``[1, 3, patch_size, columns of all pictures]``, strips of a picture and then of its
              slices; ``target_sizes`` (or ``tgt_sizes`` alone) ``int32 [strips of all pictures, 2]``, in patches,
              rows first; ``grids`` ``int64 [n, 2]`` of slices and ``num_patches_per_image``, the strips, ``int64
              [n]``.

            Equal byte for byte to transformers 5.24, in the arithmetic of the spec's ``resample``.

        Raises:
            DecodeError, UnsupportedError, LimitError: a picture cannot be used; ``item`` says
                which, the lowest index if there are several.
            ValueError: no pictures, an array of another shape or not in C order, a size that the
                family refuses, an unknown dtype, an ``out`` of another shape, read-only or not in C
                order.
            TypeError: something that is no picture, or an ``out`` that is no array of that type.
            OSError: a file cannot be read.
            FetchError: a source string cannot be had.
            DeadlineError, CancelledError: it was not done in time, or ``cancel`` was set.
        """
        if return_tensors not in ("np", "pt"):
            raise ValueError(f'return_tensors: expected "np" or "pt", got {return_tensors!r}')
        batch = self.process_items(images, dtype=dtype, out=out, policy=policy, timeout=timeout, cancel=cancel)
        tensors = batch_tensors(self._family.feature_name, batch)
        tensors.update(aux_of(batch.items, self.joined_aux, self.ones_aux))
        return tensors if return_tensors == "np" else to_torch(tensors, dtype)

    def process_items(
        self,
        images: ImageInput | Sequence[ImageInput],
        *,
        dtype: DType = "float32",
        out: npt.NDArray[Any] | None = None,
        policy: FetchPolicy | None = None,
        timeout: float | None = None,
        cancel: CancelFlag | None = None,
    ) -> ItemBatch:
        """Give the features with what is known of each picture: plan, hash, header, times.

        Args:
            images: as for a call.
            dtype: as for a call.
            out: as for a call.
            policy: as for a call.
            timeout: as for a call.
            cancel: as for a call.

        Returns:
            The features of all pictures in one array of ``dtype``, each of its ``plan.feature_shape``, joined along
            ``pack_axis``; and an item each, in order.

        Raises:
            MmError, ValueError, TypeError, OSError: as a call.
        """
        stop = Stop(timeout, cancel)
        media = to_media_list(images, policy, stop, keeps_alpha=self._family.keeps_alpha)
        features, items = _mmcpp.process_items(
            self._family,
            media,
            checked_text("dtype", dtype),
            self._profile,
            self._decode_limits,
            _NO_LIMITS,
            out,
            stop.native(),
        )
        return ItemBatch(features, [to_item(fields) for fields in items])

    def process_each(
        self,
        images: ImageInput | Sequence[ImageInput],
        *,
        dtype: DType = "float32",
        policy: FetchPolicy | None = None,
        timeout: float | None = None,
        cancel: CancelFlag | None = None,
    ) -> list[Item | Exception]:
        """Give what each picture becomes, each for itself: a bad one harms no other.

        Args:
            images: as for a call.
            dtype: as for a call.
            policy: as for a call.
            timeout: as for a call; pictures that were done in time are there.
            cancel: as for a call.

        Returns:
            In the order of the pictures, an item with its own feature, or the exception that a call
            with this picture would raise.

        Raises:
            TypeError: something that is no picture.
            ValueError: no pictures, or an unknown dtype.

        >>> from mmcpp.spec import preset_spec
        >>> processor = ImageProcessor.from_spec(preset_spec("qwen2_vl"))
        >>> good, bad = processor.process_each([np.zeros((56, 56, 3), np.uint8), b"no picture"])
        >>> good.plan.tokens, bad.code, bad.item
        (4, 'unsupported', 1)
        """
        stop = Stop(timeout, cancel)
        media = to_media_each(images, policy, stop, keeps_alpha=self._family.keeps_alpha)
        results = _mmcpp.process_each(
            self._family,
            [b"" if isinstance(item, Exception) else item for item in media],
            checked_text("dtype", dtype),
            self._profile,
            self._decode_limits,
            _NO_LIMITS,
            stop.native(),
        )
        return [
            given if isinstance(given, Exception) else result if isinstance(result, Exception) else to_item(result)
            for given, result in zip(media, results, strict=True)
        ]


class Pipeline(Configured):
    """A whole request: prompt and pictures in; tensors, expanded prompt and positions out."""

    _for_prompts = True

    def process(
        self,
        *,
        input_ids: Sequence[int] | npt.NDArray[Any] | None = None,
        images: Sequence[ImageInput],
        dtype: DType = "float32",
        limits: RequestLimits | None = None,
        text: str | None = None,
        tokenizer: Callable[[str], Sequence[int]] | None = None,
        policy: FetchPolicy | None = None,
        timeout: float | None = None,
        cancel: CancelFlag | None = None,
    ) -> Response:
        """Run a request. All or nothing: the first error, in the order of items, is the answer.

        Args:
            input_ids: the prompt, with one placeholder (the spec's ``image_token_id``) a picture.
            images: the pictures in prompt order, in any form that an ``ImageProcessor`` takes.
            dtype: of the features, as for an ``ImageProcessor``.
            limits: of the request; ``RequestLimits()`` by default.
            text: the prompt as text, in place of ``input_ids``.
            tokenizer: gives the ids of ``text``, placeholders among them, when the pictures are known
                to be within the limits. An exception of it becomes an error of the request, whose
                cause it is.
            policy: as for an ``ImageProcessor``.
            timeout: as for an ``ImageProcessor``.
            cancel: as for an ``ImageProcessor``.

        Returns:
            Expanded ids ``int64 [length]``, items with their features, inclusive offsets, positions, times in
            milliseconds and counters. Ids and positions equal those of transformers 5.24's processor and model.

        Raises:
            DecodeError, UnsupportedError: a picture cannot be used; ``item`` says which.
            LimitError: a picture or the request is over a limit.
            ValueError: no ids or pictures, placeholders that do not match the pictures, or what
                an ``ImageProcessor`` refuses.
            TypeError: ids that are no integers, or something that is no picture.
            OSError: a file cannot be read.
            FetchError, DeadlineError, CancelledError: as an ``ImageProcessor``.
            RuntimeError: the tokenizer failed, but for a ValueError and others that keep their kind.

        >>> from mmcpp.spec import preset_spec
        >>> pipeline = Pipeline.from_spec(preset_spec("qwen2_vl"))
        >>> picture = np.zeros((56, 56, 3), np.uint8)
        >>> response = pipeline.process(input_ids=[1, 151655, 2], images=[picture])
        >>> response.input_ids.tolist(), response.offsets
        ([1, 151655, 151655, 151655, 151655, 2], [(1, 4)])
        """
        prompt = Prompt(input_ids, text, tokenizer)
        stop = Stop(timeout, cancel)
        request_limits = values(limits, RequestLimits)
        most = (limits or RequestLimits()).max_total_bytes
        media = to_media_list(images, policy, stop, most, keeps_alpha=self._family.keeps_alpha)
        try:
            fields = _mmcpp.process(
                self._family,
                prompt.ids,
                media,
                checked_text("dtype", dtype),
                self._profile,
                self._decode_limits,
                request_limits,
                stop.native(),
                prompt.text,
                prompt.tokenize,
            )
        except Exception as error:
            if prompt.failure is None:
                raise
            raise error from prompt.failure
        positions, delta = fields["positions"] or (None, None)
        return Response(
            input_ids=fields["input_ids"],
            items=[to_item(item) for item in fields["items"]],
            offsets=fields["offsets"],
            positions=positions,
            position_delta=delta,
            times=ResponseTimes(fields["layout_ms"], fields["positions_ms"], fields["tokenize_ms"]),
            counters=RequestCounters(**fields["counters"]),
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
            token_ids(input_ids),
            [(side("height", height), side("width", width)) for height, width in sizes],
            max_items,
            max_tokens,
        )
        positions, delta = fields["positions"] or (None, None)
        items = [to_plan(plan) for plan in fields["items"]]
        return PlannedRequest(fields["input_ids"], items, fields["offsets"], positions, delta)


def to_torch(tensors: Mapping[str, npt.NDArray[Any]], dtype: DType) -> dict[str, Any]:
    """Give tensors that share the arrays' memory, with features of ``dtype``."""
    import torch

    result = {name: torch.from_numpy(array) for name, array in tensors.items()}
    if dtype == "bfloat16":
        # numpy's stand-in is uint16; no tensor beside the features has that type.
        result = {n: t.view(torch.bfloat16) if t.dtype == torch.uint16 else t for n, t in result.items()}
    return result
