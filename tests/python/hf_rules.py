"""Image processors that transformers does not have, by their rule, slowly: numpy and Pillow, picture by picture."""

import math

import numpy as np
from PIL import Image
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
