// Undoing PNG's row filters for AVX2, as kernels_png_wave.h does it.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_png.h"

MMCPP_TARGET_BEGIN("avx2")

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

using PngVector = __m128i;

MMCPP_INLINE __m128i Load(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
MMCPP_INLINE void Store(__m128i v, uint8_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
}
MMCPP_INLINE __m128i Zeros() { return _mm_setzero_si128(); }
MMCPP_INLINE __m128i And(__m128i a, __m128i b) { return _mm_and_si128(a, b); }
MMCPP_INLINE __m128i Or(__m128i a, __m128i b) { return _mm_or_si128(a, b); }
MMCPP_INLINE __m128i Sum(__m128i a, __m128i b) { return _mm_add_epi8(a, b); }

/// Rounded down.
MMCPP_INLINE __m128i Average(__m128i a, __m128i b) {
  const __m128i round = _mm_and_si128(_mm_xor_si128(a, b), _mm_set1_epi8(1));
  return _mm_sub_epi8(_mm_avg_epu8(a, b), round);
}

/// The Paeth predictor without more than 8 bits: the distance to the corner is the sum of the other
/// two, and never the smallest, unless left and above lie on different sides of the corner; then it
/// is their difference.
MMCPP_INLINE __m128i PaethPredictor(__m128i left, __m128i above, __m128i corner) {
  const __m128i zero = _mm_setzero_si128();
  const __m128i above_over = _mm_subs_epu8(above, corner);
  const __m128i left_over = _mm_subs_epu8(left, corner);
  const __m128i to_left = _mm_or_si128(above_over, _mm_subs_epu8(corner, above));
  const __m128i to_above = _mm_or_si128(left_over, _mm_subs_epu8(corner, left));
  const __m128i least = _mm_min_epu8(to_left, to_above);
  const __m128i to_corner = _mm_sub_epi8(_mm_max_epu8(to_left, to_above), least);
  const __m128i apart =
      _mm_xor_si128(_mm_cmpeq_epi8(above_over, zero), _mm_cmpeq_epi8(left_over, zero));
  const __m128i corner_farther = _mm_cmpeq_epi8(_mm_subs_epu8(least, to_corner), zero);
  const __m128i nearer = _mm_blendv_epi8(above, left, _mm_cmpeq_epi8(least, to_left));
  return _mm_blendv_epi8(nearer, corner, _mm_andnot_si128(corner_farther, apart));
}

/// Four pixels of 3 bytes to lanes of 4, and back.
MMCPP_INLINE __m128i Spread(__m128i v) {
  return _mm_shuffle_epi8(v, _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
}
MMCPP_INLINE __m128i Together(__m128i v) {
  return _mm_shuffle_epi8(v, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
}

/// The lanes of both, by turns: of the lower halves, of the upper.
template <int kLaneBytes>
MMCPP_INLINE __m128i Low(__m128i a, __m128i b) {
  return kLaneBytes == 1   ? _mm_unpacklo_epi8(a, b)
         : kLaneBytes == 2 ? _mm_unpacklo_epi16(a, b)
                           : _mm_unpacklo_epi32(a, b);
}
template <int kLaneBytes>
MMCPP_INLINE __m128i High(__m128i a, __m128i b) {
  return kLaneBytes == 1   ? _mm_unpackhi_epi8(a, b)
         : kLaneBytes == 2 ? _mm_unpackhi_epi16(a, b)
                           : _mm_unpackhi_epi32(a, b);
}

/// With the lanes in the opposite order.
template <int kLaneBytes>
MMCPP_INLINE __m128i Reversed(__m128i v) {
  if (kLaneBytes == 4) return _mm_shuffle_epi32(v, 0x1b);
  const __m128i bytes = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m128i words = _mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1);
  return _mm_shuffle_epi8(v, kLaneBytes == 1 ? bytes : words);
}

/// Each lane of `v` one further up; into the first comes the last of `before`.
template <int kLaneBytes>
MMCPP_INLINE __m128i MovedUp(__m128i before, __m128i v) {
  return _mm_alignr_epi8(v, before, 16 - kLaneBytes);
}

}  // namespace
}  // namespace mmcpp::simd

#include "simd/kernels_png_wave.h"

namespace mmcpp::simd {

void PngUnfilterAvx2(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                     const uint8_t* above, uint8_t* const* dst) {
  Unfilter(rows, bytes, pixel_bytes, src, above, dst);
}

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
