"""Writes the seeds of the fuzz targets, and decode_*.json in tests/golden: what Pillow 13 makes of each seed, for the
C++ tests.

    PYTHONPATH=../python python generate_seeds.py

Needs mmcpp, Pillow 13.0.0 and, for the arithmetic-coded one, cjpeg of libjpeg-turbo-progs. A digest is FNV-1a over
the RGB bytes.
"""

import contextlib
import io
import json
import struct
import subprocess
from pathlib import Path

import seeds_lossless
from PIL import Image

import jpeg_writer
from pictures import encode, picture, pillow

HERE = Path(__file__).resolve().parent

FRONT = HERE / "corpus/decode_fuzz"
INFLATE = HERE / "corpus/inflate_fuzz"
HEIGHT, WIDTH = 13, 19


def fnv(data: bytes) -> str:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def exif(orientation: int, order: str = "<") -> bytes:
    head = b"II*\0" if order == "<" else b"MM\0*"
    entry = struct.pack(order + "HHLHH", 0x112, 3, 1, orientation, 0)
    return b"Exif\0\0" + head + struct.pack(order + "LH", 8, 1) + entry + b"\0\0\0\0"


def without_segment(data: bytes, marker: int) -> bytes:
    at = data.index(bytes([0xFF, marker]))
    return data[:at] + data[at + 2 + int.from_bytes(data[at + 2 : at + 4], "big") :]


def jpegs() -> dict[str, bytes]:
    rgb, gray, cmyk = (picture(mode, HEIGHT, WIDTH) for mode in ("RGB", "L", "CMYK"))
    files = {
        "rgb444": encode(rgb, "JPEG", quality=80, subsampling=0),
        "rgb422": encode(rgb, "JPEG", quality=80, subsampling=1),
        "rgb420": encode(rgb, "JPEG", quality=80, subsampling=2),
        "progressive": encode(rgb, "JPEG", quality=80, progressive=True),
        "optimized": encode(rgb, "JPEG", quality=80, optimize=True),
        "restart": encode(rgb, "JPEG", quality=80, restart_marker_blocks=1),
        "kept_rgb": encode(rgb, "JPEG", quality=80, keep_rgb=True),
        "gray": encode(gray, "JPEG", quality=80),
        "gray_progressive": encode(gray, "JPEG", quality=80, progressive=True),
        "cmyk": encode(cmyk, "JPEG", quality=80),
        "cmyk_progressive": encode(cmyk, "JPEG", quality=80, progressive=True),
        "one_pixel": encode(picture("RGB", 1, 1), "JPEG"),
    }
    adobe = files["cmyk"].index(b"Adobe") + 11
    files["ycck"] = files["cmyk"][:adobe] + b"\2" + files["cmyk"][adobe + 1 :]
    files["cmyk_without_adobe"] = without_segment(files["cmyk"], 0xEE)
    for orientation in range(1, 9):
        order = "<>"[orientation % 2]
        files[f"orientation{orientation}"] = encode(rgb, "JPEG", quality=50, exif=exif(orientation, order))
    files["xmp"] = encode(rgb, "JPEG", quality=50, xmp=b'<x tiff:Orientation="6"/>')
    multi = io.BytesIO()
    rgb.save(multi, "MPO", save_all=True, append_images=[picture("RGB", HEIGHT, WIDTH, 5)], quality=50)
    files["mpo"] = multi.getvalue()
    odd = {
        "sampling410": {"sampling": ((4, 2), (1, 1), (1, 1))},
        "sampling440": {"sampling": ((1, 2), (1, 1), (1, 1))},
        "sampling_odd": {"sampling": ((2, 1), (1, 2), (2, 2))},
        "sampling_illegal": {"sampling": ((3, 1), (2, 1), (1, 1))},
        "scans": {"sampling": ((2, 2), (1, 1), (1, 1)), "interleaved": False},
        "spectral": {"sampling": ((2, 1), (1, 1), (1, 1)), "progressive": True, "restart": 1},
        "two_components": {"sampling": ((1, 1), (1, 1))},
        "twelve_bits": {"sampling": ((1, 1),), "precision": 12, "sof": 0xC1},
        "lossless": {"sampling": ((1, 1),), "sof": 0xC3},
        "no_rows": {"sampling": ((1, 1),), "height": 0},
    }
    for seed, (name, frame) in enumerate(odd.items()):
        files[name] = jpeg_writer.write(jpeg_writer.Frame(**{"height": HEIGHT, "width": WIDTH, "seed": seed} | frame))
    whole = files["rgb420"]
    files["without_eoi"] = whole[:-2]
    files["cut"] = whole[: len(whole) - 40]
    files["cut_with_eoi"] = files["cut"] + b"\xff\xd9"
    files["header_alone"] = whole[: whole.index(b"\xff\xda")]
    files["junk_before_marker"] = whole[:2] + b"\xff\xff\xe5\0\2junk" + whole[2:]
    ppm = io.BytesIO()
    rgb.save(ppm, "PPM")
    files["arithmetic"] = subprocess.run(
        ["/usr/bin/cjpeg", "-arithmetic", "-quality", "80"], input=ppm.getvalue(), capture_output=True, check=True
    ).stdout
    return files


def webps() -> dict[str, bytes]:
    rgb, rgba = (picture(mode, HEIGHT, WIDTH) for mode in ("RGB", "RGBA"))
    more = [picture("RGBA", HEIGHT, WIDTH, seed) for seed in (1, 2)]
    files = {
        "lossy": encode(rgb, "WEBP", quality=70),
        "lossy_alpha": encode(rgba, "WEBP", quality=70),
        "lossless": encode(rgb, "WEBP", lossless=True),
        "lossless_alpha": encode(rgba, "WEBP", lossless=True, exact=True),
        "one_pixel": encode(picture("RGB", 1, 1), "WEBP"),
        "animated": encode(rgba, "WEBP", save_all=True, append_images=more, quality=70),
        "orientation6": encode(rgba, "WEBP", quality=50, exif=exif(6)),
        "xmp": encode(rgb, "WEBP", quality=50, xmp=b"<tiff:Orientation>8</tiff:Orientation>"),
        "icc": encode(rgb, "WEBP", quality=50, icc_profile=b"not a profile"),
    }
    moved = bytearray(files["animated"])
    frame = moved.index(b"ANMF")
    moved[24:30] = (WIDTH + 9).to_bytes(3, "little") + (HEIGHT + 6).to_bytes(3, "little")
    moved[frame + 8 : frame + 14] = (3).to_bytes(3, "little") + (2).to_bytes(3, "little")  # times 2
    files["moved_frame"] = bytes(moved)
    files["cut"] = files["lossy"][:-9]
    files["header_alone"] = files["lossless"][:25]
    return files


def others() -> dict[str, bytes]:
    """One of each format, and of some that are refused by name."""
    rgb = picture("RGB", 5, 7)
    names = {"PNG": "png", "GIF": "gif", "BMP": "bmp", "DIB": "dib", "TIFF": "tif", "ICO": "ico", "PPM": "ppm"}
    files = {f"picture.{suffix}": encode(rgb, name) for name, suffix in names.items()}
    files["heic.bin"] = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"
    files["page.html"] = b"<!DOCTYPE html><title>404</title>"
    return files


def golden(path: Path, data: bytes) -> dict[str, object]:
    result: dict[str, object] = {"file": path.relative_to(HERE).as_posix()}
    if pillow(data) is None:
        return result | {"refused": True}
    image = Image.open(io.BytesIO(data))
    result |= {"height": image.height, "width": image.width, "mode": image.mode}
    result["frames"] = getattr(image, "n_frames", 1)
    result["orientation"] = 1
    with contextlib.suppress(Exception):  # metadata that cannot be read
        orientation = image.getexif().get(0x112, 1)
        result["orientation"] = orientation if 1 <= orientation <= 8 else 1
    seen = {profile: pillow(data, profile) for profile in ("pillow", "hf", "vllm")}
    result["rgb"] = {name: None if rgb is None else fnv(rgb.tobytes()) for name, rgb in seen.items()}
    return result


def write_seeds(vectors: str, folders: dict[str, dict[str, bytes]]) -> None:
    """`folders`: file suffix -> name -> bytes."""
    results = []
    for suffix, files in folders.items():
        folder = HERE / f"corpus/decode_{'jpeg' if suffix == 'jpg' else suffix}_fuzz"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            path = folder / f"{name}.{suffix}"
            path.write_bytes(data)
            results.append(golden(path, data))
    lines = ",\n".join(json.dumps(result) for result in results)
    (HERE.parent / "golden" / vectors).write_text(f"[\n{lines}\n]\n")


def main() -> None:
    FRONT.mkdir(parents=True, exist_ok=True)
    for name, data in others().items():
        (FRONT / name).write_bytes(data)
    write_seeds("decode_jpeg_webp.json", {"jpg": jpegs(), "webp": webps()})
    INFLATE.mkdir(parents=True, exist_ok=True)
    for name, data in seeds_lossless.streams().items():
        (INFLATE / name).write_bytes(data)
    lossless = {"png": seeds_lossless.pngs(), "gif": seeds_lossless.gifs(), "bmp": seeds_lossless.bmps()}
    write_seeds("decode_png_gif_bmp.json", lossless)


if __name__ == "__main__":
    main()
