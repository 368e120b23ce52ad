"""Makes pillow13.json, pillow12.json and aten_u8.json from the Pillow and torch that are installed.

    python generate_resize.py

Writes the files whose reference is there in the right version, and says which it left
alone. Shapes and pictures come from formulas, so only digests are stored.
"""

import json
import pathlib

import numpy

HERE = pathlib.Path(__file__).parent
FILTERS = ("box", "bilinear", "hamming", "bicubic", "lanczos")


def pixels(height, width):
    """The picture of every golden case, uint8 [height, width, 3]."""
    i = numpy.arange(height * width * 3, dtype=numpy.uint64)
    return ((i * 2654435761 % 2**32) >> 16 & 255).astype(numpy.uint8).reshape(height, width, 3)


def shapes(count, seed):
    """`count` tuples (in_height, in_width, out_height, out_width): ordinary, tall, wide, a pixel thin,
    strongly enlarged, strongly reduced, one side unchanged, nearly unchanged."""
    state = seed

    def side(most):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return 1 + (state >> 33) % most

    for i in range(count):
        kind = i % 9
        if kind == 0:
            yield side(200), side(200), side(200), side(200)
        elif kind == 1:
            yield side(600), side(20), side(300), side(60)
        elif kind == 2:
            yield side(20), side(600), side(60), side(300)
        elif kind == 3:
            yield (1, side(300), side(40), side(300)) if i % 2 else (side(300), 1, side(300), side(40))
        elif kind == 4:
            yield side(9), side(9), side(700), side(90)
        elif kind == 5:
            yield side(1500), side(90), side(6), side(6)
        elif kind == 6:
            yield side(90), side(1500), side(6), side(6)
        elif kind == 7:
            height, width = side(150), side(150)
            yield (height, width, height, side(150)) if i % 2 else (height, width, side(150), width)
        else:
            height, width = 20 + side(100), 20 + side(100)
            yield height, width, height + side(5) - 3, width + side(5) - 3


def pillow_resize(image, height, width, name):
    from PIL import Image

    resample = Image.Resampling[name.upper()]
    return numpy.asarray(Image.fromarray(image).resize((width, height), resample))


def torch_resize(image, height, width, name):
    import torch

    planes = torch.from_numpy(image).permute(2, 0, 1)[None]
    out = torch.nn.functional.interpolate(planes, size=(height, width), mode=name, antialias=True)
    return out[0].permute(1, 2, 0).contiguous().numpy()


def digest(image):
    from blake3 import blake3

    return blake3(numpy.ascontiguousarray(image).tobytes()).hexdigest()[:16]


def write(name, source, resize, filters, count):
    cases = []
    for shape in shapes(count, seed=2024):
        image = pixels(*shape[:2])
        digests = {f: digest(resize(image, *shape[2:], f)) for f in filters}
        cases.append({"shape": shape, **digests})
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    head = {
        "source": source,
        "image": "byte i (flat HWC) = ((i*2654435761) mod 2^32 >> 16) & 255",
        "shape": "in_height, in_width, out_height, out_width",
        "hash": "first 8 bytes of BLAKE3, hex, of the output [out_height, out_width, 3]",
    }
    text = json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n  ' + lines + "\n ]\n}\n"
    (HERE / name).write_text(text)
    print(f"wrote {name}: {len(cases)} shapes, {', '.join(filters)}")


def main():
    import PIL

    if PIL.__version__ == "13.0.0":
        write("pillow13.json", "Pillow 13.0.0", pillow_resize, FILTERS, 180)
    elif PIL.__version__ == "12.1.1":
        write("pillow12.json", "Pillow 12.1.1", pillow_resize, FILTERS, 180)
    else:
        print(f"Pillow {PIL.__version__} is neither 13.0.0 nor 12.1.1: its files stay")
    try:
        import torch
    except ImportError:
        print("no torch: aten_u8.json stays")
        return
    if torch.__version__.split("+")[0] == "2.13.0":
        filters = ("bilinear", "bicubic", "lanczos")
        write("aten_u8.json", "torch 2.13.0, CPU", torch_resize, filters, 180)
    else:
        print(f"torch {torch.__version__} is not 2.13.0: aten_u8.json stays")


if __name__ == "__main__":
    main()
