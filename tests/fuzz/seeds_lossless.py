"""The seeds of the PNG, GIF, BMP and inflate targets; generate_seeds.py writes them."""

import struct
import zlib
from dataclasses import replace

import bmp_writer as bmp
import gif_writer as gif
import png_writer as png

HEIGHT, WIDTH = 9, 11


def exif(orientation: int) -> bytes:
    return b"II*\0" + struct.pack("<LHHHLHH", 8, 1, 0x112, 3, 1, orientation, 0) + b"\0\0\0\0"


def pngs() -> dict[str, bytes]:
    files = {}
    for color, depth in png.LAYOUTS:
        for interlaced in (False, True):
            picture = png.Png(HEIGHT, WIDTH, color, depth, interlaced, seed=color * 16 + depth)
            files[f"color{color}_depth{depth}{'_interlaced' * interlaced}"] = png.write(picture)
    rgb, paletted, gray = (png.Png(HEIGHT, WIDTH, color, 8, seed=1) for color in (2, 3, 0))
    pixel = [int(value) for value in png.samples_of(rgb)[3, 4]]
    transparent = {
        "rgb": (rgb, struct.pack(">3H", *pixel)),
        "gray": (gray, struct.pack(">H", int(png.samples_of(gray)[3, 4, 0]))),
        "gray_depth1": (replace(gray, depth=1), b"\0\1"),
        "gray_depth2": (replace(gray, depth=2), b"\0\2"),
        "gray_depth16": (replace(gray, depth=16), b"\1\xff"),
        "rgb_depth16": (replace(rgb, depth=16), b"\1\2\1\3\1\4"),
        "palette_index": (paletted, b"\xff\xff\0\xff"),
        "palette_newline": (paletted, b"\xff\0\n"),
        "palette_alphas": (paletted, bytes(range(200))),
        "palette_alphas_depth2": (replace(paletted, depth=2), b"\0\x80\xff"),
        "palette_too_many": (paletted, bytes(300)),
        "palette_short": (replace(paletted, palette=5), b"\x10\x20"),
        "without_palette": (replace(paletted, palette=0), b"\0"),
        "gray_short": (gray, b"\0"),
    }
    for name, (picture, data) in transparent.items():
        files[f"transparent_{name}"] = png.write(replace(picture, transparency=data))

    def text(key: bytes, value: bytes) -> bytes:
        return png.chunk(b"tEXt", key + b"\0" + value)

    def frame(sequence: int, height: int, width: int, y: int, x: int) -> bytes:
        return png.chunk(b"fcTL", struct.pack(">5I2H2B", sequence, width, height, x, y, 1, 10, 0, 0))

    animation = png.chunk(b"acTL", struct.pack(">II", 2, 0))
    more = png.chunk(b"fdAT", struct.pack(">I", 2) + zlib.compress(png.stream_of(rgb)))
    small = zlib.compress(png.stream_of(replace(rgb, height=4, width=5)))
    profile = b"\nexif\n      26\n" + exif(6).hex().encode() + b"\n"
    before = {
        "orientation6": png.chunk(b"eXIf", exif(6)),
        "orientation9": png.chunk(b"eXIf", exif(9)),
        "orientation_junk": png.chunk(b"eXIf", b"MM\0*junk"),
        "orientation_text": text(b"Raw profile type exif", profile),
        "orientation_ztxt": png.chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(profile)),
        "orientation_xmp": png.chunk(b"iTXt", b'XML:com.adobe.xmp\0\0\0\0\0<x tiff:Orientation="8"/>'),
        "text_bomb": png.chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(3 << 20))),
        "profile_bomb": png.chunk(b"iCCP", b"k\0\0" + zlib.compress(bytes((1 << 20) + 1))),
        "profile": png.chunk(b"iCCP", b"k\0\0" + zlib.compress(b"profile" * 20)),
        "profile_damaged": png.chunk(b"iCCP", b"k\0\0junk"),
        "international": png.chunk(b"iTXt", b"k\0\1\0en\0k\0" + zlib.compress(b"value")),
        "text_interlace": text(b"interlace", b"1"),
        "text_transparency": text(b"transparency", b"1"),
        "wrong_checksum": png.chunk(b"tIME", bytes(7), 1),
        "unknown_critical": png.chunk(b"ABCD", b"x"),
        "header_twice": png.header(rgb),
        "empty_idats": png.chunk(b"IDAT") * 3,
        "animation": animation,
        "animation_short": png.chunk(b"acTL", b"\0\0"),
    }
    for name, chunk in before.items():
        files[name] = png.write(replace(rgb, before=(chunk,)))
    whole = png.write(rgb)
    stream = zlib.compress(png.stream_of(rgb))
    rows = png.stream_of(rgb)
    row = len(rows) // HEIGHT
    files |= {
        "animated": png.write(
            replace(rgb, before=(animation, frame(0, HEIGHT, WIDTH, 0, 0)), after=(frame(1, 9, 11, 0, 0), more))
        ),
        "animated_in_part": png.write(replace(rgb, before=(animation, frame(0, 4, 5, 2, 3))), small),
        "animated_in_part_palette": png.write(
            replace(paletted, before=(frame(0, 4, 5, 2, 3),)),
            zlib.compress(png.stream_of(replace(paletted, height=4, width=5))),
        ),
        "fdat_alone": png.SIGNATURE
        + png.header(rgb)
        + frame(0, 9, 11, 0, 0)
        + png.chunk(b"fdAT", struct.pack(">I", 1) + stream)
        + png.chunk(b"IEND"),
        "split": png.write(replace(rgb, split=(0, 2, 7, 0, 30))),
        "one_pixel": png.write(png.Png(1, 1)),
        "stored": png.write(replace(rgb, level=0)),
        "without_iend": whole[:-12],
        "cut": whole[: len(whole) // 2],
        "stream_short": png.write(rgb, zlib.compress(rows[: 5 * row])),
        "stream_short_in_row": png.write(rgb, zlib.compress(rows[: 5 * row + 3])),
        "stream_long": png.write(rgb, zlib.compress(rows + bytes(200))),
        "stream_without_checksum": png.write(rgb, stream[:-4]),
        "stream_wrong_checksum": png.write(rgb, stream[:-1] + bytes([stream[-1] ^ 1])),
        "filter5": png.write(rgb, zlib.compress(b"\5" + rows[1:])),
        "transparency_behind": png.write(replace(rgb, after=(png.chunk(b"tRNS", struct.pack(">3H", *pixel)),))),
        "palette_257": png.write(replace(paletted, palette=257)),
        "palette_0": png.write(replace(paletted, palette=0)),
    }
    return files


def streams() -> dict[str, bytes]:
    """zlib streams of all kinds of blocks, behind what cuts them into pieces."""
    noise = bytes((x * x >> 3 & 15) + (x * 7919 >> 5 & 15) for x in range(1500))
    contents = {"noise": noise, "run": noise[:5] * 300, "text": b"the quick brown fox jumps " * 9, "none": b""}
    strategies = {"dynamic": zlib.Z_DEFAULT_STRATEGY, "fixed": zlib.Z_FIXED, "huffman": zlib.Z_HUFFMAN_ONLY}
    heads = (bytes(5), bytes((7, 0, 1, 2, 1)), bytes((1, 1, 1, 255, 2)), bytes((40, 9, 100, 0, 0)))
    seeds = {}
    for content, data in contents.items():
        for strategy, number in strategies.items():
            coder = zlib.compressobj(9, strategy=number)
            seeds[f"{content}_{strategy}"] = coder.compress(data) + coder.flush()
        seeds[f"{content}_stored"] = zlib.compress(data, 0)
        coder = zlib.compressobj(9)
        parts = [coder.compress(data[i : i + 99]) + coder.flush(zlib.Z_SYNC_FLUSH) for i in range(0, len(data), 99)]
        seeds[f"{content}_blocks"] = b"".join(parts) + coder.flush()
    return {name: heads[i % len(heads)] + stream for i, (name, stream) in enumerate(seeds.items())}


def gifs() -> dict[str, bytes]:
    colors = gif.random_palette(256, 1)
    frame = gif.Frame(HEIGHT, WIDTH, seed=1)
    small = replace(frame, height=4, width=5, y=2, x=3)
    few = gif.random_palette(4, 2)
    shown = gif.image(frame)

    def write(*parts: bytes, palette: bytes | None = colors, height: int = HEIGHT, width: int = WIDTH) -> bytes:
        return gif.write(height, width, *parts, palette=palette)

    files = {f"bits{bits}": write(gif.image(replace(frame, bits=bits))) for bits in (1, 2, 4, 5, 8)}
    for bits in (9, 11, 12, 13):
        codes = gif.lzw(gif.pixels_of(frame), min(bits, 12))
        files[f"bits{bits}"] = write(gif.image(replace(frame, bits=bits), gif.blocks(codes)))
    half = gif.lzw(gif.pixels_of(replace(frame, height=5)), 8)
    codes = gif.lzw(gif.pixels_of(frame), 8)
    loop = gif.extension(255, b"NETSCAPE2.0", b"\1\0\0")
    files |= {
        "whole": write(shown),
        "interlaced": write(gif.image(replace(frame, interlaced=True))),
        "large": write(gif.image(replace(frame, height=60, width=70, clear_every=900)), height=60, width=70),
        "in_part": write(gif.image(small)),
        "in_part_transparent": write(gif.image(replace(small, transparent=7))),
        "in_part_interlaced": write(gif.image(replace(small, interlaced=True, disposal=2))),
        "beyond_screen": write(gif.image(replace(frame, y=3, x=20))),
        "screen_0": write(shown, height=0, width=0),
        "transparent": write(gif.image(replace(frame, bits=2, transparent=1))),
        "own_palette": write(gif.image(replace(frame, bits=2, palette=few))),
        "own_palette_alone": write(gif.image(replace(frame, bits=3, palette=few)), palette=None),
        "gray": write(shown, palette=None),
        "gray_ramp": write(shown, palette=gif.GRAY_RAMP),
        "gray_ramp_own": write(gif.image(replace(frame, palette=gif.GRAY_RAMP))),
        "gray_ramp_own_transparent": write(gif.image(replace(frame, palette=gif.GRAY_RAMP, transparent=3))),
        "short_palette": write(shown, palette=few),
        "animated": write(loop, shown, gif.image(replace(small, transparent=1)), shown),
        "comment": write(gif.extension(254, b"one", b"two"), shown),
        "empty_extension": write(b"!\x01\0", shown),
        "control_short": write(gif.extension(249, b"\1\0"), shown),
        "junk": write(b"\0\1\2", shown),
        "nothing": write(),
        "empty_frame": write(gif.image(replace(frame, height=0), b"\0")),
        "bomb": write(gif.image(replace(frame, height=25000, width=25000, y=40000, x=40000), b"\0"), height=1, width=1),
        "cut": write(shown)[:-40],
        "without_end": write(gif.image(replace(frame, end=False, terminator=False))),
        "end_early": write(gif.image(frame, gif.blocks(half))),
        "end_early_but_more": write(gif.image(frame, gif.blocks(half + codes, 3)), bytes(70000)),
        "no_data": write(gif.image(frame, b"\0")),
        "first_code_wrong": write(gif.image(frame, gif.blocks(b"\0\xff\xff\xff"))),
        "blocks_of_1": write(gif.image(replace(frame, block=1))),
    }
    return files


def bmps() -> dict[str, bytes]:
    files = {}
    for bits in (1, 4, 8, 16, 24, 32):
        for header in (12, 40, 64, 124):
            files[f"bits{bits}_header{header}"] = bmp.write(bmp.Bmp(HEIGHT, WIDTH, bits, header, seed=bits))
        files[f"bits{bits}_top_down"] = bmp.write(bmp.Bmp(HEIGHT, WIDTH, bits, top_down=True, seed=bits))
        files[f"bits{bits}_dib"] = bmp.write(bmp.Bmp(HEIGHT, WIDTH, bits, file_header=False, seed=bits))
    for bits, layouts in bmp.MASKS.items():
        for number, masks in enumerate(layouts):
            picture = bmp.Bmp(HEIGHT, WIDTH, bits, 56, bmp.BITFIELDS, masks=masks, seed=number)
            files[f"bits{bits}_masks{number}"] = bmp.write(picture)
            files[f"bits{bits}_masks{number}_behind"] = bmp.write(replace(picture, header=40))
    unknown = bmp.Bmp(HEIGHT, WIDTH, 32, 56, bmp.BITFIELDS, masks=(1, 2, 4, 8))
    eight, four = bmp.Bmp(HEIGHT, WIDTH, 8, compression=bmp.RLE8), bmp.Bmp(HEIGHT, WIDTH, 4, compression=bmp.RLE4)
    whole = bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8))

    def program(picture: bmp.Bmp, *numbers: int) -> bytes:
        return bmp.write(picture, bytes(numbers) + bmp.rle(picture))

    files |= {
        "masks_unknown": bmp.write(unknown),
        "gray8": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8, palette=bmp.gray_palette(256))),
        "gray1": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 1, palette=bmp.gray_palette(2, 255))),
        "gray1_reversed": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 1, palette=bmp.gray_palette(2, 255)[::-1])),
        "gray8_of_2": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8, palette=bmp.gray_palette(2, 255))),
        "gray4": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 4, palette=bmp.gray_palette(16))),
        "gray4_narrow": bmp.write(bmp.Bmp(HEIGHT, 3, 4, palette=bmp.gray_palette(16))),
        "palette_257": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8, palette=bytes(range(250)) * 5, colors=257)),
        "palette_short": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8, palette=bytes(range(40)))),
        "palette_0": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8, palette=b"", colors=2**32 - 1)),
        "rle8": bmp.write(eight),
        "rle4": bmp.write(four),
        "rle8_top_down": bmp.write(replace(eight, top_down=True)),
        "rle8_gray": bmp.write(replace(eight, palette=bmp.gray_palette(256))),
        "rle8_black_white": bmp.write(replace(eight, palette=bmp.gray_palette(2, 255))),
        "rle8_delta": program(eight, 0, 2, 3, 1, 2, 9, 0, 0),
        "rle8_run_too_long": program(eight, 255, 7, 0, 0),
        "rle4_absolute_of_3_and_5": program(four, 0, 3, 0x12, 0x30, 0, 5, 0x45, 0x67, 0x80, 0, 0, 0),
        "rle8_absolute_over_rows": program(eight, 0, 14, *range(14), 0, 0),
        "rle8_ends_early": bmp.write(eight, bytes([5, 1, 0, 1])),
        "rle8_without_end": bmp.write(eight, bmp.rle(eight)[:-2]),
        "rle8_cut": bmp.write(eight)[:-30],
        "rle8_of_24_bits": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 24, compression=bmp.RLE8)),
        "compression_5": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 24, compression=5)),
        "bits_2": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 2)),
        "cut": whole[:-1],
        "cut_header": whole[:40],
        "offset_of_palette": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8, offset=54)),
        "offset_0": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 8, offset=0)),
        "offset_beyond": bmp.write(bmp.Bmp(HEIGHT, WIDTH, 24, offset=10**6)),
        "height_minus_2_31": whole[:22] + struct.pack("<I", 2**31) + whole[26:],
        "side_0": whole[:18] + bytes(4) + whole[22:],
    }
    return files
