// What becomes of transparency, for NEON: eight pixels at once.
#if MMCPP_SIMD && defined(__aarch64__)
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/kernels_alpha.h"

namespace mmcpp::simd {
namespace {

// (color * alpha + background * rest) / 255, rounded. No sum is over 65,535.
inline uint8x8_t Blend(uint8x8_t color, uint8x8_t alpha, uint8x8_t background, uint8x8_t rest) {
  const uint16x8_t sum = vmlal_u8(vmull_u8(color, alpha), background, rest);
  const uint16x8_t t = vaddq_u16(sum, vdupq_n_u16(128));
  return vshrn_n_u16(vsraq_n_u16(t, t, 8), 8);
}

}  // namespace

// The pixels of a step are read before its bytes are written: rgb may be rgba.

void BlendRgba8Neon(const uint8_t* rgba, size_t n, const uint8_t* background, uint8_t* rgb) {
  const uint8x8_t red = vdup_n_u8(background[0]), green = vdup_n_u8(background[1]);
  const uint8x8_t blue = vdup_n_u8(background[2]);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint8x8x4_t v = vld4_u8(rgba + 4 * i);
    const uint8x8_t alpha = v.val[3], rest = vmvn_u8(alpha);
    const uint8x8x3_t out = {{Blend(v.val[0], alpha, red, rest),
                              Blend(v.val[1], alpha, green, rest),
                              Blend(v.val[2], alpha, blue, rest)}};
    vst3_u8(rgb + 3 * i, out);
  }
  BlendRgba8Scalar(rgba + 4 * i, n - i, background, rgb + 3 * i);
}

void DropRgba8Neon(const uint8_t* rgba, size_t n, uint8_t* rgb) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint8x8x4_t v = vld4_u8(rgba + 4 * i);
    const uint8x8x3_t out = {{v.val[0], v.val[1], v.val[2]}};
    vst3_u8(rgb + 3 * i, out);
  }
  DropRgba8Scalar(rgba + 4 * i, n - i, rgb + 3 * i);
}

}  // namespace mmcpp::simd
#endif
