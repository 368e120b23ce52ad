// A table of 256 colours, and its application to rows of indices: palettes, and every picture
// with one channel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mmcpp/image.h"

namespace mmcpp::codec {

class Palette {
 public:
  /// All 256 entries opaque black, as a fresh palette of Pillow 13 has them.
  Palette() = default;

  /// Sets the entry to a colour with alpha, brought to RGB, or kept, as `options` say.
  void Set(size_t index, const uint8_t rgba[4], const DecodeOptions& options);
  void Set(size_t index, uint8_t red, uint8_t green, uint8_t blue) {
    colors_[index] = {red, green, blue, 0};
  }

  /// Writes `count` RGB pixels. `indices` may lie at the end of the memory that `rgb` starts, its
  /// last byte being the last byte of the last pixel.
  void ToRgb(const uint8_t* indices, size_t count, uint8_t* rgb) const;
  /// The same of RGBA pixels, for entries with their alpha kept.
  void ToRgba(const uint8_t* indices, size_t count, uint8_t* rgba) const;

 private:
  std::array<std::array<uint8_t, 4>, 256> colors_ = {};  // and alpha or 0
};

/// Writes `count` samples of `depth` 1, 2 or 4 bits, first in the high bits, one per byte.
void UnpackBits(const uint8_t* packed, int depth, size_t count, uint8_t* samples);

}  // namespace mmcpp::codec
