"""The pictures that transformers' image processors take, as what the core takes: arrays, or a file's bytes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from mmcpp.errors import UnsupportedError
from mmcpp.inputs import to_media

__all__ = ["flat", "to_core", "undecoded"]


def flat(images: Any) -> list[Any]:
    """Give pictures in a row, from what transformers made of the argument.

    Args:
        images: a list of pictures, or of samples, which are lists of pictures.

    Raises:
        UnsupportedError: no pictures, or a sample without or with several.
    """
    if len(images) == 0:
        raise UnsupportedError("no pictures")
    if not isinstance(images[0], (list, tuple)):
        return list(images)
    if any(len(sample) != 1 for sample in images):
        raise UnsupportedError("samples that do not have one picture each are not supported")
    return [sample[0] for sample in images]


def to_core(image: Any, *, converts: bool, input_data_format: Any = None) -> bytes | npt.NDArray[np.uint8]:
    """Give one picture as the core takes it, with the pixels that transformers 5.24 ``process_image`` gives.

    Args:
        image: of PIL, numpy or torch; the latter two of one or three channels, in either order.
        converts: whether the processor converts to RGB.
        input_data_format: the order of channels, ``"channels_first"`` or ``"channels_last"``; found out if None. PIL
            images have no need of it.

    Returns:
        A ``uint8`` array ``[height, width, 3]``, or the bytes of a JPEG that nobody has decoded yet.

    Raises:
        UnsupportedError: a type, mode, dtype or number of channels that the core does not take.
        OSError: the file of a PIL image is damaged.
    """
    if hasattr(image, "getbands"):
        if not converts and image.mode != "RGB":
            raise UnsupportedError(f"a picture of mode {image.mode} is not supported where none is converted to RGB")
        data = undecoded(image)
        if data is not None:
            return data
        # Without conversion a transparent colour is a colour like any other.
        return np.asarray(image) if not converts else to_media(image)  # type: ignore[return-value]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(image, torch.Tensor):
        if image.device.type != "cpu":
            raise UnsupportedError(f"a tensor on {image.device} is not supported; supported: the CPU")
        image = image.detach().numpy() if image.dtype == torch.uint8 else np.empty(0, np.float32)
    if not isinstance(image, np.ndarray):
        raise UnsupportedError(f"a picture of type {type(image).__name__} is not supported")
    if image.dtype != np.uint8 or image.ndim != 3:
        raise UnsupportedError("an array that is not uint8 in three dimensions is not supported")
    from transformers.image_utils import infer_channel_dimension_format

    order = input_data_format
    if order is None:
        order = infer_channel_dimension_format(image, num_channels=(1, 3, 4))
    if str(getattr(order, "value", order)) == "channels_first":
        image = np.moveaxis(image, 0, -1)
    if converts and image.shape[-1] == 1:
        image = np.repeat(image, 3, axis=-1)
    if image.shape[-1] != 3:
        raise UnsupportedError(f"an array of {image.shape[-1]} channels is not supported")
    return np.ascontiguousarray(image)


def undecoded(image: Any) -> bytes | None:
    """Give the bytes of a JPEG that PIL has opened and not decoded, so that the core, which is faster, decodes them.

    The image stays as it is. None if it is anything else: another format, decoded, or to be decoded smaller than it
    is (``Image.draft``).
    """
    file = getattr(image, "fp", None)
    if getattr(image, "format", None) != "JPEG" or not getattr(image, "tile", None) or file is None:
        return None
    if getattr(image, "decoderconfig", None) != ():
        return None
    try:
        position = file.tell()
        file.seek(0)  # where Image.open starts to read too
        data = file.read()
        file.seek(position)
    except (OSError, ValueError):  # closed, or a stream
        return None
    return data if isinstance(data, bytes) and data.startswith(b"\xff\xd8") else None
