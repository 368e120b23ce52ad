// Vertical resampling for AVX2: 32 bytes of a row at a time.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels.h"
#include "simd/kernels_resample.h"

MMCPP_TARGET_BEGIN("avx2")

#include "simd/kernels_resample_avx2.h"

namespace mmcpp::simd {
namespace {

// The sums of 32 bytes: of the first 8 of each lane, and of the others.
struct RowSums {
  Sums first, second;
};

MMCPP_INLINE void AddRows(RowSums* sums, __m256i r0, __m256i r1, const int32_t* words,
                          int low_sum) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i first = _mm256_unpacklo_epi8(r0, r1), second = _mm256_unpackhi_epi8(r0, r1);
  Add(&sums->first, first, _mm256_unpacklo_epi8(first, zero), _mm256_unpackhi_epi8(first, zero),
      words, low_sum);
  Add(&sums->second, second, _mm256_unpacklo_epi8(second, zero), _mm256_unpackhi_epi8(second, zero),
      words, low_sum);
}

// Adds `pairs` pairs of rows, whose lows go into sum `low_sum`.
MMCPP_INLINE void AddPairsOfRows(const uint8_t* const* src, size_t at, size_t pairs,
                                 const int32_t* words, int low_sum, RowSums* sums) {
  for (size_t pair = 0; pair < pairs; ++pair, src += 2, words += 2) {
    AddRows(sums, Load32(src[0] + at), Load32(src[1] + at), words, low_sum);
  }
}

// 32 bytes of an output row. A constant count unrolls the loops.
MMCPP_INLINE __m256i VerticalBlock(const PackedWindow& window, const int32_t* words, int32_t count,
                                   const uint8_t* const* src, size_t at, const Joining& how,
                                   int low_sums) {
  const Sums start = StartSums(&window, low_sums);
  RowSums sums = {start, start};
  const size_t pairs = static_cast<size_t>(count / 2);
  const size_t split = low_sums == 2 ? static_cast<size_t>(Split((count + 1) / 2, 2)) : pairs;
  AddPairsOfRows(src, at, split, words, low_sums == 0 ? 0 : 1, &sums);
  AddPairsOfRows(src + 2 * split, at, pairs - split, words + 2 * split, 2, &sums);
  if (count % 2 != 0) {
    // The last row alone; its pair's second weight is zero.
    const __m256i last = Load32(src[count - 1] + at);
    AddRows(&sums, last, last, words + 2 * pairs, low_sums);
  }
  return _mm256_packus_epi16(Join(sums.first, how, low_sums), Join(sums.second, how, low_sums));
}

MMCPP_INLINE void VerticalRow(const ResampleAxis* axis, const PackedWindow* packed, int32_t count,
                              size_t bytes, const uint8_t* const* src, int low_sums, uint8_t* dst) {
  const PackedWindow window = *packed;  // a copy: as far as C++ knows, `dst` may be the original
  const int32_t* words = Words(axis) + window.word;
  const Joining how = MakeJoining(window.base, axis->precision, low_sums);
  // The last block ends with the row and may overlap the one before it.
  for (size_t at = 0; at < bytes; at += 32) {
    if (at + 32 > bytes) at = bytes - 32;
    Store32(dst + at, VerticalBlock(window, words, count, src, at, how, low_sums));
  }
}

enum { kUnrolledPairs = 8 };

MMCPP_INLINE void Vertical(const ResampleAxis* axis, int32_t y, size_t bytes,
                           const uint8_t* const* src, int low_sums, uint8_t* dst) {
  const PackedWindow* window = Windows(axis) + y;
  const int32_t pairs = window->pairs, count = axis->count[y];
  if (pairs > kUnrolledPairs) {
    return VerticalRow(axis, window, count, bytes, src, low_sums, dst);
  }
  // Even counts only: the second weight of an odd window's last pair is zero, whatever the row.
  const uint8_t* rows[2 * kUnrolledPairs];
  for (int32_t k = 0; k < 2 * kUnrolledPairs; ++k) rows[k] = src[k < count ? k : count - 1];
  switch (pairs) {
    case 1:
      return VerticalRow(axis, window, 2, bytes, rows, low_sums, dst);
    case 2:
      return VerticalRow(axis, window, 4, bytes, rows, low_sums, dst);
    case 3:
      return VerticalRow(axis, window, 6, bytes, rows, low_sums, dst);
    case 4:
      return VerticalRow(axis, window, 8, bytes, rows, low_sums, dst);
    case 5:
      return VerticalRow(axis, window, 10, bytes, rows, low_sums, dst);
    case 6:
      return VerticalRow(axis, window, 12, bytes, rows, low_sums, dst);
    case 7:
      return VerticalRow(axis, window, 14, bytes, rows, low_sums, dst);
    default:
      return VerticalRow(axis, window, 16, bytes, rows, low_sums, dst);
  }
}

}  // namespace

void ResampleVerticalU8Avx2(const ResampleAxis* axis, int32_t y, size_t bytes,
                            const uint8_t* const* src, uint8_t* dst) {
  const int32_t low_sums = LowSums(axis);
  if (low_sums == kUnfit || bytes < 32) {
    kScalarKernels.resample_vertical_u8(axis, y, bytes, src, dst);
  } else if (low_sums == 2) {
    Vertical(axis, y, bytes, src, 2, dst);
  } else if (low_sums == 1) {
    Vertical(axis, y, bytes, src, 1, dst);
  } else {
    Vertical(axis, y, bytes, src, 0, dst);
  }
}

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
