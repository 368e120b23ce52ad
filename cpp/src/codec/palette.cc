// Colour tables, and samples of less than a byte.
#include "codec/palette.h"

#include <cstring>

#include "codec/color.h"

namespace mmcpp::codec {

void Palette::Set(size_t index, const uint8_t rgba[4], const DecodeOptions& options) {
  RgbaToRgb(rgba, options, colors_[index].data());
}

void Palette::ToRgb(const uint8_t* indices, size_t count, uint8_t* rgb) const {
  size_t i = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  // Eight pixels are three words. All eight indices are read before anything is written, since both
  // may lie in the same memory.
  for (; i + 8 <= count; i += 8) {
    uint64_t color[8], word[3];
    for (size_t k = 0; k < 8; ++k) {
      uint32_t value;
      std::memcpy(&value, colors_[indices[i + k]].data(), 4);
      color[k] = value & 0xffffff;
    }
    word[0] = color[0] | color[1] << 24 | color[2] << 48;
    word[1] = color[2] >> 16 | color[3] << 8 | color[4] << 32 | color[5] << 56;
    word[2] = color[5] >> 8 | color[6] << 16 | color[7] << 40;
    std::memcpy(rgb + 3 * i, word, sizeof word);
  }
#endif
  for (; i < count; ++i) std::memcpy(rgb + 3 * i, colors_[indices[i]].data(), 3);
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
