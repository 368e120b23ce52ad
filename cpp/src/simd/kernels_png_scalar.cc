// Undoing PNG's row filters (PNG specification, third edition, section 9), one byte at a time.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_png.h"

namespace mmcpp::simd {
namespace {

void Sub(const uint8_t* src, uint8_t* dst, size_t bytes, size_t step) {
  memcpy(dst, src, step);
  for (size_t i = step; i < bytes; ++i) dst[i] = static_cast<uint8_t>(src[i] + dst[i - step]);
}

void Up(const uint8_t* src, const uint8_t* above, uint8_t* dst, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) dst[i] = static_cast<uint8_t>(src[i] + above[i]);
}

void Average(const uint8_t* src, const uint8_t* above, uint8_t* dst, size_t bytes, size_t step) {
  for (size_t i = 0; i < step; ++i) dst[i] = static_cast<uint8_t>(src[i] + above[i] / 2);
  for (size_t i = step; i < bytes; ++i) {
    dst[i] = static_cast<uint8_t>(src[i] + (dst[i - step] + above[i]) / 2);
  }
}

int Distance(int a, int b) { return a > b ? a - b : b - a; }

void Paeth(const uint8_t* src, const uint8_t* above, uint8_t* dst, size_t bytes, size_t step) {
  Up(src, above, dst, step);
  for (size_t i = step; i < bytes; ++i) {
    const int left = dst[i - step], up = above[i], corner = above[i - step];
    const int to_left = Distance(up, corner), to_up = Distance(left, corner);
    const int to_corner = Distance(left + up, 2 * corner);
    const int nearest = to_left <= to_up && to_left <= to_corner ? left
                        : to_up <= to_corner                     ? up
                                                                 : corner;
    dst[i] = static_cast<uint8_t>(src[i] + nearest);
  }
}

}  // namespace

void PngUnfilterScalar(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                       const uint8_t* above, uint8_t* const* dst) {
  for (size_t y = 0; y < rows; ++y) {
    const uint8_t* filtered = src[y] + 1;
    switch (src[y][0]) {
      case 1:
        Sub(filtered, dst[y], bytes, pixel_bytes);
        break;
      case 2:
        Up(filtered, above, dst[y], bytes);
        break;
      case 3:
        Average(filtered, above, dst[y], bytes, pixel_bytes);
        break;
      case 4:
        Paeth(filtered, above, dst[y], bytes, pixel_bytes);
        break;
      default:
        memcpy(dst[y], filtered, bytes);
        break;
    }
    above = dst[y];
  }
}

}  // namespace mmcpp::simd
