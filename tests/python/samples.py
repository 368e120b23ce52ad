"""Pictures that tests make: the same bytes on every run."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

from mmcpp.spec import preset_spec

CLIP = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
SPEC = {**preset_spec("qwen2_vl"), "image_token_id": 5}


def noise(height: int, width: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Uniform noise, ``uint8 [height, width, channels]``."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)


def smooth(height: int, width: int) -> np.ndarray:
    """Something like a photograph's gradients and edges, ``uint8 [height, width, 3]``."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = [128 + 127 * np.sin(x / 7 + c) * np.cos(y / (11 + c)) for c in range(3)]
    picture = np.stack(planes, axis=2)
    picture[(x - width / 2) ** 2 + (y - height / 2) ** 2 < (min(height, width) / 4) ** 2] = (250, 200, 30)
    return picture.astype(np.uint8)


def encode(image: "Image.Image | np.ndarray", fmt: str = "PNG", **options: object) -> bytes:
    """Encode through Pillow."""
    if isinstance(image, np.ndarray):
        image = Image.fromarray(image)
    out = io.BytesIO()
    image.save(out, fmt, **options)
    return out.getvalue()


def png(height: int, width: int) -> bytes:
    """A small noisy PNG."""
    return encode(noise(height, width))


def png_promising(height: int, width: int) -> bytes:
    """A PNG whose header promises that many RGB pixels and whose data has almost none."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")
    )


def reference_image(height: int, width: int) -> np.ndarray:
    """The picture of the stored results of the reference crate: a hash of each byte's index."""
    index = np.arange(height * width * 3, dtype=np.uint64)
    return ((((index * 2654435761) % 2**32) >> 16) & 255).astype(np.uint8).reshape(height, width, 3)
