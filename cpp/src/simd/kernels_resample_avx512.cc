// Resampling for AVX-512 with VNNI and VBMI: a weight is written in two or three signed digits of
// base 256, so that vpdpbusd multiplies four pixels by four digits per lane, and the digits' sums
// are joined at the end. All sums are modulo 2^32, where neither order nor overflow of a part
// matters.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_resample.h"

MMCPP_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni")

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

// Packed weights: a header, a window per output, then the digits. A window is cut into quads of
// inputs, and digits are stored as [quad][digit] words of four int8.
struct PackedHeader {
  int32_t digits;  // per weight: 2 or 3
  int32_t padding[15];
};
struct PackedWindow {
  int32_t quad;  // first quad; horizontally inputs 4 * quad.., vertically counted from the window
  int32_t quads;
  size_t digits;  // index of the first word
};

MMCPP_INLINE const PackedWindow* Windows(const void* packed) {
  return reinterpret_cast<const PackedWindow*>(static_cast<const uint8_t*>(packed) +
                                               sizeof(PackedHeader));
}
MMCPP_INLINE const int32_t* Digits(const ResampleAxis* axis, const PackedWindow* window) {
  return reinterpret_cast<const int32_t*>(Windows(axis->packed) + axis->out_size) + window->digits;
}

// Horizontal windows start at a multiple of four inputs, vertical ones where they start.
MMCPP_INLINE int32_t Lead(const ResampleAxis* axis, int32_t i, int vertical) {
  return vertical ? 0 : axis->first[i] % 4;
}

size_t PackedBytes(const ResampleAxis* axis, int vertical) {
  size_t words = 0;
  for (int32_t i = 0; i < axis->out_size; ++i) {
    words += 3 * static_cast<size_t>((Lead(axis, i, vertical) + axis->count[i] + 3) / 4);
  }
  return sizeof(PackedHeader) + static_cast<size_t>(axis->out_size) * sizeof(PackedWindow) +
         words * sizeof(int32_t);
}

// Two digits hold -32896..32639.
int32_t DigitsNeeded(const ResampleAxis* axis) {
  for (int32_t i = 0; i < axis->out_size; ++i) {
    const int32_t* weights = axis->weights + static_cast<size_t>(i) * axis->stride;
    for (int32_t k = 0; k < axis->count[i]; ++k) {
      if (weights[k] < -32896 || weights[k] > 32639) return 3;
    }
  }
  return 2;
}

void Pack(const ResampleAxis* axis, int vertical, void* packed) {
  PackedHeader* header = static_cast<PackedHeader*>(packed);
  memset(packed, 0, PackedBytes(axis, vertical));
  header->digits = DigitsNeeded(axis);
  PackedWindow* windows = reinterpret_cast<PackedWindow*>(header + 1);
  int8_t* digits = reinterpret_cast<int8_t*>(windows + axis->out_size);
  size_t words = 0;
  for (int32_t i = 0; i < axis->out_size; ++i) {
    const int32_t* weights = axis->weights + static_cast<size_t>(i) * axis->stride;
    const int32_t lead = Lead(axis, i, vertical);
    windows[i].quad = axis->first[i] / 4;
    windows[i].quads = (lead + axis->count[i] + 3) / 4;
    windows[i].digits = words;
    for (int32_t k = 0; k < axis->count[i]; ++k) {
      const size_t at = static_cast<size_t>(lead) + static_cast<size_t>(k);
      int32_t rest = weights[k];
      for (int32_t d = 0; d < header->digits; ++d) {
        const int8_t digit = static_cast<int8_t>(rest);
        digits[(words + at / 4 * static_cast<size_t>(header->digits) + static_cast<size_t>(d)) * 4 +
               at % 4] = digit;
        rest = (rest - digit) >> 8;
      }
    }
    words += static_cast<size_t>(windows[i].quads) * static_cast<size_t>(header->digits);
  }
}

// The sums of 16 outputs, one per digit. Named, not an array: GCC keeps arrays in memory.
struct Sums {
  __m512i d0, d1, d2;
};
// The digits of four weights, in every lane.
struct Weights {
  __m512i d0, d1, d2;
};

MMCPP_INLINE Sums StartSums(const ResampleAxis* axis) {
  return {_mm512_set1_epi32(1 << (axis->precision - 1)), _mm512_setzero_si512(),
          _mm512_setzero_si512()};
}
MMCPP_INLINE Weights LoadWeights(const int32_t* words, int digits) {
  return {_mm512_set1_epi32(words[0]), _mm512_set1_epi32(words[1]),
          digits == 3 ? _mm512_set1_epi32(words[2]) : _mm512_setzero_si512()};
}
MMCPP_INLINE void Add(Sums* sums, __m512i pixels, const Weights& weights, int digits) {
  sums->d0 = _mm512_dpbusd_epi32(sums->d0, pixels, weights.d0);
  sums->d1 = _mm512_dpbusd_epi32(sums->d1, pixels, weights.d1);
  if (digits == 3) sums->d2 = _mm512_dpbusd_epi32(sums->d2, pixels, weights.d2);
}
// The whole sum, rounded but not yet clamped.
MMCPP_INLINE __m512i Join(const Sums& sums, int digits, __m128i precision) {
  __m512i high = sums.d1;
  if (digits == 3) high = _mm512_add_epi32(_mm512_slli_epi32(sums.d2, 8), high);
  return _mm512_sra_epi32(_mm512_add_epi32(_mm512_slli_epi32(high, 8), sums.d0), precision);
}

// Four vectors of int32 to bytes, clamped; within each 128-bit lane a's four, then b's, c's, d's.
MMCPP_INLINE __m512i Clamp(__m512i a, __m512i b, __m512i c, __m512i d) {
  return _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
}

// ---- horizontal ------------------------------------------------------------------------------

enum { kRows = kResampleRows, kGroups = 128 };

// Sixteen rows of up to kGroups groups of four pixels, transposed: pixels[group][channel] has the
// group's four bytes of one channel in word r for row r.
struct Strip {
  __m512i pixels[kGroups][3];
  const uint8_t* rows[kRows];
  int32_t in_begin, in_end;  // pixels that rows hold
  int32_t begin, end;        // groups that `pixels` holds
};

// Four rows' bytes from `offset`; mask says which of the 16 are there.
MMCPP_INLINE __m512i LoadRows(const uint8_t* const* rows, ptrdiff_t offset) {
  __m512i v =
      _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[0] + offset)));
  v = _mm512_inserti32x4(v, _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[4] + offset)), 1);
  v = _mm512_inserti32x4(v, _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[8] + offset)), 2);
  return _mm512_inserti32x4(v, _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[12] + offset)),
                            3);
}
MMCPP_INLINE __m512i LoadRowsMasked(const uint8_t* const* rows, ptrdiff_t offset, __mmask16 mask) {
  __m512i v = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(mask, rows[0] + offset));
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(mask, rows[4] + offset), 1);
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(mask, rows[8] + offset), 2);
  return _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(mask, rows[12] + offset), 3);
}

// RGBRGBRGBRGB.... -> RRRRGGGGBBBB.... in each lane.
MMCPP_INLINE __m512i SplitLanes(__m512i v) {
  return _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(_mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5,
                                                                     8, 11, -1, -1, -1, -1)));
}

MMCPP_INLINE void StoreGroup(__m512i v0, __m512i v1, __m512i v2, __m512i v3, __m512i* out) {
  v0 = SplitLanes(v0);
  v1 = SplitLanes(v1);
  v2 = SplitLanes(v2);
  v3 = SplitLanes(v3);
  const __m512i red_green01 = _mm512_unpacklo_epi32(v0, v1);
  const __m512i red_green23 = _mm512_unpacklo_epi32(v2, v3);
  out[0] = _mm512_unpacklo_epi64(red_green01, red_green23);
  out[1] = _mm512_unpackhi_epi64(red_green01, red_green23);
  out[2] = _mm512_unpacklo_epi64(_mm512_unpackhi_epi32(v0, v1), _mm512_unpackhi_epi32(v2, v3));
}

// Transposes groups from `begin` on, as many as fit and exist.
__attribute__((noinline)) void Fill(Strip* strip, int32_t begin) {
  const int32_t last = (strip->in_end + 3) / 4;
  strip->begin = begin;
  strip->end = last - begin < kGroups ? last : begin + kGroups;
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(strip->in_end - strip->in_begin) * 3;
  for (int32_t group = begin; group < strip->end; ++group) {
    const ptrdiff_t offset = (static_cast<ptrdiff_t>(group) * 4 - strip->in_begin) * 3;
    const uint8_t* const* rows = strip->rows;
    __m512i* out = strip->pixels[group - begin];
    if (offset >= 0 && offset + 16 <= bytes) {
      StoreGroup(LoadRows(rows, offset), LoadRows(rows + 1, offset), LoadRows(rows + 2, offset),
                 LoadRows(rows + 3, offset), out);
      continue;
    }
    uint32_t mask = 0xffff;
    if (offset < 0) mask &= 0xffffu << -offset;
    if (offset + 16 > bytes) mask &= 0xffffu >> (offset + 16 - bytes);
    const __mmask16 there = static_cast<__mmask16>(mask);
    StoreGroup(LoadRowsMasked(rows, offset, there), LoadRowsMasked(rows + 1, offset, there),
               LoadRowsMasked(rows + 2, offset, there), LoadRowsMasked(rows + 3, offset, there),
               out);
  }
}

// One output pixel of sixteen rows: three vectors of int32, not yet clamped.
MMCPP_INLINE void Pixel(const ResampleAxis* axis, int32_t x, int digits, Strip* strip,
                        __m128i precision, __m512i* out) {
  const PackedWindow* window = Windows(axis->packed) + x;
  const int32_t* words = Digits(axis, window);
  Sums red = StartSums(axis), green = red, blue = red;
  // One turn, but for windows of more than kGroups groups.
  int32_t quad = window->quad;
  const int32_t end = window->quad + window->quads;
  while (quad < end) {
    const int32_t part_end = end - quad < kGroups ? end : quad + kGroups;
    if (quad < strip->begin || part_end > strip->end) Fill(strip, quad);
    const __m512i(*pixels)[3] = strip->pixels + (quad - strip->begin);
    for (; quad < part_end; ++quad, ++pixels, words += digits) {
      const Weights weights = LoadWeights(words, digits);
      Add(&red, (*pixels)[0], weights, digits);
      Add(&green, (*pixels)[1], weights, digits);
      Add(&blue, (*pixels)[2], weights, digits);
    }
  }
  out[0] = Join(red, digits, precision);
  out[1] = Join(green, digits, precision);
  out[2] = Join(blue, digits, precision);
}

MMCPP_INLINE void StoreLane(uint8_t* dst, __m128i lane) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), lane);
}
// Lane l to row 4 * l.
MMCPP_INLINE void StoreLanes(__m512i v, uint8_t* const* dst, size_t at) {
  StoreLane(dst[0] + at, _mm512_castsi512_si128(v));
  StoreLane(dst[4] + at, _mm512_extracti32x4_epi32(v, 1));
  StoreLane(dst[8] + at, _mm512_extracti32x4_epi32(v, 2));
  StoreLane(dst[12] + at, _mm512_extracti32x4_epi32(v, 3));
}

// Sixteen int32 vectors, one per output byte with a row per word, to 16 bytes of 16 rows.
MMCPP_INLINE void StoreBytes(const __m512i* in, uint8_t* const* dst, size_t at) {
  const __m512i by_row =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m512i v0 = _mm512_shuffle_epi8(Clamp(in[0], in[1], in[2], in[3]), by_row);
  const __m512i v1 = _mm512_shuffle_epi8(Clamp(in[4], in[5], in[6], in[7]), by_row);
  const __m512i v2 = _mm512_shuffle_epi8(Clamp(in[8], in[9], in[10], in[11]), by_row);
  const __m512i v3 = _mm512_shuffle_epi8(Clamp(in[12], in[13], in[14], in[15]), by_row);
  const __m512i low01 = _mm512_unpacklo_epi32(v0, v1), low23 = _mm512_unpacklo_epi32(v2, v3);
  const __m512i high01 = _mm512_unpackhi_epi32(v0, v1), high23 = _mm512_unpackhi_epi32(v2, v3);
  StoreLanes(_mm512_unpacklo_epi64(low01, low23), dst, at);
  StoreLanes(_mm512_unpackhi_epi64(low01, low23), dst + 1, at);
  StoreLanes(_mm512_unpacklo_epi64(high01, high23), dst + 2, at);
  StoreLanes(_mm512_unpackhi_epi64(high01, high23), dst + 3, at);
}

// `n` pixels of `rows` rows from sums[3 * pixel + channel] to dst + offset.
MMCPP_INLINE void StorePixels(const __m512i* sums, int32_t n, size_t rows, uint8_t* const* dst,
                              size_t offset) {
  uint8_t scratch[kRows][48];
  uint8_t* targets[kRows];
  const int whole = n == 16 && rows == kRows;
  for (size_t row = 0; row < kRows; ++row) targets[row] = whole ? dst[row] + offset : scratch[row];
  for (size_t part = 0; part < 3; ++part) StoreBytes(sums + 16 * part, targets, 16 * part);
  if (whole) return;
  for (size_t row = 0; row < rows; ++row) {
    memcpy(dst[row] + offset, scratch[row], static_cast<size_t>(n) * 3);
  }
}

MMCPP_INLINE void Horizontal(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                             uint8_t* const* dst, int digits, Strip* strip) {
  const __m128i precision = _mm_cvtsi32_si128(axis->precision);
  __m512i sums[48];
  for (int32_t x = span->out_begin; x < span->out_end; x += 16) {
    const int32_t n = span->out_end - x < 16 ? span->out_end - x : 16;
    for (ptrdiff_t i = 0; i < n; ++i) {
      Pixel(axis, x + static_cast<int32_t>(i), digits, strip, precision, sums + 3 * i);
    }
    for (int32_t i = 3 * n; i < 48; ++i) sums[i] = _mm512_setzero_si512();
    StorePixels(sums, n, rows, dst, static_cast<size_t>(x - span->out_begin) * 3);
  }
}

// ---- vertical --------------------------------------------------------------------------------

MMCPP_INLINE __m512i LoadBytes(const uint8_t* p, __mmask64 mask, int whole) {
  return whole ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi8(mask, p);
}

// The sums of 64 bytes. Unpacking puts bytes 4 * part .. of each lane into part; Clamp puts them
// back.
struct RowSums {
  Sums p0, p1, p2, p3;
};

MMCPP_INLINE void AddRows(RowSums* sums, __m512i r0, __m512i r1, __m512i r2, __m512i r3,
                          const Weights& weights, int digits) {
  const __m512i low01 = _mm512_unpacklo_epi8(r0, r1), high01 = _mm512_unpackhi_epi8(r0, r1);
  const __m512i low23 = _mm512_unpacklo_epi8(r2, r3), high23 = _mm512_unpackhi_epi8(r2, r3);
  Add(&sums->p0, _mm512_unpacklo_epi16(low01, low23), weights, digits);
  Add(&sums->p1, _mm512_unpackhi_epi16(low01, low23), weights, digits);
  Add(&sums->p2, _mm512_unpacklo_epi16(high01, high23), weights, digits);
  Add(&sums->p3, _mm512_unpackhi_epi16(high01, high23), weights, digits);
}

// 64 bytes of an output row, or those that mask names.
MMCPP_INLINE void VerticalBlock(const ResampleAxis* axis, const int32_t* words, int32_t count,
                                const uint8_t* const* src, size_t at, __mmask64 mask, int whole,
                                int digits, uint8_t* dst) {
  const Sums start = StartSums(axis);
  RowSums sums = {start, start, start, start};
  int32_t k = 0;
  for (; k + 4 <= count; k += 4, words += digits) {
    AddRows(&sums, LoadBytes(src[k] + at, mask, whole), LoadBytes(src[k + 1] + at, mask, whole),
            LoadBytes(src[k + 2] + at, mask, whole), LoadBytes(src[k + 3] + at, mask, whole),
            LoadWeights(words, digits), digits);
  }
  if (k < count) {  // rows past the window have weight 0: any row will do
    const __m512i r0 = LoadBytes(src[k] + at, mask, whole);
    const __m512i r1 = k + 1 < count ? LoadBytes(src[k + 1] + at, mask, whole) : r0;
    const __m512i r2 = k + 2 < count ? LoadBytes(src[k + 2] + at, mask, whole) : r0;
    AddRows(&sums, r0, r1, r2, r0, LoadWeights(words, digits), digits);
  }
  const __m128i precision = _mm_cvtsi32_si128(axis->precision);
  const __m512i out = Clamp(Join(sums.p0, digits, precision), Join(sums.p1, digits, precision),
                            Join(sums.p2, digits, precision), Join(sums.p3, digits, precision));
  if (whole) {
    _mm512_storeu_si512(dst + at, out);
  } else {
    _mm512_mask_storeu_epi8(dst + at, mask, out);
  }
}

MMCPP_INLINE void Vertical(const ResampleAxis* axis, int32_t y, size_t bytes,
                           const uint8_t* const* src, int digits, uint8_t* dst) {
  const int32_t* words = Digits(axis, Windows(axis->packed) + y);
  const int32_t count = axis->count[y];
  size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    VerticalBlock(axis, words, count, src, at, ~0ull, 1, digits, dst);
  }
  if (at < bytes) {
    const __mmask64 mask = ~0ull >> (64 - (bytes - at));
    VerticalBlock(axis, words, count, src, at, mask, 0, digits, dst);
  }
}

}  // namespace

size_t PackedHorizontalBytesAvx512(const ResampleAxis* axis) { return PackedBytes(axis, 0); }
void PackHorizontalAvx512(const ResampleAxis* axis, void* packed) { Pack(axis, 0, packed); }
size_t PackedVerticalBytesAvx512(const ResampleAxis* axis) { return PackedBytes(axis, 1); }
void PackVerticalAvx512(const ResampleAxis* axis, void* packed) { Pack(axis, 1, packed); }

void ResampleHorizontalRgb8Avx512(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                                  const uint8_t* const* src, uint8_t* const* dst) {
  const int three = static_cast<const PackedHeader*>(axis->packed)->digits == 3;
  Strip strip;
  strip.in_begin = span->in_begin;
  strip.in_end = span->in_end;
  for (size_t row = 0; row < rows; row += kRows) {
    const size_t n = rows - row < kRows ? rows - row : size_t{kRows};
    // Missing rows are computed from the last one and not stored.
    for (size_t i = 0; i < kRows; ++i) strip.rows[i] = src[row + (i < n ? i : n - 1)];
    strip.begin = strip.end = 0;
    if (three) {
      Horizontal(axis, span, n, dst + row, 3, &strip);
    } else {
      Horizontal(axis, span, n, dst + row, 2, &strip);
    }
  }
}

void ResampleVerticalU8Avx512(const ResampleAxis* axis, int32_t y, size_t bytes,
                              const uint8_t* const* src, uint8_t* dst) {
  if (static_cast<const PackedHeader*>(axis->packed)->digits == 3) {
    Vertical(axis, y, bytes, src, 3, dst);
  } else {
    Vertical(axis, y, bytes, src, 2, dst);
  }
}

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
