// The JPEG kernels for AVX2 and BMI2: inverse DCTs of two blocks at once, one in each half of the
// registers, and 32 pixels of RGB at once.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_jpeg.h"

MMCPP_TARGET_BEGIN("avx2,bmi,bmi2")

#include "simd/kernels_jpeg_scan.h"

#define MMCPP_JPEG_VECTOR __m256i
#define MMCPP_JPEG_OP(name) _mm256_##name
#define MMCPP_JPEG_BITS(name) _mm256_##name##_si256
#include "simd/kernels_jpeg_idct.h"

namespace mmcpp::simd {
namespace {

MMCPP_INLINE __m256i Load32(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
MMCPP_INLINE __m128i Load16(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}
MMCPP_INLINE void Store16(void* to, __m128i v) { _mm_storeu_si128(static_cast<__m128i*>(to), v); }

/// Samples by columns to bytes by rows: the first block's eight left, the second's right.
MMCPP_INLINE __m256i StoreSamples(__m256i* v, uint8_t* dst, size_t stride) {
  __m256i all = v[0];
  for (int i = 1; i < 8; ++i) all = _mm256_or_si256(all, v[i]);
  const __m256i offset = _mm256_set1_epi16(512 - 128);
  for (int i = 0; i < 8; ++i) v[i] = _mm256_subs_epu16(v[i], offset);
  __m256i bytes[4], pairs[4], quads[4];
  for (int i = 0; i < 4; ++i) bytes[i] = _mm256_packus_epi16(v[i], v[i + 4]);
  for (size_t i = 0; i < 2; ++i) {
    pairs[i] = _mm256_unpacklo_epi8(bytes[2 * i], bytes[2 * i + 1]);      // columns 2i, 2i+1
    pairs[i + 2] = _mm256_unpackhi_epi8(bytes[2 * i], bytes[2 * i + 1]);  // and 4 more
  }
  for (size_t i = 0; i < 2; ++i) {
    quads[2 * i] = _mm256_unpacklo_epi16(pairs[2 * i], pairs[2 * i + 1]);
    quads[2 * i + 1] = _mm256_unpackhi_epi16(pairs[2 * i], pairs[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    const __m256i rows[2] = {_mm256_unpacklo_epi32(quads[i], quads[i + 2]),
                             _mm256_unpackhi_epi32(quads[i], quads[i + 2])};
    for (int j = 0; j < 2; ++j) {
      const __m256i row = _mm256_permute4x64_epi64(rows[j], 0xd8);
      uint8_t* const to = dst + static_cast<size_t>(4 * i + 2 * j) * stride;
      Store16(to, _mm256_castsi256_si128(row));
      Store16(to + stride, _mm256_extracti128_si256(row, 1));
    }
  }
  return _mm256_and_si256(all, _mm256_set1_epi16(static_cast<int16_t>(0xfc00)));
}

/// Row `y` of both blocks, multiplied.
MMCPP_INLINE __m256i Dequantised(const int16_t* coefficients, const JpegQuantisers* quantisers,
                                 size_t y) {
  const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(Load16(coefficients + 8 * y)),
                                               Load16(coefficients + 64 + 8 * y), 1);
  return _mm256_mullo_epi16(both, _mm256_broadcastsi128_si256(Load16(quantisers->values + 8 * y)));
}

MMCPP_INLINE __m256i IdctFull(int16_t* coefficients, const JpegQuantisers* quantisers, uint8_t* dst,
                              size_t stride) {
  __m256i v[8];
  for (size_t y = 0; y < 8; ++y) v[y] = Dequantised(coefficients, quantisers, y);
  memset(coefficients, 0, 128 * sizeof *coefficients);
  Pass<kFirstShift>(v, _mm256_set1_epi32(kFirstBias));
  const __m256i large = Magnitudes(v, 8);
  Transpose(v);
  Pass<kSecondShift>(v, _mm256_set1_epi32(kSecondBias));
  return _mm256_or_si256(large, StoreSamples(v, dst, stride));
}

/// Of blocks with coefficients in the first four rows and columns alone.
MMCPP_INLINE __m256i IdctLow(int16_t* coefficients, const JpegQuantisers* quantisers, uint8_t* dst,
                             size_t stride) {
  __m256i in[4], rows[4], v[8];
  for (size_t y = 0; y < 4; ++y) in[y] = Dequantised(coefficients, quantisers, y);
  memset(coefficients, 0, 32 * sizeof *coefficients);
  memset(coefficients + 64, 0, 32 * sizeof *coefficients);
  const Parts columns =
      TransformLow(_mm256_unpacklo_epi16(in[0], in[2]), _mm256_unpacklo_epi16(in[1], in[3]),
                   _mm256_set1_epi32(kFirstBias));
  // rows[i]: four lanes of row i, and of row i + 4 behind them
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm256_packs_epi32(Front<kFirstShift>(columns, i), Back<kFirstShift>(columns, 3 - i));
  }
  const __m256i large = Magnitudes(rows, 4);
  const __m256i r02 = _mm256_unpacklo_epi16(rows[0], rows[2]);
  const __m256i r13 = _mm256_unpacklo_epi16(rows[1], rows[3]);
  const __m256i r46 = _mm256_unpackhi_epi16(rows[0], rows[2]);
  const __m256i r57 = _mm256_unpackhi_epi16(rows[1], rows[3]);
  const __m256i c01[2] = {_mm256_unpacklo_epi16(r02, r13), _mm256_unpacklo_epi16(r46, r57)};
  const __m256i c23[2] = {_mm256_unpackhi_epi16(r02, r13), _mm256_unpackhi_epi16(r46, r57)};
  const __m256i c0 = _mm256_unpacklo_epi64(c01[0], c01[1]);
  const __m256i c1 = _mm256_unpackhi_epi64(c01[0], c01[1]);
  const __m256i c2 = _mm256_unpacklo_epi64(c23[0], c23[1]);
  const __m256i c3 = _mm256_unpackhi_epi64(c23[0], c23[1]);
  const __m256i bias = _mm256_set1_epi32(kSecondBias);
  const Parts low =
      TransformLow(_mm256_unpacklo_epi16(c0, c2), _mm256_unpacklo_epi16(c1, c3), bias);
  const Parts high =
      TransformLow(_mm256_unpackhi_epi16(c0, c2), _mm256_unpackhi_epi16(c1, c3), bias);
  Finish<kSecondShift>(low, high, v);
  return _mm256_or_si256(large, StoreSamples(v, dst, stride));
}

MMCPP_INLINE uint64_t FlatSample(const int16_t* coefficients, const JpegQuantisers* quantisers) {
  const int32_t sample = ((coefficients[0] * quantisers->values[0] + 4) >> 3) + 128;
  return static_cast<uint64_t>(sample < 0 ? 0 : sample > 255 ? 255 : sample) * 0x0101010101010101u;
}

void IdctFlat(int16_t* coefficients, const JpegQuantisers* quantisers, uint8_t* dst,
              size_t stride) {
  const __m128i row =
      _mm_set_epi64x(static_cast<int64_t>(FlatSample(coefficients + 64, quantisers)),
                     static_cast<int64_t>(FlatSample(coefficients, quantisers)));
  coefficients[0] = coefficients[64] = 0;
  for (size_t y = 0; y < 8; ++y) Store16(dst + y * stride, row);
}

/// Pixels 2i and 2i + 1 of one channel, 16 bits each; in each half 8 of them.
struct Channel {
  __m256i even, odd;
};

MMCPP_INLINE Channel Split(const uint8_t* from) {
  const __m256i bytes = Load32(from);
  return {_mm256_and_si256(bytes, _mm256_set1_epi16(255)), _mm256_srli_epi16(bytes, 8)};
}

struct Rgb {
  __m256i red, green, blue;
};

/// jdcolor.c's sums. Of red and blue only the fractions of the factors are multiplied; that the
/// rounding is the same with 15 bits holds for each of the 256 values of cr and cb.
MMCPP_INLINE Rgb ToRgb(__m256i y, __m256i cb, __m256i cr) {
  const __m256i middle = _mm256_set1_epi16(128);
  cb = _mm256_sub_epi16(cb, middle);
  cr = _mm256_sub_epi16(cr, middle);
  const __m256i factors = Pairs(-22'554, 65'536 - 46'802);
  const __m256i half = _mm256_set1_epi32(32'768);
  const __m256i even = _mm256_blend_epi16(cb, _mm256_slli_epi32(cr, 16), 0xaa);
  const __m256i odd = _mm256_blend_epi16(_mm256_srli_epi32(cb, 16), cr, 0xaa);
  const __m256i even_sum = _mm256_add_epi32(_mm256_madd_epi16(even, factors), half);
  const __m256i odd_sum = _mm256_add_epi32(_mm256_madd_epi16(odd, factors), half);
  const __m256i green = _mm256_blend_epi16(_mm256_srli_epi32(even_sum, 16), odd_sum, 0xaa);
  const __m256i y_red = _mm256_add_epi16(y, cr);
  return {_mm256_add_epi16(y_red, _mm256_mulhrs_epi16(cr, _mm256_set1_epi16(13'173))),
          _mm256_add_epi16(_mm256_sub_epi16(y, cr), green),
          _mm256_add_epi16(_mm256_add_epi16(_mm256_add_epi16(y, cb), cb),
                           _mm256_mulhrs_epi16(cb, _mm256_set1_epi16(-7'471)))};
}

// Byte i of vector v of a half's 48 bytes, from where packing put its pixel; none of other
// channels.
#define MMCPP_FROM(v, c, i) \
  ((16 * v + i) % 3 == c ? ((16 * v + i) / 3 % 2 * 8 + (16 * v + i) / 3 / 2) : -1)
#define MMCPP_MASK(v, c)                                                                    \
  _mm256_broadcastsi128_si256(_mm_setr_epi8(                                                \
      MMCPP_FROM(v, c, 0), MMCPP_FROM(v, c, 1), MMCPP_FROM(v, c, 2), MMCPP_FROM(v, c, 3),   \
      MMCPP_FROM(v, c, 4), MMCPP_FROM(v, c, 5), MMCPP_FROM(v, c, 6), MMCPP_FROM(v, c, 7),   \
      MMCPP_FROM(v, c, 8), MMCPP_FROM(v, c, 9), MMCPP_FROM(v, c, 10), MMCPP_FROM(v, c, 11), \
      MMCPP_FROM(v, c, 12), MMCPP_FROM(v, c, 13), MMCPP_FROM(v, c, 14), MMCPP_FROM(v, c, 15)))
#define MMCPP_INTERLEAVED(v)                                                     \
  _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(red, MMCPP_MASK(v, 0)),    \
                                  _mm256_shuffle_epi8(green, MMCPP_MASK(v, 1))), \
                  _mm256_shuffle_epi8(blue, MMCPP_MASK(v, 2)))

/// 32 pixels, 96 bytes.
MMCPP_INLINE void StoreRgb(Channel y, Channel cb, Channel cr, uint8_t* to) {
  const Rgb even = ToRgb(y.even, cb.even, cr.even), odd = ToRgb(y.odd, cb.odd, cr.odd);
  const __m256i red = _mm256_packus_epi16(even.red, odd.red);
  const __m256i green = _mm256_packus_epi16(even.green, odd.green);
  const __m256i blue = _mm256_packus_epi16(even.blue, odd.blue);
  const __m256i v[3] = {MMCPP_INTERLEAVED(0), MMCPP_INTERLEAVED(1), MMCPP_INTERLEAVED(2)};
  for (size_t i = 0; i < 3; ++i) {
    Store16(to + 16 * i, _mm256_castsi256_si128(v[i]));
    Store16(to + 48 + 16 * i, _mm256_extracti128_si256(v[i], 1));
  }
}

/// 16 samples as 16 bits each.
MMCPP_INLINE __m256i Widen(const uint8_t* from) { return _mm256_cvtepu8_epi16(Load16(from)); }

/// jdsample.c's h2v1_fancy_upsample.
MMCPP_INLINE Channel UpsampleRow(const uint8_t* from) {
  const __m256i near = Widen(from);
  const __m256i three = _mm256_add_epi16(_mm256_add_epi16(near, near), near);
  const __m256i left = _mm256_add_epi16(Widen(from - 1), _mm256_set1_epi16(1));
  const __m256i right = _mm256_add_epi16(Widen(from + 1), _mm256_set1_epi16(2));
  return {_mm256_srli_epi16(_mm256_add_epi16(three, left), 2),
          _mm256_srli_epi16(_mm256_add_epi16(three, right), 2)};
}

/// jdsample.c's h2v2_fancy_upsample: three parts of the nearer row and one of the farther, ...
MMCPP_INLINE __m256i ColumnSums(const uint8_t* near, const uint8_t* far) {
  const __m256i v = Widen(near);
  return _mm256_add_epi16(_mm256_add_epi16(v, v), _mm256_add_epi16(v, Widen(far)));
}
/// ... and the same along the row.
MMCPP_INLINE Channel UpsampleSums(__m256i before, __m256i sums, __m256i behind) {
  const __m256i three = _mm256_add_epi16(_mm256_add_epi16(sums, sums), sums);
  const __m256i left = _mm256_alignr_epi8(sums, _mm256_permute2x128_si256(before, sums, 0x21), 14);
  const __m256i right = _mm256_alignr_epi8(_mm256_permute2x128_si256(sums, behind, 0x21), sums, 2);
  return {
      _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(three, left), _mm256_set1_epi16(8)), 4),
      _mm256_srli_epi16(_mm256_add_epi16(_mm256_add_epi16(three, right), _mm256_set1_epi16(7)), 4)};
}

}  // namespace

int32_t JpegDecodeMcusAvx2(JpegScan* scan, uint32_t first, uint32_t end) {
  return JpegDecodeMcus(scan, first, end);
}

int JpegIdctAvx2(int16_t* coefficients, const uint8_t* last, const JpegQuantisers* quantisers,
                 size_t blocks, uint8_t* dst, size_t stride) {
  constexpr int kLastLow = 9;  // up to this zigzag position, rows and columns are below 4
  __m256i large = _mm256_setzero_si256();
  for (size_t i = 0; i < blocks; i += 2, coefficients += 128, dst += 16) {
    const int furthest = last[i] | (i + 1 < blocks ? last[i + 1] : 0);
    if (furthest == 0) {
      IdctFlat(coefficients, quantisers, dst, stride);
    } else if (last[i] <= kLastLow && (i + 1 == blocks || last[i + 1] <= kLastLow)) {
      large = _mm256_or_si256(large, IdctLow(coefficients, quantisers, dst, stride));
    } else {
      large = _mm256_or_si256(large, IdctFull(coefficients, quantisers, dst, stride));
    }
  }
  return _mm256_testz_si256(large, large) ? 0 : 1;
}

void JpegRgbAvx2(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb) {
  size_t x = 0;
  for (; x + 32 <= n; x += 32) StoreRgb(Split(y + x), Split(cb + x), Split(cr + x), rgb + 3 * x);
  if (x == n) return;
  uint8_t end[96];
  StoreRgb(Split(y + x), Split(cb + x), Split(cr + x), end);
  memcpy(rgb + 3 * x, end, 3 * (n - x));
}

void JpegRgbH2v1Avx2(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                     uint8_t* rgb) {
  size_t x = 0;
  for (; x + 32 <= n; x += 32) {
    StoreRgb(Split(y + x), UpsampleRow(cb + x / 2), UpsampleRow(cr + x / 2), rgb + 3 * x);
  }
  if (x == n) return;
  uint8_t end[96];
  StoreRgb(Split(y + x), UpsampleRow(cb + x / 2), UpsampleRow(cr + x / 2), end);
  memcpy(rgb + 3 * x, end, 3 * (n - x));
}

void JpegRgbH2v2Avx2(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr, size_t n,
                     uint8_t* rgb) {
  // Of the vectors before the first only the last lane is looked at, the sample before the row.
  __m256i cb_before = _mm256_set1_epi16(static_cast<int16_t>(cb[0][-1] * 3 + cb[1][-1]));
  __m256i cr_before = _mm256_set1_epi16(static_cast<int16_t>(cr[0][-1] * 3 + cr[1][-1]));
  __m256i cb_sums = ColumnSums(cb[0], cb[1]), cr_sums = ColumnSums(cr[0], cr[1]);
  for (size_t x = 0; x < n; x += 32) {
    const size_t behind = x / 2 + 16;
    const __m256i cb_behind = ColumnSums(cb[0] + behind, cb[1] + behind);
    const __m256i cr_behind = ColumnSums(cr[0] + behind, cr[1] + behind);
    const Channel blue = UpsampleSums(cb_before, cb_sums, cb_behind);
    const Channel red = UpsampleSums(cr_before, cr_sums, cr_behind);
    if (x + 32 <= n) {
      StoreRgb(Split(y + x), blue, red, rgb + 3 * x);
    } else {
      uint8_t end[96];
      StoreRgb(Split(y + x), blue, red, end);
      memcpy(rgb + 3 * x, end, 3 * (n - x));
    }
    cb_before = cb_sums, cr_before = cr_sums;
    cb_sums = cb_behind, cr_sums = cr_behind;
  }
}

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
