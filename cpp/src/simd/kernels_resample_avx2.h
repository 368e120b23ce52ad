// What the horizontal and the vertical kernel of AVX2 share: packed weights and sums.
//
// A weight of a window is written as high * base + low. vpmaddwd multiplies two pixels by two highs
// per 32-bit sum; vpmaddubsw two by two lows per 16-bit sum, of which a vector has twice as many.
// |low| is at most about base / 2, and base so small that the sum of the products with lows spans
// less than 2^16: it is taken modulo 2^16, from a start that makes its least value zero, and so
// known. Windows whose lows span more have them in two sums, one for their first pairs and one for
// the rest. The whole is high sum * base + low sums, modulo 2^32.
//
// To be included between MMCPP_TARGET_BEGIN("avx2") and MMCPP_TARGET_END, after the intrinsics.
#pragma once

#include <stdint.h>

#include "simd/kernels.h"

namespace mmcpp::simd {

#define MMCPP_INLINE static inline __attribute__((always_inline))

// A header, a window per output, then the pairs of the windows' inputs: a word of two highs and one
// of two lows, twice.
struct PackedHeader {
  int32_t low_sums;  // 0: every base is 1; 1; 2; or kUnfit: the scalar table does it
  int32_t padding[15];
};
struct PackedWindow {
  int32_t pair;  // first pair; horizontally inputs 2 * pair.., vertically counted from the window
  int32_t pairs;
  int32_t word;  // index of the first word
  int32_t base;
  int32_t high_start;
  int32_t low_start;      // as uint16, twice; if the axis has one sum of lows
  int32_t low_starts[2];  // if it has two
};
enum { kUnfit = 3 };
enum { kBaseShift = 7, kShiftBase = 1 << kBaseShift, kPillowPrecision = 22 };

// How many of a window's pairs have their lows in the first sum.
MMCPP_INLINE int32_t Split(int32_t pairs, int low_sums) {
  return low_sums == 2 ? (pairs + 1) / 2 : pairs;
}

MMCPP_INLINE const PackedWindow* Windows(const ResampleAxis* axis) {
  return reinterpret_cast<const PackedWindow*>(static_cast<const PackedHeader*>(axis->packed) + 1);
}
MMCPP_INLINE const int32_t* Words(const ResampleAxis* axis) {
  return reinterpret_cast<const int32_t*>(Windows(axis) + axis->out_size);
}
MMCPP_INLINE int32_t LowSums(const ResampleAxis* axis) {
  return static_cast<const PackedHeader*>(axis->packed)->low_sums;
}

MMCPP_INLINE __m128i Load16(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
MMCPP_INLINE void Store16(uint8_t* p, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}
MMCPP_INLINE __m256i Load32(const uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
MMCPP_INLINE void Store32(uint8_t* p, __m256i v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}

// Sums of 16 outputs. Unpacking bytes or words of a vector takes the first half of each 128-bit
// lane, or the second: `first` and `second` have the outputs of these. `low` has all, in order.
// Members, not arrays: GCC keeps arrays in memory.
struct Sums {
  __m256i first, second, low, low2;
};

MMCPP_INLINE Sums StartSums(const PackedWindow* window, int low_sums) {
  const __m256i high = _mm256_set1_epi32(window->high_start);
  return {high, high, _mm256_set1_epi32(low_sums == 2 ? window->low_starts[0] : window->low_start),
          _mm256_set1_epi32(window->low_starts[1])};
}

// Makes GCC add in place: in loops it would copy the sums each turn, and keep some in memory.
MMCPP_INLINE void KeepSum(__m256i* sum) { __asm__("" : "+x"(*sum)); }

// One output vector of two pixels, interleaved as bytes and as words, times a pair of weights.
MMCPP_INLINE void Add(Sums* sums, __m256i bytes, __m256i first, __m256i second,
                      const int32_t* words, int low_sum) {
  const __m256i highs = _mm256_set1_epi32(words[0]);
  sums->first = _mm256_add_epi32(sums->first, _mm256_madd_epi16(first, highs));
  sums->second = _mm256_add_epi32(sums->second, _mm256_madd_epi16(second, highs));
  KeepSum(&sums->first);
  KeepSum(&sums->second);
  if (low_sum == 0) return;
  __m256i* low = low_sum == 1 ? &sums->low : &sums->low2;
  *low = _mm256_add_epi16(*low, _mm256_maddubs_epi16(bytes, _mm256_set1_epi32(words[1])));
  KeepSum(low);
}

MMCPP_INLINE __m256i FirstWords(__m256i v) {
  return _mm256_unpacklo_epi16(v, _mm256_setzero_si256());
}
MMCPP_INLINE __m256i SecondWords(__m256i v) {
  return _mm256_unpackhi_epi16(v, _mm256_setzero_si256());
}

// How sums are joined: (high * base + lows) >> precision.
struct Joining {
  int32_t base;
  __m128i precision;
  int shifts;  // kShiftBase and kPillowPrecision: no product is needed, and the shift is known
};
MMCPP_INLINE Joining MakeJoining(int32_t base, int32_t precision, int low_sums) {
  return {base, _mm_cvtsi32_si128(precision),
          low_sums == 1 && base == kShiftBase && precision == kPillowPrecision};
}

MMCPP_INLINE __m256i Rounded(__m256i first, __m256i second, __m128i shift) {
  return _mm256_packs_epi32(_mm256_sra_epi32(first, shift), _mm256_sra_epi32(second, shift));
}

// The whole sums, rounded and clamped to int16, in order.
MMCPP_INLINE __m256i Join(const Sums& sums, const Joining& how, int low_sums) {
  if (low_sums == 0) return Rounded(sums.first, sums.second, how.precision);
  if (how.shifts) {
    enum { kRest = kPillowPrecision - kBaseShift };
    const __m256i low = _mm256_srli_epi16(sums.low, kBaseShift);
    return _mm256_packs_epi32(
        _mm256_srai_epi32(_mm256_add_epi32(sums.first, FirstWords(low)), kRest),
        _mm256_srai_epi32(_mm256_add_epi32(sums.second, SecondWords(low)), kRest));
  }
  const __m256i base = _mm256_set1_epi32(how.base);
  __m256i first = _mm256_add_epi32(_mm256_mullo_epi32(sums.first, base), FirstWords(sums.low));
  __m256i second = _mm256_add_epi32(_mm256_mullo_epi32(sums.second, base), SecondWords(sums.low));
  if (low_sums == 2) {
    first = _mm256_add_epi32(first, FirstWords(sums.low2));
    second = _mm256_add_epi32(second, SecondWords(sums.low2));
  }
  return Rounded(first, second, how.precision);
}

}  // namespace mmcpp::simd
