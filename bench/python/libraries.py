"""What each library does with a case, in a process of its own that has this library.

A job is what is timed, and how its result becomes an array to compare. Nothing but numpy and the library
asked for is imported, so that the libraries need not get along with each other.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.machinery
import importlib.metadata
import importlib.util
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stand_ins import StandIns


class Job(NamedTuple):
    """A case, ready to run."""

    run: Callable[[], Any]
    array: Callable[[Any], np.ndarray] = np.asarray
    """Of what ``run`` gave; not timed."""


Case = dict[str, Any]
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)  # CLIP's
MIN_PIXELS = 56 * 56


def _data(case: Case) -> bytes:
    return Path(case["file"]).read_bytes()


def _features(result: Any) -> np.ndarray:
    """Those of a result, one behind another where there are several; numpy has no bfloat16."""
    values = [value for name, value in sorted(result.items()) if "pixel_values" in name]
    arrays = [np.asarray(value.float() if hasattr(value, "float") else value) for value in values]
    return arrays[0] if len(arrays) == 1 else np.concatenate([array.ravel() for array in arrays])


def _prompt(case: Case) -> tuple[list[int], list[int], int]:
    """Token ids in which items stand at equal distances, what stands for each, and how many there are."""
    prompt = [5] * case["tokens"]
    for i in range(case["items"]):
        prompt[i * (case["tokens"] // case["items"])] = 0
    return prompt, [1] * case["content"], case["items"]


class Mmcpp:
    """This project."""

    def __init__(self) -> None:
        """Import it."""
        import mmcpp
        from mmcpp.spec import preset_spec

        self._mmcpp, self._spec = mmcpp, preset_spec
        self.version = f"{mmcpp.__version__} {mmcpp.build_info().isa}"

    def decode(self, case: Case) -> Job:
        """Bytes to an array."""
        data = _data(case)
        return Job(lambda: self._mmcpp.decode_image(data))

    def resize(self, case: Case) -> Job:
        """Array to array."""
        source, height, width = np.load(case["file"]), case["height"], case["width"]
        options = {"filter": case["filter"], "convention": case.get("convention", "pillow")}
        return Job(lambda: self._mmcpp.resize(source, height, width, **options))

    def _processor(self, case: Case) -> Any:
        spec = self._spec("qwen2_vl", backend=case.get("backend", "torchvision"))
        changes = {"max_pixels": case["max_pixels"], "temporal_patch_size": case.get("frames", 2)}
        return self._mmcpp.ImageProcessor.from_spec(spec | changes)

    def preprocess(self, case: Case) -> Job:
        """Bytes, or the array of an .npy file, to Qwen2-VL's features."""
        processor, dtype = self._processor(case), case["dtype"]
        source = np.load(case["file"]) if case["file"].endswith(".npy") else _data(case)
        return Job(lambda: processor(source, dtype=dtype), lambda result: result["pixel_values"])

    def family(self, case: Case) -> Job:
        """Bytes to the features of a checkpoint's folder."""
        data = _data(case)
        with tempfile.TemporaryDirectory() as folder:
            settings = {"image_processor_type": case["class"], **case["settings"]}
            Path(folder, "preprocessor_config.json").write_text(json.dumps(settings))
            processor = self._mmcpp.ImageProcessor.from_pretrained(folder, backend=case["backend"])
        return Job(lambda: processor(data), _features)

    def requests(self, case: Case) -> Job:
        """Threads at the same time, each with so many requests one after the other."""
        processor, data, threads = self._processor(case), _data(case), case["threads"]
        pool = ThreadPoolExecutor(threads)

        def serve(_: int) -> Any:
            for _ in range(case["each"] - 1):
                processor(data, dtype=case["dtype"])
            return processor(data, dtype=case["dtype"])

        def run() -> list[Any]:
            return list(pool.map(serve, range(threads)))

        return Job(run, lambda results: results[0]["pixel_values"])

    def hashes(self, case: Case) -> Job:
        """A SHA-256 sum by each thread, at the same time: what the machine itself gives them."""
        data, threads = bytes(128 << 20), case["threads"]
        pool = ThreadPoolExecutor(threads)

        def run() -> list[bytes]:
            return list(pool.map(lambda _: hashlib.sha256(data).digest(), range(threads)))

        return Job(run, lambda sums: np.frombuffer(sums[0], np.uint8))

    def cached(self, case: Case) -> Job:
        """A request of pictures, some of which were seen before; gives the features that the device has not."""
        from mmcpp.cache import ItemCache

        processor, dtype, known = self._processor(case), case["dtype"], case["known"]
        files = [_data(case) + bytes([i]) for i in range(case["pictures"])]  # what follows a JPEG is not looked at
        cache: Any = ItemCache(1 << 30)

        def make(missing: list[int]) -> list[Any]:
            return [processor(files[i], dtype=dtype)["pixel_values"] for i in missing]

        def request() -> tuple[list[str], list[int], list[Any]]:
            keys = [self._mmcpp.content_digest(data).hex() for data in files]
            new = [i for i, key in enumerate(keys) if not cache.contains(key)]
            return keys, new, cache.get_or_process(keys, make)

        def run() -> list[Any]:
            keys, new, features = request()
            for i in new:
                cache.invalidate(keys[i])
            return [features[i] for i in new]

        keys, _, features = request()
        if any((one != other).any() for one, other in zip(features, make(list(range(len(files)))), strict=True)):
            raise ValueError("the cache gives other features")
        for key in keys[known:]:
            cache.invalidate(key)
        return Job(run, lambda sent: np.stack(sent) if sent else np.empty(0, np.uint8))

    def expand(self, case: Case) -> Job:
        """Token ids and rules to expanded ids and where the items stand."""
        from mmcpp.prompt import PromptUpdate, bind_updates, expand_prompt

        prompt, content, items = _prompt(case)
        rules = [PromptUpdate.replacement("image", [0], content)]

        def array(expanded: Any) -> np.ndarray:
            places = [number for where in expanded.placeholders["image"] for number in (where.offset, where.length)]
            return np.concatenate([expanded.ids, np.array(places)])

        return Job(lambda: expand_prompt(prompt, bind_updates(rules, {"image": items})), array)


class Pillow:
    """Pillow 13, and pillow-simd, which has the same module's name."""

    def __init__(self) -> None:
        """Import it."""
        from PIL import Image, __version__

        self._image, self.version = Image, __version__

    def decode(self, case: Case) -> Job:
        """As users do it."""
        data = _data(case)
        return Job(lambda: np.asarray(self._image.open(io.BytesIO(data)).convert("RGB")))

    def resize(self, case: Case) -> Job:
        """Image to image: the copies from and to arrays are left out, in its favour."""
        source = self._image.fromarray(np.load(case["file"]))
        size = case["width"], case["height"]
        chosen = getattr(self._image, "Resampling", self._image)[case["filter"].upper()]
        return Job(lambda: source.resize(size, chosen))


class OpenCV:
    """cv2: its decoders and filters give other bytes."""

    def __init__(self) -> None:
        """Import it."""
        import cv2

        cv2.setNumThreads(1)
        self._cv2, self.version = cv2, cv2.__version__

    def decode(self, case: Case) -> Job:
        """Bytes to an array in BGR, as OpenCV has it; converted only to compare."""
        data = np.frombuffer(_data(case), np.uint8)
        flags = self._cv2.IMREAD_COLOR
        return Job(lambda: self._cv2.imdecode(data, flags), lambda bgr: np.ascontiguousarray(bgr[:, :, ::-1]))

    def resize(self, case: Case) -> Job:
        """Without an antialiasing filter: a few taps, however much smaller the result is."""
        source, size = np.load(case["file"]), (case["width"], case["height"])
        how = {"bicubic": self._cv2.INTER_CUBIC, "lanczos": self._cv2.INTER_LANCZOS4}[case["filter"]]
        return Job(lambda: self._cv2.resize(source, size, interpolation=how))


class HuggingFace:
    """The processors of transformers, torchvision's or Pillow's arithmetic; and torch's resize."""

    def __init__(self) -> None:
        """Import them."""
        import torch
        import torchvision
        import transformers
        from PIL import Image

        torch.set_num_threads(1)
        self._torch, self._image, self._transformers = torch, Image, transformers
        self.version = f"transformers {transformers.__version__}, torchvision {torchvision.__version__}"

    def resize(self, case: Case) -> Job:
        """torch.nn.functional.interpolate on uint8 in the memory format that it is fastest in."""
        source = self._torch.from_numpy(np.load(case["file"])).permute(2, 0, 1)[None]  # channels last
        size = case["height"], case["width"]

        def run() -> Any:
            return self._torch.nn.functional.interpolate(source, size, mode="bicubic", antialias=True)

        return Job(run, lambda result: np.ascontiguousarray(result[0].permute(1, 2, 0).numpy()))

    def preprocess(self, case: Case) -> Job:
        """Pillow opens the file, as users do."""
        data = _data(case)
        suffix = "" if case["backend"] == "torchvision" else "Pil"
        options: dict[str, Any] = {}
        if case["dtype"] == "uint8":
            options = {"do_rescale": False, "do_normalize": False}
        processor = getattr(self._transformers, f"Qwen2VLImageProcessor{suffix}")(
            size={"shortest_edge": MIN_PIXELS, "longest_edge": case["max_pixels"]},
            image_mean=list(MEAN),
            image_std=list(STD),
            **options,
        )
        kind = "pt" if case["backend"] == "torchvision" else "np"
        return Job(
            lambda: processor(images=[self._image.open(io.BytesIO(data))], return_tensors=kind),
            lambda result: np.asarray(result["pixel_values"]),
        )

    def family(self, case: Case) -> Job:
        """The class with the checkpoint's settings; Pillow opens the file, as users do."""
        data = _data(case)
        suffix = "" if case["backend"] == "torchvision" else "Pil"
        processor = getattr(self._transformers, case["class"] + suffix)(**case["settings"])
        kind = "pt" if case["backend"] == "torchvision" else "np"

        return Job(lambda: processor(images=[self._image.open(io.BytesIO(data))], return_tensors=kind), _features)


class SglangMm:
    """The reference crate as sglang's wheel carries it; nothing else of sglang is loaded."""

    def __init__(self) -> None:
        """Load the extension alone: its package would import all of sglang."""
        spec = importlib.util.find_spec("sglang")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("no sglang")
        folder = Path(spec.submodule_search_locations[0], "srt", "rust_extensions")
        path = next(folder.glob("_multimodal.*.so"))
        loader = importlib.machinery.ExtensionFileLoader("_multimodal", str(path))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_multimodal", loader))  # type: ignore[arg-type]
        loader.exec_module(module)
        self._module = module
        self.version = importlib.metadata.version("sglang")

    def decode(self, case: Case) -> Job:
        """Bytes to a flat array; JPEG to within a few levels."""
        data = _data(case)
        return Job(
            lambda: self._module.common.image_decode_rgb(data),
            lambda result: np.asarray(result[2]).reshape(result[0], result[1], 3),
        )

    def resize(self, case: Case) -> Job:
        """Array to a flat array."""
        source, height, width = np.load(case["file"]), case["height"], case["width"]
        name = "aten_u8" if case.get("convention") == "aten_u8" else f"pil_{case['filter']}"
        return Job(
            lambda: self._module.common.resize_rgb(source, width, height, name),
            lambda flat: np.asarray(flat).reshape(height, width, 3),
        )

    def preprocess(self, case: Case) -> Job:
        """Bytes to float32 features: it has no other dtype."""
        data = _data(case)
        spec = json.dumps(
            {
                "image_token_id": 151655,
                "patch_size": 14,
                "merge_size": 2,
                "temporal_patch_size": 2,
                "min_pixels": MIN_PIXELS,
                "max_pixels": case["max_pixels"],
                "image_mean": MEAN,
                "image_std": STD,
                "resample": "aten_u8" if case["backend"] == "torchvision" else "pil",
            }
        )
        return Job(
            lambda: self._module.qwen_vl.preprocess(data, spec),
            lambda result: np.asarray(result[0]).reshape(result[1][1] * result[1][2], -1),
        )


class Vllm:
    """vLLM's planner of prompts: the modules that it consists of, with stand-ins for whatever else they import."""

    REAL = (
        "multimodal.inputs",
        "multimodal.parse",
        "multimodal.processing.context",
        "multimodal.processing.dummy_inputs",
        "multimodal.processing.inputs",
        "multimodal.processing.processor",
        "multimodal.utils",
        "utils.collection_utils",
        "utils.import_utils",
        "utils.jsontree",
    )

    def __init__(self) -> None:
        """Import the planner: importing all of vLLM would need torch and a hundred packages."""
        spec = importlib.util.find_spec("vllm")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("no vllm")
        stand_ins = StandIns(Path(spec.submodule_search_locations[0]), self.REAL)
        sys.meta_path.insert(0, stand_ins)
        try:
            self._module = importlib.import_module("vllm.multimodal.processing.processor")
        finally:
            sys.meta_path.remove(stand_ins)
        self.version = importlib.metadata.version("vllm")

    def expand(self, case: Case) -> Job:
        """The function that its processors call: ids and resolved updates to ids and placeholders."""
        prompt, content, items = _prompt(case)
        rule = self._module.PromptReplacement("image", [0], content)

        def run() -> Any:
            updates = {"image": [[rule.resolve(i)] for i in range(items)]}
            return self._module._apply_token_matches_with_placeholders(prompt, updates)

        def array(result: Any) -> np.ndarray:
            places = [number for where in result[2]["image"] for number in (where.start_idx, len(where.tokens))]
            return np.array(result[0] + places)

        return Job(run, array)


class BareJpeg:
    """libjpeg-turbo alone, into a buffer that is there already: the floor under every JPEG."""

    def __init__(self) -> None:
        """Load what peers.py compiled from bare_jpeg.c."""
        self._library = ctypes.CDLL(os.environ["BARE_JPEG_LIBRARY"])
        self._library.bare_version.restype = ctypes.c_char_p
        self.version = self._library.bare_version().decode()

    def decode(self, case: Case) -> Job:
        """Bytes into the buffer."""
        data = _data(case)
        sides = (ctypes.c_int * 2)()
        if self._library.bare_size(data, ctypes.c_size_t(len(data)), sides) != 0:
            raise ValueError("no JPEG")
        pixels = np.zeros((sides[0], sides[1], 3), np.uint8)
        pointer = pixels.ctypes.data_as(ctypes.c_void_p)

        def run() -> np.ndarray:
            if self._library.bare_decode(data, ctypes.c_size_t(len(data)), pointer) != 0:
                raise ValueError("no JPEG")
            return pixels

        return Job(run)

    preprocess = decode
    """What no preprocessing of the file can go below."""


LIBRARIES: dict[str, Callable[[], Any]] = {
    "mmcpp": Mmcpp,
    "pillow": Pillow,
    "pillow-simd": Pillow,
    "opencv": OpenCV,
    "hf": HuggingFace,
    "sglang-mm": SglangMm,
    "vllm": Vllm,
    "libjpeg-turbo": BareJpeg,
}
