// Headers of BMP files and of bare DIBs, with the choices of Pillow 13.0.0 (BmpImagePlugin).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::codec {

/// How a pixel is stored.
enum class BmpPixel : uint8_t {
  kGray1,     ///< a bit, 0 or 255
  kGray8,     ///< a byte
  kIndexed,   ///< `bits` bits
  kRgb555,    ///< two bytes, little-endian
  kRgb565,    ///< two bytes, little-endian
  kChannels,  ///< three or four bytes
};

struct BmpHeader {
  uint32_t height = 0, width = 0;
  bool top_down = false;
  unsigned bits = 0;  ///< per pixel, as the header says
  bool rle = false, rle4 = false;

  BmpPixel pixel = BmpPixel::kIndexed;
  unsigned stored_bits = 0;  ///< per pixel, as stored: Pillow takes some palettes for gray levels
  std::array<uint8_t, 4> channels = {};  ///< kChannels: the byte of red, green, blue and alpha
  bool has_alpha = false;                ///< kChannels

  Bytes palette;              ///< blue, green, red and perhaps a byte more per colour
  size_t palette_stride = 4;  ///< bytes per colour
  uint64_t data = 0;          ///< offset of the pixels
  uint64_t row_bytes = 0;     ///< from one row to the next, unless RLE

  /// Pillow 13's mode.
  const char* mode() const;
};

/// Reads a header. kCorruptInput and kUnsupported for what Pillow 13 does not open.
Result<BmpHeader> ReadBmpHeader(Bytes file);

}  // namespace mmcpp::codec
