"""Files that the library and Pillow 13.0.0 see differently, on purpose or because of the version of a system library.
Keys are paths in the decode corpus; a test sees to it that each is still there and still differs where it must.

Beyond single files:

* `DecodeLimits.max_side` (65535 by default) and `max_encoded_bytes` (64 MiB) refuse pictures that Pillow, which has
  no such limits, would open: an animated WebP may have a canvas of 12845060 x 2.
* A JPEG of more than 500 scans, or of more than 50 where those would cover over 10^10 pixels, is refused: Pillow
  works on for minutes.
* Pillow 13 refuses a few sound pictures over metadata it only reads for their resolution: a JPEG whose EXIF
  XResolution is a text or BYTE value one character long. The library does not read that tag.
"""

# Lossless JPEG (SOF3) came to libjpeg-turbo with version 3.0; Pillow's wheel brings 3.2.0, Debian 12 and 13 have 2.1.5.
LOSSLESS = "lossless JPEG needs libjpeg-turbo 3"

# Where scans of a progressive JPEG are missing or damaged, libjpeg estimates coefficients from neighbouring blocks, and
# 3.x looks at more neighbours than 2.1.5 does. The arithmetic decoder of 3.x also handles damaged data otherwise. With
# libjpeg-turbo 3.2.0 loaded in place of 2.1.5, these are equal.
DAMAGED = "a damaged JPEG that libjpeg-turbo 2.1.5 and 3.2.0 decode differently"

_JPEG_DECODER = "jpeg-decoder/tests"
_CRASHTEST = f"{_JPEG_DECODER}/crashtest/images/imagetestsuite"
_LOSSLESS = "libjpeg-turbo-seed/bugs/decompress/lossless"
_AFL = "libjpeg-turbo-seed/afl-testcases/jpeg/full/images"

EXCEPTIONS = {
    f"{_JPEG_DECODER}/reftest/images/lossless/1/jpeg_lossless_sel1-8bit.jpg": LOSSLESS,
    f"{_LOSSLESS}/random8_100x91_lossless_psv5_pt2.jpg": LOSSLESS,
    f"{_LOSSLESS}/random8_93x98_lossless_psv2_pt0.jpg": LOSSLESS,
    f"{_CRASHTEST}/8a9cc8eeed66aeb423a91c44111d9450.jpg": DAMAGED,
    f"{_CRASHTEST}/8e5e74dbf9b68a322fbb9512db837329.jpg": DAMAGED,
    f"{_CRASHTEST}/f6b4389c3cf0f5997b2e5a4b905aea8d.jpg": DAMAGED,
    f"{_AFL}/id:005056,sync:jpeg_turbo,src:003817.jpg": DAMAGED,
    f"{_AFL}/id:005372,src:005011,op:havoc,rep:2.jpg": DAMAGED,
}
