"""Image processors that transformers does not have, by their rule, slowly: numpy and Pillow, picture by picture."""

import math

import numpy as np
from PIL import Image, ImageOps
from transformers.image_transforms import convert_to_rgb


class Rule:
    """A processor by a rule. A subclass gives a dict of arrays for one picture; those of several are joined."""

    backend = "pil by rule"

    def __init__(self, image_mean: list[float], image_std: list[float], **options: object) -> None:
        self.channels = np.array(image_mean, np.float32), np.array(image_std, np.float32)
        self.__dict__ |= options

    def __call__(self, images: Image.Image | list[Image.Image], return_tensors: str = "np") -> dict[str, np.ndarray]:
        assert return_tensors == "np"
        each = [
            self.one(Image.fromarray(convert_to_rgb(image, return_numpy=True)))
            for image in (images if isinstance(images, list) else [images])
        ]
        return self.joined(each)

    def joined(self, each: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        return {name: np.concatenate([one[name] for one in each]) for name in each[0]}

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        raise NotImplementedError

    def normalized(self, image: Image.Image) -> np.ndarray:
        """``float32 [height, width, 3]``, as torchvision's ToTensor and Normalize give it."""
        mean, std = self.channels
        return (np.asarray(image).astype(np.float32) / np.float32(255) - mean) / std

    def raster(self, image: Image.Image, patch: int) -> np.ndarray:
        """Patches row by row, ``float32 [n, 3, patch, patch]``."""
        values = self.normalized(image)
        rows, columns = values.shape[0] // patch, values.shape[1] // patch
        values = values.reshape(rows, patch, columns, patch, 3).transpose(0, 2, 4, 1, 3)
        return np.ascontiguousarray(values).reshape(rows * columns, 3, patch, patch)


class Stretched(Rule):
    """GLM-4V-9B: every picture stretched to one square."""

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        values = self.normalized(image.resize((self.side, self.side), Image.Resampling.BICUBIC))
        return {"pixel_values": np.ascontiguousarray(values.transpose(2, 0, 1))[None]}


def tiles_of(image: Image.Image, side: int) -> list[Image.Image]:
    """Squares, row by row."""
    corners = [(x, y) for y in range(0, image.height, side) for x in range(0, image.width, side)]
    return [image.crop((x, y, x + side, y + side)) for x, y in corners]


def closest_grid(width: int, height: int, side: int, least: int, most: int) -> tuple[int, int]:
    """Columns and rows of the closest ratio, from a set of grids as InternVL's code makes it."""
    sides = range(1, most + 1)
    grids = {(i, j) for n in range(least, most + 1) for i in sides for j in sides if least <= i * j <= n}
    found, difference = (1, 1), math.inf
    for wide, high in sorted(grids, key=lambda grid: grid[0] * grid[1]):
        off = abs(width / height - wide / high)
        if off < difference or (off == difference and width * height > 0.5 * side**2 * wide * high):
            found = wide, high
        difference = min(off, difference)
    return found


class Keye(Rule):
    """Keye-VL: sides lifted to the factor one after the other, then the rule of Qwen2-VL, which does not lift again."""

    def size(self, height: int, width: int) -> tuple[int, int]:
        factor = self.patch_size * self.merge_size
        if height < factor:
            height, width = factor, round(width * factor / height)
        if width < factor:
            height, width = round(height * factor / width), factor
        if max(height, width) / min(height, width) > 200:
            raise ValueError("absolute aspect ratio must be smaller than 200")
        rows, columns = round(height / factor), round(width / factor)
        if rows * columns * factor**2 > self.max_pixels:
            beta = math.sqrt(height * width / self.max_pixels)
            rows, columns = math.floor(height / beta / factor), math.floor(width / beta / factor)
        elif rows * columns * factor**2 < self.min_pixels:
            beta = math.sqrt(self.min_pixels / (height * width))
            rows, columns = math.ceil(height * beta / factor), math.ceil(width * beta / factor)
        return rows * factor, columns * factor

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        height, width = self.size(image.height, image.width)
        patches = self.raster(image.resize((width, height), Image.Resampling.BICUBIC), self.patch_size)
        grid = np.array([[1, height // self.patch_size, width // self.patch_size]])
        return {"pixel_values": patches, "image_grid_thw": grid}


class KimiVL(Rule):
    """Kimi-VL: reduced until its whole patches are few enough, padded with black to whole blocks."""

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        patch, block = self.patch_size, self.patch_size * self.merge_size
        patches = (image.width // patch) * (image.height // patch)
        if patches > self.in_token_limit:
            scale = math.sqrt(self.in_token_limit / patches)
            size = int(image.width * scale), int(image.height * scale)
            image = image.resize(size, Image.Resampling.BICUBIC)
        canvas = Image.new("RGB", (-(-image.width // block) * block, -(-image.height // block) * block))
        canvas.paste(image, (0, 0))
        if max(canvas.size) // patch >= 512:
            raise ValueError("Exceed pos emb")
        grid = np.array([[canvas.height // patch, canvas.width // patch]])
        return {"pixel_values": self.raster(canvas, patch), "image_grid_hws": grid}


class DeepseekVL2(Rule):
    """DeepSeek-VL2: the whole and, of the resolution that keeps most, tiles, both padded by Pillow; one picture's part
    of a request of two at most."""

    def best(self, width: int, height: int) -> tuple[int, int]:
        found, most, least = (0, 0), 0, math.inf
        for wide, high in self.candidate_resolutions:
            scale = min(wide / width, high / height)
            kept = min(int(width * scale) * int(height * scale), width * height)
            if kept > most or (kept == most and wide * high - kept < least):
                found, most, least = (wide, high), kept, wide * high - kept
        return found

    def padded(self, image: Image.Image, size: tuple[int, int]) -> Image.Image:
        return ImageOps.pad(image, size, color=tuple(int(channel * 255) for channel in self.colors))

    def planes(self, image: Image.Image) -> np.ndarray:
        return np.ascontiguousarray(self.normalized(image).transpose(2, 0, 1))

    def tiles(self, image: Image.Image, side: int) -> list[np.ndarray]:
        return [self.planes(tile) for tile in tiles_of(image, side)]

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        side = self.tile_size
        best = self.best(*image.size)
        views = [self.planes(self.padded(image, (side, side))), *self.tiles(self.padded(image, best), side)]
        return {
            "pixel_values": np.stack(views),
            "images_spatial_crop": np.array([[best[0] // side, best[1] // side]]),
        }


class DeepseekOCR(DeepseekVL2):
    """DeepSeek-OCR: the whole padded; of a picture larger than a tile tiles of the closest ratio, stretched."""

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        side, grid = self.tile_size, (1, 1)
        result = {"pixel_values": self.planes(self.padded(image, (self.base_size,) * 2))[None]}
        if max(image.size) > side:
            grid = closest_grid(*image.size, side, *self.crops)
            result["images_crop"] = np.stack(self.tiles(image.resize((grid[0] * side, grid[1] * side)), side))
        return result | {"images_spatial_crop": np.array([grid])}

    def joined(self, each: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        names = dict.fromkeys(name for one in each for name in one)
        return {name: np.concatenate([one[name] for one in each if name in one]) for name in names}


class InternVLChat(Rule):
    """InternVL's own code: the grid of the closest ratio from a set of grids, and the whole behind several tiles."""

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        columns, rows = closest_grid(*image.size, self.side, *self.patches)
        whole = image.resize((columns * self.side, rows * self.side), Image.Resampling.BICUBIC)
        views = tiles_of(whole, self.side)
        if len(views) > 1:
            views.append(image.resize((self.side, self.side), Image.Resampling.BICUBIC))
        values = np.stack([self.normalized(view).transpose(2, 0, 1) for view in views])
        return {"pixel_values": values, "num_patches": np.array([len(views)])}


class MiniCPMV(Rule):
    """MiniCPM-V 2.6: the picture as a whole, then slices of the grid whose ratio is closest by its logarithm. Strips of
    one picture after another; the original keeps them in lists."""

    def grid(self, width: int, height: int) -> tuple[int, int] | None:
        """Columns and rows."""
        side = self.scale_resolution
        wanted = min(math.ceil(width * height / (side * side)), self.max_slice_nums)
        if wanted <= 1:
            return None
        counts = [n for n in (wanted - 1, wanted, wanted + 1) if n != 1 and n <= self.max_slice_nums]
        grids = [(columns, n // columns) for n in counts for columns in range(1, n + 1) if n % columns == 0]
        return min(grids, key=lambda grid: abs(math.log(width / height) - math.log(grid[0] / grid[1])))

    def best(self, width: float, height: float, enlarge: bool) -> tuple[int, int]:
        side, patch = self.scale_resolution, self.patch_size
        if enlarge or width * height > side * side:
            ratio = width / height
            height = int(side / math.sqrt(ratio))
            width = int(height * ratio)
        return max(round(width / patch) * patch, patch), max(round(height / patch) * patch, patch)

    def strip(self, image: Image.Image) -> np.ndarray:
        values, patch = self.normalized(image).transpose(2, 0, 1), self.patch_size
        return np.concatenate([values[:, y : y + patch] for y in range(0, image.height, patch)], axis=2)

    def one(self, image: Image.Image) -> dict[str, np.ndarray]:
        grid = self.grid(*image.size)
        parts = [image.resize(self.best(*image.size, grid is None), Image.Resampling.BICUBIC)]
        if grid is not None:
            cells = [max(round(side / n) * n, n) / n for side, n in zip(image.size, grid, strict=True)]
            width, height = self.best(*cells, True)
            canvas = image.resize((width * grid[0], height * grid[1]), Image.Resampling.BICUBIC)
            corners = [(x * width, y * height) for y in range(grid[1]) for x in range(grid[0])]
            parts += [canvas.crop((x, y, x + width, y + height)) for x, y in corners]
        sizes = [[part.height // self.patch_size, part.width // self.patch_size] for part in parts]
        strips = np.concatenate([self.strip(part) for part in parts], axis=2)
        return {"pixel_values": strips[None], "tgt_sizes": np.array(sizes, np.int32)}

    def joined(self, each: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        return {
            "pixel_values": np.concatenate([one["pixel_values"] for one in each], axis=3),
            "tgt_sizes": np.concatenate([one["tgt_sizes"] for one in each]),
        }
