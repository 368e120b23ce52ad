"""A user's program with types. mypy --strict, which `./dev lint python` runs, must have nothing to say of it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import mmcpp
from mmcpp.cache import ItemCache
from mmcpp.hashing import ItemScope
from mmcpp.spec import preset_spec


class Service:
    """Features of pictures with a cache, and whole requests."""

    def __init__(self) -> None:
        spec = preset_spec("qwen2_vl")
        self.processor = mmcpp.ImageProcessor.from_spec(spec)
        self.pipeline = mmcpp.Pipeline.from_spec(spec, limits=mmcpp.DecodeLimits(max_side=4096))
        self.scope = ItemScope("qwen2_vl", spec, dtype="float32")
        self.cache: ItemCache[npt.NDArray[np.float32]] = ItemCache(1 << 28)

    def features(self, pictures: Sequence[bytes]) -> list[npt.NDArray[np.float32]]:
        def make(missing: list[int]) -> list[npt.NDArray[np.float32]]:
            found: list[npt.NDArray[np.float32]] = []
            for i in missing:
                found.append(self.processor(pictures[i])["pixel_values"])
            return found

        return self.cache.get_or_process([self.scope.key(picture) for picture in pictures], make)

    def request(self, prompt: Sequence[int], pictures: Sequence[bytes | Path]) -> mmcpp.Response | str:
        try:
            return self.pipeline.process(input_ids=prompt, images=pictures, timeout=60.0)
        except mmcpp.MmError as error:
            return f"{error.code} of picture {error.item}"


def run(path: Path) -> tuple[int, list[tuple[int, int]], str]:
    """Give how many rows a picture has, where it stands in a prompt, and what is said of no picture."""
    service = Service()
    picture = path.read_bytes()
    info: mmcpp.ImageInfo = mmcpp.image_info(picture)
    pixels: npt.NDArray[np.uint8] = mmcpp.decode_image(picture, profile="hf")
    smaller: npt.NDArray[np.uint8] = mmcpp.resize(pixels, info.height // 2, info.width // 2, filter="lanczos")
    assert smaller.shape == (info.height // 2, info.width // 2, 3)
    rows = service.features([picture, picture])[0].shape[0]
    response = service.request([1, 151655, 2], [path])
    refusal = service.request([1, 151655, 2], [b"none"])
    assert not isinstance(response, str) and isinstance(refusal, str)
    plan: mmcpp.ItemPlan = service.pipeline.plan(info.height, info.width)
    assert plan.tokens == response.items[0].plan.tokens
    return rows, response.offsets, refusal
