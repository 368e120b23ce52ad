"""What sglang 0.5.23 does with torch for MiMo-V2 and InternVL, written anew: the rules that the families ``mimo_v2``
and ``intern_vl`` are compared with."""

import contextlib
import math

import torch
from torch.nn.functional import interpolate

MIMO = {
    "family": "mimo_v2",
    "image_token_id": 5,
    "patch_size": 16,
    "merge_size": 2,
    "temporal_patch_size": 2,
    "min_pixels": 8192,
    "max_pixels": 60000,
    "image_mean": [122.7709383, 116.7460125, 104.09373615],
    "image_std": [68.5005327, 66.6321375, 70.32316335],
}
INTERN = {
    "family": "intern_vl",
    "image_token_id": 7,
    "img_context_token_id": 5,
    "img_start_token_id": 3,
    "img_end_token_id": 4,
    "image_size": 56,
    "num_image_token": 4,
    "max_num": 12,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
}
SIZES = [(1, 1), (20, 20), (33, 70), (56, 56), (64, 96), (90, 211), (150, 61), (300, 200), (6, 180), (331, 130)]


def planes(picture):
    """uint8 [h, w, 3] as float32 [1, 3, h, w]."""
    return torch.tensor(picture).permute(2, 0, 1).float()[None]


def resized(values, height, width, mode):
    """As torch resamples without antialiasing."""
    return interpolate(values, size=(height, width), mode=mode, align_corners=False)


def mimo_size(height, width, spec):
    """(height, width) that the picture is resized to."""
    factor = spec["patch_size"] * spec["merge_size"]
    if min(height, width) < factor:
        scale = factor / min(height, width)
        height, width = round(height * scale), round(width * scale)
    elif max(height, width) / min(height, width) > 200:
        raise ValueError("ratio")
    h, w = round(height / factor) * factor, round(width / factor) * factor
    if h * w > spec["max_pixels"]:
        beta = math.sqrt(height * width / spec["max_pixels"])
        h, w = (math.floor(side / beta / factor) * factor for side in (height, width))
    elif h * w < spec["min_pixels"]:
        beta = math.sqrt(spec["min_pixels"] / (height * width))
        h, w = (math.ceil(side * beta / factor) * factor for side in (height, width))
    return h, w


@contextlib.contextmanager
def threads(count):
    """Run torch with so many."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def mimo_features(picture, spec):
    """float32 [patches, 3 * temporal * patch * patch]."""
    h, w = mimo_size(*picture.shape[:2], spec)
    mean, std = (torch.tensor(spec[key]).view(1, 3, 1, 1) for key in ("image_mean", "image_std"))
    with threads(spec.get("torch_threads", 1)):
        values = ((resized(planes(picture), h, w, "bilinear") - mean) / std)[0]
    side, merge, copies = (spec[key] for key in ("patch_size", "merge_size", "temporal_patch_size"))
    blocks = values.repeat(copies, 1, 1, 1).view(
        copies, 3, h // side // merge, merge, side, w // side // merge, merge, side
    )
    return blocks.permute(2, 5, 3, 6, 1, 0, 4, 7).reshape(h * w // side**2, -1).contiguous()


def intern_grid(height, width, most):
    """(columns, rows) of tiles."""
    candidates = [(i, j) for i in range(1, most + 1) for j in range(1, most + 1) if i * j <= most]
    return min(candidates, key=lambda grid: (abs(width / height - grid[0] / grid[1]), -grid[0] * grid[1]))


def intern_features(picture, spec):
    """float32 [tiles, 3, size, size], before sglang rounds it to bfloat16."""
    size = spec["image_size"]
    columns, rows = intern_grid(*picture.shape[:2], spec["max_num"])
    mean, std = (torch.tensor(spec[key]).view(1, 3, 1, 1) for key in ("image_mean", "image_std"))
    values = (planes(picture) / 255.0 - mean) / std
    canvas = resized(values, rows * size, columns * size, "bicubic")[0]
    tiles = canvas.view(3, rows, size, columns, size).permute(1, 3, 0, 2, 4).reshape(-1, 3, size, size)
    if rows * columns > 1 and spec.get("use_thumbnail", True):
        tiles = torch.cat([tiles, resized(values, size, size, "bicubic")])
    return tiles.contiguous()
