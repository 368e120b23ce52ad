// The JPEG kernels for AVX-512: inverse DCTs of four blocks at once and 64 pixels of RGB at once,
// by the same sums as with AVX2.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_jpeg.h"

MMCPP_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")

#define MMCPP_JPEG_VECTOR __m512i
#define MMCPP_JPEG_OP(name) _mm512_##name
#define MMCPP_JPEG_BITS(name) _mm512_##name##_si512
#include "simd/kernels_jpeg_idct.h"

namespace mmcpp::simd {
namespace {

constexpr __mmask32 kOdd = 0xaaaaaaaa;

MMCPP_INLINE __m512i Load64(const void* from) { return _mm512_loadu_si512(from); }
MMCPP_INLINE __m128i Load16(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

/// Samples by columns to bytes by rows: the first block's eight leftmost.
MMCPP_INLINE __m512i StoreSamples(__m512i* v, uint8_t* dst, size_t stride) {
  __m512i all = v[0];
  for (int i = 1; i < 8; ++i) all = _mm512_or_si512(all, v[i]);
  const __m512i offset = _mm512_set1_epi16(512 - 128);
  for (int i = 0; i < 8; ++i) v[i] = _mm512_subs_epu16(v[i], offset);
  __m512i bytes[4], pairs[4], quads[4];
  for (int i = 0; i < 4; ++i) bytes[i] = _mm512_packus_epi16(v[i], v[i + 4]);
  for (size_t i = 0; i < 2; ++i) {
    pairs[i] = _mm512_unpacklo_epi8(bytes[2 * i], bytes[2 * i + 1]);      // columns 2i, 2i+1
    pairs[i + 2] = _mm512_unpackhi_epi8(bytes[2 * i], bytes[2 * i + 1]);  // and 4 more
  }
  for (size_t i = 0; i < 2; ++i) {
    quads[2 * i] = _mm512_unpacklo_epi16(pairs[2 * i], pairs[2 * i + 1]);
    quads[2 * i + 1] = _mm512_unpackhi_epi16(pairs[2 * i], pairs[2 * i + 1]);
  }
  const __m512i by_rows = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  for (int i = 0; i < 2; ++i) {
    const __m512i rows[2] = {_mm512_unpacklo_epi32(quads[i], quads[i + 2]),
                             _mm512_unpackhi_epi32(quads[i], quads[i + 2])};
    for (int j = 0; j < 2; ++j) {
      const __m512i row = _mm512_permutexvar_epi64(by_rows, rows[j]);
      uint8_t* const to = dst + static_cast<size_t>(4 * i + 2 * j) * stride;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(row));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + stride),
                          _mm512_extracti64x4_epi64(row, 1));
    }
  }
  return _mm512_and_si512(all, _mm512_set1_epi16(static_cast<int16_t>(0xfc00)));
}

/// Row `y` of four blocks, multiplied.
MMCPP_INLINE __m512i Dequantised(const int16_t* coefficients, const JpegQuantisers* quantisers,
                                 size_t y) {
  const int16_t* const from = coefficients + 8 * y;
  __m512i all = _mm512_broadcast_i64x2(Load16(from));
  all = _mm512_mask_broadcast_i64x2(all, 0x0c, Load16(from + 64));
  all = _mm512_mask_broadcast_i64x2(all, 0x30, Load16(from + 128));
  all = _mm512_mask_broadcast_i64x2(all, 0xc0, Load16(from + 192));
  return _mm512_mullo_epi16(all, _mm512_broadcast_i64x2(Load16(quantisers->values + 8 * y)));
}

MMCPP_INLINE __m512i IdctFull(int16_t* coefficients, const JpegQuantisers* quantisers, uint8_t* dst,
                              size_t stride) {
  __m512i v[8];
  for (size_t y = 0; y < 8; ++y) v[y] = Dequantised(coefficients, quantisers, y);
  memset(coefficients, 0, 256 * sizeof *coefficients);
  Pass<kFirstShift>(v, _mm512_set1_epi32(kFirstBias));
  const __m512i large = Magnitudes(v, 8);
  Transpose(v);
  Pass<kSecondShift>(v, _mm512_set1_epi32(kSecondBias));
  return _mm512_or_si512(large, StoreSamples(v, dst, stride));
}

/// Of blocks with coefficients in the first four rows and columns alone.
MMCPP_INLINE __m512i IdctLow(int16_t* coefficients, const JpegQuantisers* quantisers, uint8_t* dst,
                             size_t stride) {
  __m512i in[4], rows[4], v[8];
  for (size_t y = 0; y < 4; ++y) in[y] = Dequantised(coefficients, quantisers, y);
  for (size_t b = 0; b < 4; ++b) memset(coefficients + 64 * b, 0, 32 * sizeof *coefficients);
  const Parts columns =
      TransformLow(_mm512_unpacklo_epi16(in[0], in[2]), _mm512_unpacklo_epi16(in[1], in[3]),
                   _mm512_set1_epi32(kFirstBias));
  // rows[i]: four lanes of row i, and of row i + 4 behind them
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm512_packs_epi32(Front<kFirstShift>(columns, i), Back<kFirstShift>(columns, 3 - i));
  }
  const __m512i large = Magnitudes(rows, 4);
  const __m512i r02 = _mm512_unpacklo_epi16(rows[0], rows[2]);
  const __m512i r13 = _mm512_unpacklo_epi16(rows[1], rows[3]);
  const __m512i r46 = _mm512_unpackhi_epi16(rows[0], rows[2]);
  const __m512i r57 = _mm512_unpackhi_epi16(rows[1], rows[3]);
  const __m512i c01[2] = {_mm512_unpacklo_epi16(r02, r13), _mm512_unpacklo_epi16(r46, r57)};
  const __m512i c23[2] = {_mm512_unpackhi_epi16(r02, r13), _mm512_unpackhi_epi16(r46, r57)};
  const __m512i c0 = _mm512_unpacklo_epi64(c01[0], c01[1]);
  const __m512i c1 = _mm512_unpackhi_epi64(c01[0], c01[1]);
  const __m512i c2 = _mm512_unpacklo_epi64(c23[0], c23[1]);
  const __m512i c3 = _mm512_unpackhi_epi64(c23[0], c23[1]);
  const __m512i bias = _mm512_set1_epi32(kSecondBias);
  const Parts low =
      TransformLow(_mm512_unpacklo_epi16(c0, c2), _mm512_unpacklo_epi16(c1, c3), bias);
  const Parts high =
      TransformLow(_mm512_unpackhi_epi16(c0, c2), _mm512_unpackhi_epi16(c1, c3), bias);
  Finish<kSecondShift>(low, high, v);
  return _mm512_or_si512(large, StoreSamples(v, dst, stride));
}

/// Pixels 2i and 2i + 1 of one channel, 16 bits each; in each half 8 of them.
struct Channel {
  __m512i even, odd;
};

MMCPP_INLINE Channel Split(const uint8_t* from) {
  const __m512i bytes = Load64(from);
  return {_mm512_and_si512(bytes, _mm512_set1_epi16(255)), _mm512_srli_epi16(bytes, 8)};
}

struct Rgb {
  __m512i red, green, blue;
};

/// jdcolor.c's sums. Of red and blue only the fractions of the factors are multiplied; that the
/// rounding is the same with 15 bits holds for each of the 256 values of cr and cb.
MMCPP_INLINE Rgb ToRgb(__m512i y, __m512i cb, __m512i cr) {
  const __m512i middle = _mm512_set1_epi16(128);
  cb = _mm512_sub_epi16(cb, middle);
  cr = _mm512_sub_epi16(cr, middle);
  const __m512i factors = Pairs(-22'554, 65'536 - 46'802);
  const __m512i half = _mm512_set1_epi32(32'768);
  const __m512i even = _mm512_mask_blend_epi16(kOdd, cb, _mm512_slli_epi32(cr, 16));
  const __m512i odd = _mm512_mask_blend_epi16(kOdd, _mm512_srli_epi32(cb, 16), cr);
  const __m512i even_sum = _mm512_add_epi32(_mm512_madd_epi16(even, factors), half);
  const __m512i odd_sum = _mm512_add_epi32(_mm512_madd_epi16(odd, factors), half);
  const __m512i green = _mm512_mask_blend_epi16(kOdd, _mm512_srli_epi32(even_sum, 16), odd_sum);
  const __m512i y_red = _mm512_add_epi16(y, cr);
  return {_mm512_add_epi16(y_red, _mm512_mulhrs_epi16(cr, _mm512_set1_epi16(13'173))),
          _mm512_add_epi16(_mm512_sub_epi16(y, cr), green),
          _mm512_add_epi16(_mm512_add_epi16(_mm512_add_epi16(y, cb), cb),
                           _mm512_mulhrs_epi16(cb, _mm512_set1_epi16(-7'471)))};
}

/// Where each of 192 bytes is: in red, or 64 further on in green; in blue.
struct Places {
  uint8_t red_green[3][64], blue[3][64];
  uint64_t is_blue[3];
};

constexpr Places MakePlaces() {
  Places places = {};
  for (int i = 0; i < 192; ++i) {
    const int pixel = i / 3, channel = i % 3;
    // Packing leaves the even pixels of 16 before the odd ones.
    const int place = pixel / 16 * 16 + pixel % 2 * 8 + pixel % 16 / 2;
    places.red_green[i / 64][i % 64] = static_cast<uint8_t>(place + (channel == 1 ? 64 : 0));
    places.blue[i / 64][i % 64] = static_cast<uint8_t>(place);
    if (channel == 2) places.is_blue[i / 64] |= uint64_t{1} << i % 64;
  }
  return places;
}
alignas(64) constexpr Places kPlaces = MakePlaces();

/// 64 pixels, 192 bytes.
MMCPP_INLINE void StoreRgb(Channel y, Channel cb, Channel cr, uint8_t* to) {
  const Rgb even = ToRgb(y.even, cb.even, cr.even), odd = ToRgb(y.odd, cb.odd, cr.odd);
  const __m512i red = _mm512_packus_epi16(even.red, odd.red);
  const __m512i green = _mm512_packus_epi16(even.green, odd.green);
  const __m512i blue = _mm512_packus_epi16(even.blue, odd.blue);
  for (int i = 0; i < 3; ++i) {
    const __m512i both = _mm512_permutex2var_epi8(red, Load64(kPlaces.red_green[i]), green);
    _mm512_storeu_si512(
        to + ptrdiff_t{64} * i,
        _mm512_mask_permutexvar_epi8(both, kPlaces.is_blue[i], Load64(kPlaces.blue[i]), blue));
  }
}

/// 32 samples as 16 bits each.
MMCPP_INLINE __m512i Widen(const uint8_t* from) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

/// jdsample.c's h2v1_fancy_upsample.
MMCPP_INLINE Channel UpsampleRow(const uint8_t* from) {
  const __m512i near = Widen(from);
  const __m512i three = _mm512_add_epi16(_mm512_add_epi16(near, near), near);
  const __m512i left = _mm512_add_epi16(Widen(from - 1), _mm512_set1_epi16(1));
  const __m512i right = _mm512_add_epi16(Widen(from + 1), _mm512_set1_epi16(2));
  return {_mm512_srli_epi16(_mm512_add_epi16(three, left), 2),
          _mm512_srli_epi16(_mm512_add_epi16(three, right), 2)};
}

/// jdsample.c's h2v2_fancy_upsample: three parts of the nearer row and one of the farther, ...
MMCPP_INLINE __m512i ColumnSums(const uint8_t* near, const uint8_t* far) {
  const __m512i v = Widen(near);
  return _mm512_add_epi16(_mm512_add_epi16(v, v), _mm512_add_epi16(v, Widen(far)));
}
/// ... and the same along the row.
MMCPP_INLINE Channel UpsampleSums(__m512i before, __m512i sums, __m512i behind) {
  const __m512i three = _mm512_add_epi16(_mm512_add_epi16(sums, sums), sums);
  const __m512i left = _mm512_alignr_epi8(sums, _mm512_alignr_epi64(sums, before, 6), 14);
  const __m512i right = _mm512_alignr_epi8(_mm512_alignr_epi64(behind, sums, 2), sums, 2);
  return {
      _mm512_srli_epi16(_mm512_add_epi16(_mm512_add_epi16(three, left), _mm512_set1_epi16(8)), 4),
      _mm512_srli_epi16(_mm512_add_epi16(_mm512_add_epi16(three, right), _mm512_set1_epi16(7)), 4)};
}

}  // namespace

int JpegIdctAvx512(int16_t* coefficients, const uint8_t* last, const JpegQuantisers* quantisers,
                   size_t blocks, uint8_t* dst, size_t stride) {
  constexpr int kLastLow = 9;  // up to this zigzag position, rows and columns are below 4
  __m512i large = _mm512_setzero_si512();
  size_t i = 0;
  int rest = 0;
  for (; i + 4 <= blocks; i += 4) {
    int furthest = 0;
    for (int b = 0; b < 4; ++b) furthest = last[i + b] > furthest ? last[i + b] : furthest;
    if (furthest == 0) {
      rest |= JpegIdctAvx2(coefficients + 64 * i, last + i, quantisers, 4, dst + 8 * i, stride);
    } else if (furthest <= kLastLow) {
      large =
          _mm512_or_si512(large, IdctLow(coefficients + 64 * i, quantisers, dst + 8 * i, stride));
    } else {
      large =
          _mm512_or_si512(large, IdctFull(coefficients + 64 * i, quantisers, dst + 8 * i, stride));
    }
  }
  if (i < blocks) {
    rest |=
        JpegIdctAvx2(coefficients + 64 * i, last + i, quantisers, blocks - i, dst + 8 * i, stride);
  }
  return rest | (_mm512_test_epi16_mask(large, large) != 0 ? 1 : 0);
}

void JpegRgbAvx512(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb) {
  size_t x = 0;
  for (; x + 64 <= n; x += 64) StoreRgb(Split(y + x), Split(cb + x), Split(cr + x), rgb + 3 * x);
  if (x == n) return;
  uint8_t end[192];
  StoreRgb(Split(y + x), Split(cb + x), Split(cr + x), end);
  memcpy(rgb + 3 * x, end, 3 * (n - x));
}

void JpegRgbH2v1Avx512(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                       uint8_t* rgb) {
  size_t x = 0;
  for (; x + 64 <= n; x += 64) {
    StoreRgb(Split(y + x), UpsampleRow(cb + x / 2), UpsampleRow(cr + x / 2), rgb + 3 * x);
  }
  if (x == n) return;
  uint8_t end[192];
  StoreRgb(Split(y + x), UpsampleRow(cb + x / 2), UpsampleRow(cr + x / 2), end);
  memcpy(rgb + 3 * x, end, 3 * (n - x));
}

void JpegRgbH2v2Avx512(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr,
                       size_t n, uint8_t* rgb) {
  // Of the vectors before the first only the last lane is looked at, the sample before the row.
  __m512i cb_before = _mm512_set1_epi16(static_cast<int16_t>(cb[0][-1] * 3 + cb[1][-1]));
  __m512i cr_before = _mm512_set1_epi16(static_cast<int16_t>(cr[0][-1] * 3 + cr[1][-1]));
  __m512i cb_sums = ColumnSums(cb[0], cb[1]), cr_sums = ColumnSums(cr[0], cr[1]);
  for (size_t x = 0; x < n; x += 64) {
    const size_t behind = x / 2 + 32;
    const __m512i cb_behind = ColumnSums(cb[0] + behind, cb[1] + behind);
    const __m512i cr_behind = ColumnSums(cr[0] + behind, cr[1] + behind);
    const Channel blue = UpsampleSums(cb_before, cb_sums, cb_behind);
    const Channel red = UpsampleSums(cr_before, cr_sums, cr_behind);
    if (x + 64 <= n) {
      StoreRgb(Split(y + x), blue, red, rgb + 3 * x);
    } else {
      uint8_t end[192];
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
