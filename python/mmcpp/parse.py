"""What a request gives as media, read as items: one picture or many, frames or videos, samples, embeddings.

    items = parse_media({"image": [picture, None], "video": (frames, {"fps": 2.0})})
    items["image"].items, items["video"].metadata

The forms are those of vLLM 0.33. Which of them a value has, its type and its number of dimensions say.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["MediaItems", "normalize_channels", "parse_media"]

Metadata: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class MediaItems:
    """The items of one modality."""

    modality: str
    kind: Literal["media", "embeddings"]
    """Whether a model's encoder has still to see them."""
    items: list[Any]
    """None for an item that is given by its uuid alone. Embeddings: tensors or arrays [tokens, hidden]."""
    metadata: list[Metadata | None] = field(default_factory=list)
    """Of videos: what came with the frames."""

    def size(self, index: int) -> tuple[int, int]:
        """Give height and width of picture ``index``, or of the first frame of that video.

        Arrays of three dimensions whose last has 1, 3 or 4 entries are [height, width, channels], others
        [channels, height, width].

        Raises:
            ValueError: the item is not here, or has no size.
        """
        item = self.items[index]
        if item is None:
            raise ValueError(f"media: {self.modality} item {index} is given by its uuid, so its size is not known")
        if self.kind == "media" and self.modality in {"image", "video"}:
            frame = item[0] if self.modality == "video" else item
            if _is_pil(frame):
                return frame.height, frame.width
            if _is_array(frame) and frame.ndim == 3:
                shape = tuple(frame.shape)
                return shape[:2] if shape[2] in {1, 3, 4} else shape[1:]
        raise ValueError(f"media: {self.modality} item {index} has no height and width")

    def length(self, index: int) -> int:
        """Give the frames of video ``index``, the samples of that sound, the tokens of those embeddings.

        Raises:
            ValueError: the item is not here.
        """
        if self.items[index] is None:
            raise ValueError(f"media: {self.modality} item {index} is given by its uuid, so its length is not known")
        return len(self.items[index])


def parse_media(
    media: Mapping[str, Any],
    *,
    hidden_size: int | None = None,
    needs_metadata: bool = False,
    channels: int | None = None,
    sample_rate: float | None = None,
    resample: Callable[[npt.NDArray[Any], float, float], npt.NDArray[Any]] | None = None,
    as_rgb: bool = False,
) -> dict[str, MediaItems]:
    """Read the media of a request.

    A torch tensor of three dimensions, or a list of tensors whose first has two, is embeddings, of one
    item each. So is a picture [3, height, width] as a bare tensor: put pictures into a list, or give
    arrays. Beside these, one item or a list of items:

    - images: a PIL image, encoded bytes, a path, or an array of three dimensions; of more, one item each;
    - videos: a list of frames, an array of four dimensions, each also as (frames, metadata); of five
      dimensions, one item each;
    - sounds: a list of floats, an array of one dimension, or (samples, rate); of more, one item each;
    - ``vision_chunk``: mappings, which are not looked into.

    Args:
        media: modality -> what is given; None means that there is no such modality, an item that is None
            stands for one that is known by its uuid.
        hidden_size: what the last dimension of embeddings must be; None does not check it.
        needs_metadata: refuse videos that come without.
        channels: of sounds, see ``normalize_channels``.
        sample_rate: of sounds in Hz, for those that say theirs.
        resample: (samples, from, to) -> samples, for sounds of other rates.
        as_rgb: turn PIL images as their EXIF orientation says and make them RGB, on white where they are
            transparent, as vLLM's loader does. Else they are left to the processor.

    Raises:
        ValueError: an unknown modality, or what is none of these forms.
        TypeError: items of a wrong type.
    """
    readers: dict[str, Callable[[Any], MediaItems]] = {
        "image": lambda data: _images(data, as_rgb=as_rgb),
        "video": lambda data: _videos(data, needs_metadata=needs_metadata),
        "audio": lambda data: _sounds(data, channels, sample_rate, resample),
        "vision_chunk": _chunks,
    }
    parsed: dict[str, MediaItems] = {}
    for modality, data in media.items():
        if modality not in readers:
            raise ValueError(f"media: no modality {modality!r}, there are {', '.join(readers)}")
        if data is None:
            continue
        parsed[modality] = (
            _embeddings(modality, data, hidden_size) if _are_embeddings(data) else readers[modality](data)
        )
    return parsed


def normalize_channels(samples: npt.NDArray[Any], channels: int | None) -> npt.NDArray[Any]:
    """Bring a sound to a number of channels, as vLLM 0.33 does.

    Args:
        samples: [time], [channels, time] or [time, channels]: the longer side is the time, the second of a
            square.
        channels: 1 for the mean of all, more for the first so many, None for no change.

    Raises:
        ValueError: more channels than there are, or more than two dimensions.
    """
    if channels is None:
        return samples
    if samples.ndim == 1 and channels == 1:
        return samples
    if samples.ndim not in {1, 2}:
        raise ValueError(f"media: a sound of {samples.ndim} dimensions")
    if samples.ndim == 2 and samples.shape[0] > samples.shape[1]:
        samples = samples.T
    there = 1 if samples.ndim == 1 else samples.shape[0]
    if there < channels:
        raise ValueError(f"media: a sound of {there} channel(s) has no {channels}")
    if there == channels and channels > 1:
        return samples
    result: npt.NDArray[Any] = samples.mean(axis=0) if channels == 1 else samples[:channels]
    return result


def _are_embeddings(data: object) -> bool:
    if _is_tensor(data):
        return len(data.shape) == 3  # type: ignore[attr-defined]
    return isinstance(data, list) and bool(data) and all(map(_is_tensor, data)) and data[0].ndim == 2


def _embeddings(modality: str, data: Sequence[Any], hidden_size: int | None) -> MediaItems:
    if modality == "vision_chunk":
        raise ValueError("media: vision_chunk items are not given as embeddings")
    items = list(data)
    for index, item in enumerate(items):
        shape = tuple(item.shape)
        if str(item.layout) != "torch.strided":  # what a few bytes say may be more than the memory there is
            raise ValueError(f"media: {modality} embeddings {index} in a sparse layout")
        if len(shape) != 2:
            raise ValueError(f"media: {modality} embeddings {index} of shape {shape}, expected [tokens, hidden]")
        if hidden_size is not None and shape[1] != hidden_size:
            raise ValueError(
                f"media: {modality} embeddings {index} of shape {shape}, the model's have {hidden_size} columns"
            )
    return MediaItems(modality, "embeddings", items)


def _images(data: Any, *, as_rgb: bool) -> MediaItems:
    if _is_array(data):
        if data.ndim not in {3, 4}:
            raise ValueError(f"media: an image of {data.ndim} dimensions, expected 3, or 4 for many")
        items = [data] if data.ndim == 3 else list(data)
    else:
        items = list(data) if isinstance(data, (list, tuple)) else [data]
    if any(isinstance(item, (str, Mapping)) for item in items):
        raise TypeError("media: an image is no str or mapping; a file is a pathlib.Path, a URL is to be fetched first")
    return MediaItems("image", "media", [_to_rgb(item) if as_rgb and _is_pil(item) else item for item in items])


def _to_rgb(image: Any) -> Any:
    from PIL import Image, ImageOps

    with contextlib.suppress(Exception):  # metadata may be damaged in any way; the picture is not turned then
        image = ImageOps.exif_transpose(image)
    if image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGB", image.size, (255, 255, 255))
        white.paste(image, mask=image.split()[3])
        return white
    return image.convert("RGB")


def _videos(data: Any, *, needs_metadata: bool) -> MediaItems:
    given = [data] if _is_video(data) else data if isinstance(data, (list, tuple)) or _is_array(data) else [data]
    items: list[Any] = []
    metadata: list[Metadata | None] = []
    for index, item in enumerate(given):
        frames, said = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if isinstance(frames, list):
            frames = np.stack([np.asarray(frame) for frame in frames])
        if frames is not None and not _is_array(frames):
            raise TypeError(f"media: video {index} is a {type(frames).__name__}, expected frames")
        if frames is not None and frames.ndim != 4:
            raise ValueError(f"media: video {index} of {frames.ndim} dimensions, expected 4, the first of which counts")
        if needs_metadata and frames is not None and said is None:
            raise ValueError(f"media: video {index} comes without metadata, which this model needs")
        items.append(frames)
        metadata.append(said)
    return MediaItems("video", "media", items, metadata)


def _is_video(data: Any) -> bool:
    """Tell whether this is one video: frames, or frames with metadata."""
    if isinstance(data, tuple):
        return len(data) == 2 and (data[1] is None or isinstance(data[1], Mapping))
    if isinstance(data, list):
        return bool(data) and (all(map(_is_pil, data)) or all(_is_array(frame) and frame.ndim == 3 for frame in data))
    return _is_array(data) and data.ndim == 4


def _sounds(
    data: Any,
    channels: int | None,
    sample_rate: float | None,
    resample: Callable[[npt.NDArray[Any], float, float], npt.NDArray[Any]] | None,
) -> MediaItems:
    alone = (
        isinstance(data, tuple)
        or (_is_array(data) and data.ndim == 1)
        or (isinstance(data, list) and bool(data) and all(isinstance(sample, float) for sample in data))
    )
    items: list[Any] = []
    for index, item in enumerate([data] if alone else data):
        if item is None:
            items.append(None)
            continue
        samples, rate = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if not isinstance(samples, list) and not _is_array(samples):
            raise TypeError(f"media: sound {index} is a {type(samples).__name__}, expected samples")
        samples = np.asarray(samples)
        if rate is not None and (sample_rate is None or abs(rate - sample_rate) > 1e-6):
            if sample_rate is None or resample is None:
                raise ValueError(f"media: sound {index} has {rate} Hz, and nothing is there to resample it")
            samples = resample(samples, rate, sample_rate)
        items.append(normalize_channels(samples, channels))
    return MediaItems("audio", "media", items)


def _chunks(data: Any) -> MediaItems:
    if _is_array(data):
        raise ValueError("media: vision_chunk items are not given as embeddings")
    items = list(data) if isinstance(data, (list, tuple)) else [data]
    if not all(item is None or isinstance(item, Mapping) for item in items):
        raise TypeError("media: a vision_chunk is a mapping")
    return MediaItems("vision_chunk", "media", items)


def _is_pil(value: object) -> bool:
    pil = sys.modules.get("PIL.Image")
    return pil is not None and isinstance(value, pil.Image)


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) or _is_tensor(value)
