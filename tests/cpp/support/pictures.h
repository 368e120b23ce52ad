// Pictures for tests: pixels by formula, and the simplest encoded form of them.
#pragma once

#include <cstdint>
#include <vector>

#include "mmcpp/image.h"
#include "support/golden.h"

namespace mmcpp::test {

/// Owned pixels by the golden formula.
struct Picture {
  int height, width;
  std::vector<uint8_t> pixels;

  Picture(int h, int w, uint64_t seed = 0)
      : height(h), width(w), pixels(GoldenPixels(h, w, seed)) {}
  ImageView view() const { return {pixels.data(), height, width, static_cast<size_t>(width) * 3}; }
};

/// An uncompressed 24-bit BMP of the picture.
inline std::vector<uint8_t> EncodeBmp(const ImageView& image) {
  const size_t row = static_cast<size_t>(image.width) * 3;
  const size_t padded = (row + 3) / 4 * 4;
  const size_t size = 54 + padded * static_cast<size_t>(image.height);
  std::vector<uint8_t> bmp(size);
  const auto store = [&](size_t at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bmp[at + static_cast<size_t>(i)] = uint8_t(value >> (8 * i));
  };
  bmp[0] = 'B';
  bmp[1] = 'M';
  store(2, size, 4);
  store(10, 54, 4);  // where the pixels start
  store(14, 40, 4);  // BITMAPINFOHEADER
  store(18, static_cast<uint64_t>(image.width), 4);
  store(22, static_cast<uint64_t>(image.height), 4);  // positive: the bottom row comes first
  store(26, 1, 2);
  store(28, 24, 2);
  for (int y = 0; y < image.height; ++y) {
    uint8_t* out = bmp.data() + 54 + static_cast<size_t>(image.height - 1 - y) * padded;
    for (size_t x = 0; x < row; x += 3) {
      out[x] = image.row(y)[x + 2];
      out[x + 1] = image.row(y)[x + 1];
      out[x + 2] = image.row(y)[x];
    }
  }
  return bmp;
}

}  // namespace mmcpp::test
