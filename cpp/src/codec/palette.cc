// Colour tables, and samples of less than a byte.
#include "codec/palette.h"

#include <cstring>

#include "codec/color.h"

namespace mmcpp::codec {

void Palette::Set(size_t index, const uint8_t rgba[4], const DecodeOptions& options) {
  RgbaToRgb(rgba, options, colors_[index].data());
}

void Palette::ToRgb(const uint8_t* indices, size_t count, uint8_t* rgb) const {
  if (count == 0) return;
  // Four bytes a pixel, the fourth overwritten by the next; the last pixel has no room for it.
  for (size_t i = 0; i + 1 < count; ++i) std::memcpy(rgb + 3 * i, colors_[indices[i]].data(), 4);
  std::memcpy(rgb + 3 * (count - 1), colors_[indices[count - 1]].data(), 3);
}

void UnpackBits(const uint8_t* packed, int depth, size_t count, uint8_t* samples) {
  const unsigned mask = (1u << depth) - 1;
  const size_t per_byte = 8 / static_cast<size_t>(depth);
  for (size_t i = 0; i < count; ++packed) {
    unsigned byte = *packed;
    for (size_t j = 0; j < per_byte && i < count; ++j, ++i) {
      byte <<= depth;
      samples[i] = static_cast<uint8_t>((byte >> 8) & mask);
    }
  }
}

}  // namespace mmcpp::codec
