// Undoing PNG's row filters for NEON, as kernels_png_wave.h does it.
#if MMCPP_SIMD && defined(__aarch64__)
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_png.h"

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

using PngVector = uint8x16_t;

MMCPP_INLINE uint8x16_t Load(const uint8_t* from) { return vld1q_u8(from); }
MMCPP_INLINE void Store(uint8x16_t v, uint8_t* to) { vst1q_u8(to, v); }
MMCPP_INLINE uint8x16_t Zeros() { return vdupq_n_u8(0); }
MMCPP_INLINE uint8x16_t And(uint8x16_t a, uint8x16_t b) { return vandq_u8(a, b); }
MMCPP_INLINE uint8x16_t Or(uint8x16_t a, uint8x16_t b) { return vorrq_u8(a, b); }
MMCPP_INLINE uint8x16_t Sum(uint8x16_t a, uint8x16_t b) { return vaddq_u8(a, b); }

/// Rounded down.
MMCPP_INLINE uint8x16_t Average(uint8x16_t a, uint8x16_t b) { return vhaddq_u8(a, b); }

/// The Paeth predictor without more than 8 bits: the distance to the corner is the sum of the other
/// two, and never the smallest, unless left and above lie on different sides of the corner; then it
/// is their difference.
MMCPP_INLINE uint8x16_t PaethPredictor(uint8x16_t left, uint8x16_t above, uint8x16_t corner) {
  const uint8x16_t to_left = vabdq_u8(above, corner), to_above = vabdq_u8(left, corner);
  const uint8x16_t apart = veorq_u8(vcgtq_u8(above, corner), vcgtq_u8(left, corner));
  const uint8x16_t corner_nearest =
      vandq_u8(apart, vcltq_u8(vabdq_u8(to_left, to_above), vminq_u8(to_left, to_above)));
  const uint8x16_t nearer = vbslq_u8(vcleq_u8(to_left, to_above), left, above);
  return vbslq_u8(corner_nearest, corner, nearer);
}

constexpr uint8_t kSpread[16] = {0, 1, 2, 255, 3, 4, 5, 255, 6, 7, 8, 255, 9, 10, 11, 255};
constexpr uint8_t kTogether[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 255, 255, 255, 255};

/// Four pixels of 3 bytes to lanes of 4, and back.
MMCPP_INLINE uint8x16_t Spread(uint8x16_t v) { return vqtbl1q_u8(v, Load(kSpread)); }
MMCPP_INLINE uint8x16_t Together(uint8x16_t v) { return vqtbl1q_u8(v, Load(kTogether)); }

/// The lanes of both, by turns: of the lower halves, of the upper.
template <int kLaneBytes>
MMCPP_INLINE uint8x16_t Low(uint8x16_t a, uint8x16_t b) {
  if (kLaneBytes == 1) return vzip1q_u8(a, b);
  if (kLaneBytes == 2) {
    return vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
  }
  return vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}
template <int kLaneBytes>
MMCPP_INLINE uint8x16_t High(uint8x16_t a, uint8x16_t b) {
  if (kLaneBytes == 1) return vzip2q_u8(a, b);
  if (kLaneBytes == 2) {
    return vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
  }
  return vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}

/// With the lanes in the opposite order.
template <int kLaneBytes>
MMCPP_INLINE uint8x16_t Reversed(uint8x16_t v) {
  const uint8x16_t swapped = vextq_u8(v, v, 8);
  if (kLaneBytes == 1) return vrev64q_u8(swapped);
  if (kLaneBytes == 2) return vreinterpretq_u8_u16(vrev64q_u16(vreinterpretq_u16_u8(swapped)));
  return vreinterpretq_u8_u32(vrev64q_u32(vreinterpretq_u32_u8(swapped)));
}

/// Each lane of `v` one further up; into the first comes the last of `before`.
template <int kLaneBytes>
MMCPP_INLINE uint8x16_t MovedUp(uint8x16_t before, uint8x16_t v) {
  return vextq_u8(before, v, 16 - kLaneBytes);
}

}  // namespace
}  // namespace mmcpp::simd

#include "simd/kernels_png_wave.h"

namespace mmcpp::simd {

void PngUnfilterNeon(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                     const uint8_t* above, uint8_t* const* dst) {
  Unfilter(rows, bytes, pixel_bytes, src, above, dst);
}

}  // namespace mmcpp::simd
#endif
