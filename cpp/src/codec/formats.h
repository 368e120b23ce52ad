// One pair of functions per format: what the header says, and the pixels. decode.cc alone calls
// them, after it has told the format by content.
#pragma once

#include <memory>

#include "base/stop.h"
#include "mmcpp/image.h"

namespace mmcpp::codec {

// Header only: reads as little as the format allows and decodes no pixel.
Result<ImageInfo> ReadJpegInfo(Bytes encoded);
Result<ImageInfo> ReadPngInfo(Bytes encoded);
Result<ImageInfo> ReadWebpInfo(Bytes encoded);
Result<ImageInfo> ReadGifInfo(Bytes encoded);
Result<ImageInfo> ReadBmpInfo(Bytes encoded);

/// Whether a PNG has alpha or a transparent colour, be that one behind the pixels, where Pillow
/// sees it only once the picture is loaded.
bool HasPngTransparency(Bytes encoded);

// Pixels as RGB8, transparency and depth by `options`; RGBA8 if those keep alpha, which they may
// only for pictures that have some and are not of mode RGB. The caller has checked the limits
// against Read*Info and turns the picture afterwards. A decoder that meets a size other than its
// header said fails. What may take long looks at `stop` many times a second; a WebP is one call of
// libwebp, which has no such place, and a BMP takes no time.
Result<Image> DecodeJpeg(Bytes encoded, const Stop& stop = {});
Result<Image> DecodePng(Bytes encoded, const DecodeOptions& options, const Stop& stop = {});
Result<Image> DecodeWebp(Bytes encoded, const DecodeOptions& options);
Result<Image> DecodeGif(Bytes encoded, const DecodeOptions& options, const Stop& stop = {});
Result<Image> DecodeBmp(Bytes encoded, const DecodeOptions& options);

// The same pixels row by row, with the same errors, now or while rows are read. `encoded` must
// outlive the rows. Pictures whose rows do not come in order (interlaced PNG, RLE BMP) are decoded
// as a whole here; so they are by the other formats, which libwebp and GIF's frames leave no
// choice.
Result<std::unique_ptr<RowSource>> OpenJpeg(Bytes encoded, const Stop& stop = {});
Result<std::unique_ptr<RowSource>> OpenPng(Bytes encoded, const DecodeOptions& options,
                                           const Stop& stop = {});
Result<std::unique_ptr<RowSource>> OpenBmp(Bytes encoded, const DecodeOptions& options);

}  // namespace mmcpp::codec
