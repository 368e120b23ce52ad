"""What the parity tests of families share: transformers' image processors run with the arithmetic of either backend,
and a tokenizer small enough to make in a test."""

import contextlib
import enum
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from PIL import Image

import mmcpp
from samples import noise, smooth

SIZES = [
    (1, 5), (5, 1), (3, 3), (2, 300), (300, 2), (28, 28), (27, 100), (100, 76), (333, 77), (120, 160), (224, 224),
    (250, 333), (350, 700),
]  # fmt: skip
MODES = ["RGB", "L", "RGBA", "P", "CMYK"]


def picture_in(mode: str, height: int, width: int) -> Image.Image:
    """A picture of some size and mode."""
    image = Image.fromarray(smooth(height, width))
    if mode == "RGBA":
        image.putalpha(Image.fromarray(noise(height, width, 1)[:, :, 0]))
        return image
    return image.convert(mode)


@contextlib.contextmanager
def torchvision_arithmetic() -> Iterator[None]:
    """Let transformers' PIL classes resize and normalise as its torchvision classes do, by torch's own operations, so
    that torchvision need not be there."""
    import torch
    from transformers import image_processing_backends as backends

    torch.set_num_threads(1)  # small pictures, and other tests may run beside this one
    filters = {2: "bilinear", 3: "bicubic"}

    def resize(image, size, resample, **_options):
        if image.shape[-2:] == tuple(size):
            return image
        return torch.nn.functional.interpolate(
            torch.from_numpy(np.ascontiguousarray(image))[None],
            tuple(size),
            mode=filters[int(resample)],
            antialias=True,
            align_corners=False,
        )[0].numpy()

    def normalize(image, mean, std, **_options):
        assert image.dtype == np.uint8
        fused_mean, fused_std = (torch.tensor(values) * (1.0 / (1 / 255)) for values in (mean, std))
        values = torch.from_numpy(np.ascontiguousarray(image)).to(torch.float32)
        return values.sub(fused_mean[:, None, None]).div(fused_std[:, None, None]).numpy()

    changes = {"np_resize": resize, "np_rescale": lambda image, **_options: image, "np_normalize": normalize}
    with contextlib.ExitStack() as stack:
        for name, change in changes.items():
            stack.enter_context(mock.patch.object(backends, name, change))
        yield


class _TorchvisionFunctions:
    """What transformers' torchvision classes call of torchvision, by torch's own operations."""

    class InterpolationMode(enum.Enum):
        NEAREST = "nearest"
        BILINEAR = "bilinear"
        BICUBIC = "bicubic"
        LANCZOS = "lanczos"

    @staticmethod
    def resize(image, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
        import torch

        if image.shape[-2:] == tuple(size):
            return image
        whole = image if image.ndim == 4 else image[None]
        mode = _MODES.get(interpolation, interpolation).value  # numbers are Pillow's
        resized = torch.nn.functional.interpolate(
            whole, tuple(map(int, size)), mode=mode, antialias=antialias, align_corners=False
        )
        return resized if image.ndim == 4 else resized[0]

    @staticmethod
    def normalize(image, mean, std, inplace):
        import torch

        mean, std = (torch.as_tensor(values, dtype=image.dtype)[:, None, None] for values in (mean, std))
        return image.sub(mean).div(std)

    @staticmethod
    def pad(image, padding, fill=0, padding_mode="constant"):
        import torch

        assert padding_mode == "constant"
        left, top, right, bottom = map(int, padding)
        colors = fill if isinstance(fill, (list, tuple)) else [fill] * image.shape[-3]
        sides = (left, right, top, bottom)
        planes = [torch.nn.functional.pad(image[..., i, :, :], sides, value=c) for i, c in enumerate(colors)]
        return torch.stack(planes, dim=-3)

    @staticmethod
    def grayscale_to_rgb(image):
        return image.expand(3, -1, -1) if image.shape[-3] == 1 else image


_MODES = {i + 1: _TorchvisionFunctions.InterpolationMode[n] for i, n in enumerate(("LANCZOS", "BILINEAR", "BICUBIC"))}


@contextlib.contextmanager
def torchvision_stand_in() -> Iterator[None]:
    """Let transformers' torchvision classes be imported and run without torchvision."""
    import torch
    from transformers import image_processing_backends as backends

    if importlib.util.find_spec("torchvision") is not None:
        yield
        return
    torch.set_num_threads(1)
    functions = _TorchvisionFunctions
    names = ("torchvision", "torchvision.transforms", "torchvision.transforms.v2")
    modules = {name: ModuleType(name) for name in names}
    modules[names[0]].transforms, modules[names[1]].v2 = modules[names[1]], modules[names[2]]
    modules[names[2]].functional = modules[f"{names[2]}.functional"] = functions
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(sys.modules, modules))
        stack.enter_context(mock.patch.object(backends, "tvF", functions, create=True))
        stack.enter_context(mock.patch.object(backends, "pil_torch_interpolation_mapping", _MODES))
        stack.enter_context(mock.patch.object(backends, "is_torchvision_greater_or_equal", lambda _version: True))
        yield


def torchvision_only(model: str, name: str, **arguments: object):
    """An image processor of transformers that there is for torchvision alone."""
    import torch

    with torchvision_stand_in():
        module = importlib.import_module(f"transformers.models.{model}.image_processing_{model}")
        processor = getattr(module, name)(**arguments)

    class Standing:
        """Runs it where there is no torchvision."""

        backend = "torchvision"
        whole = processor

        def __call__(self, images, return_tensors):
            with torchvision_stand_in():
                values = processor(images, return_tensors="pt")
            values = {name: torch.as_tensor(value) for name, value in values.items()}
            # numpy has no bfloat16
            return {name: (v.float() if v.dtype.is_floating_point else v).numpy() for name, v in values.items()}

        def __getattr__(self, name):
            return getattr(processor, name)

    return Standing()


class Both(NamedTuple):
    """The processors of the two backends, where torchvision's is run itself."""

    pil: Any
    torchvision: Any
    nested: bool = False
    """Whether a batch is given as samples of one picture."""
    backend: str = "both"

    @classmethod
    def of(cls, model: str, name: str, nested: bool = False, **arguments: object) -> "Both":
        slow = importlib.import_module(f"transformers.models.{model}.image_processing_pil_{model}")
        return cls(getattr(slow, f"{name}Pil")(**arguments), torchvision_only(model, name, **arguments), nested)


def run(theirs: Any, backend: str, images: Any) -> dict[str, np.ndarray]:
    """What a processor gives in the arithmetic of a backend."""
    if isinstance(theirs, Both):
        if theirs.nested and isinstance(images, list):
            images = [[image] for image in images]
        return dict(getattr(theirs, backend)(images, return_tensors="np"))
    with running(theirs, backend):
        return theirs(images, return_tensors="np")


def backends_of(theirs) -> tuple[str, ...]:
    """Those that a processor can be run for: a class for PIL stands for both."""
    if isinstance(theirs, Both):
        return ("pil", "torchvision")
    return ("pil", "torchvision") if theirs.backend == "pil" else (theirs.backend.partition(" ")[0],)


@contextlib.contextmanager
def running(theirs, backend: str) -> Iterator[None]:
    """Let a processor run with the arithmetic of a backend."""
    with torchvision_arithmetic() if (theirs.backend, backend) == ("pil", "torchvision") else contextlib.nullcontext():
        yield


def processing(model: str) -> ModuleType:
    """The module of a model's processor; some import torchvision, which their rules for prompts do not use."""
    names = ("torchvision", "torchvision.transforms", "torchvision.transforms.v2")
    stand_ins = {name: mock.MagicMock() for name in names if name not in sys.modules}
    importlib.import_module("transformers.image_processing_utils")  # torch's part of it can be imported only once
    with mock.patch.dict(sys.modules, stand_ins):
        return importlib.import_module(f"transformers.models.{model}.processing_{model}")


def assert_equal(ours: dict, theirs: dict, unused: Sequence[str] = ()) -> None:
    """Names, dtypes, shapes and bytes."""
    assert sorted(ours) == sorted(name for name in theirs if name not in unused)
    for name, value in ours.items():
        expected = np.asarray(theirs[name])
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape), name
        assert value.tobytes() == expected.tobytes(), f"{name} differs in {(value != expected).sum()} values"


def compare(
    spec_of: Callable[[str], dict], theirs, unused: Sequence[str] = (), more_sizes: Sequence[tuple[int, int]] = ()
) -> int:
    """Our processor of ``spec_of(backend)`` against theirs, each size in each mode, for the backends that theirs has;
    then a batch. A size that theirs refuses must be refused. Gives the number of comparisons for each."""
    cases = 0
    for backend in backends_of(theirs):
        ours = mmcpp.ImageProcessor.from_spec(spec_of(backend))
        images = [picture_in(mode, *size) for size in (*SIZES, *more_sizes) for mode in MODES]
        refused = 0
        for image in images:
            try:
                expected = run(theirs, backend, image)
            except ValueError:
                refused += 1
                with pytest.raises(ValueError):
                    ours(image)
                continue
            assert_equal(ours(image), expected, unused)
        batch = [images[i] for i in (3, 36, 40, 27)]
        assert_equal(ours(batch), run(theirs, backend, batch), unused)
        cases = len(images) - refused + 1
    return cases


class Tokens:
    """A tokenizer whose vocabulary is a list of special tokens; any other text is one unknown token."""

    def __init__(self, *names: str) -> None:
        from tokenizers import Tokenizer, models

        self._tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        self._tokenizer.add_special_tokens(list(names))

    def __call__(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def id(self, name: str) -> int:
        return self._tokenizer.token_to_id(name)


def compare_prompt(
    spec: dict,
    tokens: Tokens,
    placeholder: str,
    replacement: Callable[[dict, int], str],
    theirs,
    numbered: bool = False,
) -> None:
    """The expansion of a prompt with pictures against ``replacement``, transformers' rule for one picture.

    Args:
        numbered: whether a picture's number is part of it; one alone is number 0.
    """
    sizes = SIZES[5:] + SIZES[:3]
    pictures = [smooth(*size) for size in sizes]
    pipeline = mmcpp.Pipeline.from_spec(spec)
    texts = ["begin", *(f"[{'x' * i}]" for i in range(1, len(sizes))), "end"]
    inputs = run(theirs, backends_of(theirs)[0], [Image.fromarray(picture) for picture in pictures])
    expanded = texts[0] + "".join(replacement(inputs, i) + text for i, text in enumerate(texts[1:]))
    response = pipeline.process(input_ids=tokens(placeholder.join(texts)), images=pictures)
    assert response.input_ids.tolist() == tokens(expanded)
    planned = pipeline.plan_request(input_ids=tokens(placeholder.join(texts)), sizes=sizes)
    assert planned.input_ids.tobytes() == response.input_ids.tobytes()
    assert planned.offsets == response.offsets
    assert planned.items == [item.plan for item in response.items]
    assert planned.position_delta == response.position_delta
    np.testing.assert_array_equal(planned.positions, response.positions)
    image_token = spec["image_token_id"]
    for i, (size, item, (first, last)) in enumerate(zip(sizes, response.items, response.offsets, strict=True)):
        further_digits = len(str(i)) - 1 if numbered else 0
        assert pipeline.count_tokens(*size) + further_digits == item.plan.tokens >= last - first + 1
        assert image_token in response.input_ids[first : last + 1]
