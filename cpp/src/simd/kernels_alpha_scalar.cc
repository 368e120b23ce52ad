// What becomes of transparency, one pixel after the other: the definition.
#include <stddef.h>
#include <stdint.h>

#include "simd/kernels_alpha.h"

namespace mmcpp::simd {

void BlendRgba8Scalar(const uint8_t* rgba, size_t n, const uint8_t* background, uint8_t* rgb) {
  for (size_t i = 0; i < n; ++i, rgba += 4, rgb += 3) {
    const uint32_t alpha = rgba[3];
    for (size_t c = 0; c < 3; ++c) {
      // Pillow's division by 255 with rounding.
      const uint32_t t = rgba[c] * alpha + background[c] * (255 - alpha) + 128;
      rgb[c] = static_cast<uint8_t>((t + (t >> 8)) >> 8);
    }
  }
}

void DropRgba8Scalar(const uint8_t* rgba, size_t n, uint8_t* rgb) {
  for (size_t i = 0; i < n; ++i, rgba += 4, rgb += 3) {
    const uint8_t red = rgba[0], green = rgba[1], blue = rgba[2];
    rgb[0] = red;
    rgb[1] = green;
    rgb[2] = blue;
  }
}

}  // namespace mmcpp::simd
