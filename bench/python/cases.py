"""Which work is measured, and who does it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from family_cases import FAMILIES, TORCHVISION_ALONE


@dataclass(frozen=True)
class Side:
    """One contestant of a case."""

    library: str
    """A key of ``peers.PEERS``."""
    exact: bool = True
    """Whether its result must have the bytes of mmcpp's; else how far it is off is told."""
    note: str = ""
    """What it does otherwise than the case says."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Of the case's arguments."""


@dataclass(frozen=True)
class Case:
    """One row of a table."""

    group: str
    name: str
    kind: str
    """The method of a library in libraries.py."""
    file: str
    """A key of pictures.py."""
    arguments: dict[str, Any]
    sides: tuple[Side, ...]
    """Beside mmcpp."""


DEFAULT_BUDGET = 12845056
BUDGETS = {"1 Mpx": 1003520, "12.8 Mpx": DEFAULT_BUDGET}
NOT_EXACT = Side("sglang-mm", exact=False)
OTHER_DECODER = Side("opencv", exact=False)


def _decode() -> list[Case]:
    files = {
        "JPEG 1920x1080 4:2:0 q85": "hd_q85.jpg",
        "JPEG 1920x1080 4:2:0 q90": "hd_q90.jpg",
        "JPEG 1920x1080 4:4:4 q95": "hd_444_q95.jpg",
        "JPEG 4000x3000 4:2:0 q85": "phone_q85.jpg",
        "JPEG 4000x3000 4:2:0 q90": "phone_q90.jpg",
        "PNG 1920x1080 photo": "hd_photo.png",
        "PNG 1920x1080 screenshot": "hd_screenshot.png",
        "PNG 1920x1080 screenshot, palette": "hd_palette.png",
        "WebP 1920x1080 q85": "hd_q85.webp",
        "WebP 1920x1080 screenshot, lossless": "hd_screenshot_lossless.webp",
    }
    result = []
    for name, file in files.items():
        bare = (Side("libjpeg-turbo"),) if file.endswith(".jpg") else ()
        sides = (Side("pillow"), *bare, OTHER_DECODER, NOT_EXACT)
        result.append(Case("decode to RGB", name, "decode", file, {}, sides))
    return result


def _resize() -> list[Case]:
    result = []
    shapes = (("hd_photo.npy", 1080, 1920, 756, 1344), ("phone_photo.npy", 3000, 4000, 868, 1148))
    for file, height, width, to_height, to_width in (*shapes, ("vga_photo.npy", 480, 640, 1024, 1024)):
        size = {"height": to_height, "width": to_width}
        name = f"{width}x{height} to {to_width}x{to_height}"
        for chosen in ("bicubic", "lanczos"):
            sides = (Side("pillow"), Side("pillow-simd", exact=False), Side("opencv", exact=False), NOT_EXACT)
            result.append(Case("resize", f"{name} {chosen}", "resize", file, {**size, "filter": chosen}, sides))
        arguments = {**size, "filter": "bicubic", "convention": "aten_u8"}
        result.append(Case("resize", f"{name} torch's", "resize", file, arguments, (Side("hf"), NOT_EXACT)))
    return result


def _preprocess() -> list[Case]:
    result = []
    requests = [("1024x1024", "square_q90.jpg", "12.8 Mpx")]
    requests += [("1920x1080", "hd_q90.jpg", budget) for budget in BUDGETS]
    requests += [("4000x3000", "phone_q90.jpg", budget) for budget in BUDGETS]
    floor = Side("libjpeg-turbo", exact=False, note="decode alone")
    only_f32 = Side("sglang-mm", exact=False, note="f32", changes={"dtype": "float32"})
    for size, file, budget in requests:
        for label, backend, dtype, sides in (
            ("f32", "torchvision", "float32", (Side("hf"), NOT_EXACT, floor)),
            ("u8", "torchvision", "uint8", (Side("hf"), only_f32, floor)),
            ("bf16", "torchvision", "bfloat16", (only_f32, floor)),
            ("f32, Pillow's", "pil", "float32", (Side("hf"), NOT_EXACT, floor)),
        ):
            arguments = {"max_pixels": BUDGETS[budget], "dtype": dtype, "backend": backend}
            name = f"{size}, {budget}, {label}"
            result.append(Case("Qwen2-VL, JPEG q90 to features", name, "preprocess", file, arguments, sides))
    return result


def _families() -> list[Case]:
    result = []
    for name, (cls, settings) in FAMILIES.items():
        for backend in ("torchvision",) if name in TORCHVISION_ALONE else ("torchvision", "pil"):
            arguments = {"class": cls, "settings": settings, "backend": backend}
            label = name if backend == "torchvision" else f"{name}, Pillow's"
            result.append(
                Case(
                    "families, JPEG q90 1920x1080 to features", label, "family", "hd_q90.jpg", arguments, (Side("hf"),)
                )
            )
    return result


def _expand() -> list[Case]:
    shapes = ((10_000, 100, 256), (100_000, 1000, 64), (1000, 1000, 50), (4000, 4000, 50))
    return [
        Case(
            "prompts, ids to expanded ids",
            f"{tokens} tokens, {items} items of {content}",
            "expand",
            "",
            {"tokens": tokens, "items": items, "content": content},
            (Side("vllm"),),
        )
        for tokens, items, content in shapes
    ]


def cases() -> list[Case]:
    """Give all rows of the tables for one thread."""
    return [*_decode(), *_resize(), *_preprocess(), *_families(), *_expand()]


@dataclass(frozen=True)
class Saving:
    """The same pictures made ready for a device in several ways, the first of which is what the others save on."""

    name: str
    kind: str
    file: str
    ways: tuple[tuple[str, dict[str, Any]], ...]
    """Names, and arguments of the method of that kind."""


def savings() -> list[Saving]:
    """Give the rows about what bytes, one frame of two, and the cache save."""
    one = {"max_pixels": DEFAULT_BUDGET, "dtype": "float32"}
    u8 = {**one, "dtype": "uint8"}
    types = (
        ("f32", one),
        ("bf16", {**one, "dtype": "bfloat16"}),
        ("u8", u8),
        ("u8, one of two equal frames", {**u8, "frames": 1}),
    )
    shares = tuple(
        (f"{dtype}, {known} of 8 cached", {"max_pixels": DEFAULT_BUDGET, "dtype": name, "pictures": 8, "known": known})
        for dtype, name in (("f32", "float32"), ("u8", "uint8"))
        for known in (0, 4, 8)
    )
    return [
        Saving("a 1920x1080 JPEG", "preprocess", "hd_q90.jpg", types),
        Saving("8 1920x1080 JPEGs", "cached", "hd_q90.jpg", shares),
    ]


@dataclass(frozen=True)
class Scaling:
    """The same work on one thread and on two."""

    name: str
    kind: str
    file: str
    arguments: dict[str, Any]
    one: dict[str, Any]
    """Of the arguments, on one thread."""
    two: dict[str, Any]
    pool: int
    """MMCPP_THREADS on the side of two."""
    work: int
    """How much more work the side of two does."""


def scalings() -> list[Scaling]:
    """Give the rows about threads; the first is the machine's own, which bounds the others."""
    name = "two sums by SHA-256, not mmcpp's"
    result = [Scaling(name, "hashes", "hd_q90.jpg", {}, {"threads": 1}, {"threads": 2}, 1, 2)]
    for budget, pixels in BUDGETS.items():
        arguments = {"max_pixels": pixels, "dtype": "float32"}
        result.append(
            Scaling(
                f"two times 8 requests of 1920x1080, {budget}, f32",
                "requests",
                "hd_q90.jpg",
                arguments | {"each": 8},  # so many that the wait for the slower thread at the end counts little
                {"threads": 1},
                {"threads": 2},
                1,
                2,
            )
        )
        name = f"one 4000x3000 picture after decode, {budget}, f32"
        result.append(Scaling(name, "preprocess", "phone_photo.npy", arguments, {}, {}, 2, 1))
    return result
