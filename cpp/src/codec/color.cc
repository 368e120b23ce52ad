// Gray and transparency to RGB8, to the bit as Pillow 13 does it.
#include "codec/color.h"

#include <cstring>

#include "simd/dispatch.h"

namespace mmcpp::codec {
namespace {

/// Pillow's division by 255 with rounding, for 0 <= x <= 255 * 255.
inline uint8_t DivideBy255(uint32_t x) {
  const uint32_t t = x + 128;
  return static_cast<uint8_t>((t + (t >> 8)) >> 8);
}

}  // namespace

void RgbaRowToRgb(const uint8_t* rgba, size_t count, const DecodeOptions& options, uint8_t* rgb) {
  const auto active = simd::ActiveKernels();
  const simd::Kernels& kernels = active.ok() ? **active : simd::kScalarKernels;
  switch (options.alpha) {
    case AlphaMode::kKeep:
      if (rgb != rgba) std::memcpy(rgb, rgba, count * 4);
      return;
    case AlphaMode::kDrop:
      return kernels.drop_rgba8(rgba, count, rgb);
    case AlphaMode::kComposite:
    case AlphaMode::kPaste:
      // alpha_composite carries 7 more bits than paste does; over an opaque background the answers
      // are the same for every input.
      return kernels.blend_rgba8(rgba, count, options.background.data(), rgb);
  }
}

void GrayRowToRgb(const uint8_t* gray, size_t count, uint8_t* rgb) {
  for (size_t i = 0; i < count; ++i, rgb += 3) {
    const uint8_t level = gray[i];
    rgb[0] = level;
    rgb[1] = level;
    rgb[2] = level;
  }
}

void InvertedCmykRowToRgb(const uint8_t* cmyk, size_t count, uint8_t* rgb) {
  for (size_t i = 0; i < count; ++i, cmyk += 4, rgb += 3) {
    const uint32_t white = cmyk[3];
    for (int c = 0; c < 3; ++c) {
      // Never negative: the quotient is at most `white`.
      rgb[c] = static_cast<uint8_t>(white - DivideBy255((255u - cmyk[c]) * white));
    }
  }
}

}  // namespace mmcpp::codec
