// What becomes of transparency, for AVX2: eight pixels at once.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/kernels_alpha.h"

MMCPP_TARGET_BEGIN("avx2")

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

MMCPP_INLINE __m256i Load(const uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// Eight pixels without their fourth byte; writes four bytes beyond them.
MMCPP_INLINE void StoreRgb(__m256i pixels, uint8_t* rgb) {
  const __m256i packed = _mm256_shuffle_epi8(
      pixels, _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0, 1, 2, 4,
                               5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rgb), _mm256_castsi256_si128(packed));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rgb + 12), _mm256_extracti128_si256(packed, 1));
}

// Channels as words: (color * alpha + background * (255 - alpha)) / 255, rounded. No sum is over
// 65,535.
MMCPP_INLINE __m256i Blend(__m256i color, __m256i alpha, __m256i background) {
  const __m256i rest = _mm256_sub_epi16(_mm256_set1_epi16(255), alpha);
  const __m256i sum =
      _mm256_add_epi16(_mm256_mullo_epi16(color, alpha), _mm256_mullo_epi16(background, rest));
  const __m256i t = _mm256_add_epi16(sum, _mm256_set1_epi16(128));
  return _mm256_srli_epi16(_mm256_add_epi16(t, _mm256_srli_epi16(t, 8)), 8);
}

}  // namespace

// The pixels of a step are read before its bytes are written, and what is written beyond it is not
// beyond what was read: rgb may be rgba.

void BlendRgba8Avx2(const uint8_t* rgba, size_t n, const uint8_t* background, uint8_t* rgb) {
  const short red = background[0], green = background[1], blue = background[2];
  const __m256i back = _mm256_setr_epi16(red, green, blue, 0, red, green, blue, 0, red, green, blue,
                                         0, red, green, blue, 0);
  const __m256i zero = _mm256_setzero_si256();
  const __m256i low_alpha = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(3, -1, 3, -1, 3, -1, 3, -1, 7, -1, 7, -1, 7, -1, 7, -1));
  const __m256i high_alpha = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(11, -1, 11, -1, 11, -1, 11, -1, 15, -1, 15, -1, 15, -1, 15, -1));
  size_t i = 0;
  for (; i + 10 <= n; i += 8) {
    const __m256i v = Load(rgba + 4 * i);
    const __m256i low =
        Blend(_mm256_unpacklo_epi8(v, zero), _mm256_shuffle_epi8(v, low_alpha), back);
    const __m256i high =
        Blend(_mm256_unpackhi_epi8(v, zero), _mm256_shuffle_epi8(v, high_alpha), back);
    StoreRgb(_mm256_packus_epi16(low, high), rgb + 3 * i);
  }
  BlendRgba8Scalar(rgba + 4 * i, n - i, background, rgb + 3 * i);
}

void DropRgba8Avx2(const uint8_t* rgba, size_t n, uint8_t* rgb) {
  size_t i = 0;
  for (; i + 10 <= n; i += 8) StoreRgb(Load(rgba + 4 * i), rgb + 3 * i);
  DropRgba8Scalar(rgba + 4 * i, n - i, rgb + 3 * i);
}

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
