// Horizontal resampling for AVX2: 16 rows at a time, transposed, so that a vector has a pixel of
// each.
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

enum { kRows = 16, kPairs = 64 };

// A pair of pixels of 16 rows, one channel: two bytes per row; and two words per row, of rows 0-3
// and 8-11, then of rows 4-7 and 12-15.
struct Channel {
  __m256i bytes, first, second;
};

// Up to kPairs pairs of 16 rows, transposed.
struct Strip {
  Channel pixels[kPairs][3];
  const uint8_t* rows[kRows];
  int32_t in_begin, in_end;  // pixels that rows hold
  int32_t begin, end;        // pairs that `pixels` holds
};

// Row k in the low lane, row 8 + k in the high one; RGBRGBRGBRGB.... -> R0 R1 R2 R3, G.., B...
MMCPP_INLINE __m256i LoadLanes(const uint8_t* row, const uint8_t* row8) {
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, -1, -1, -1, -1));
  return _mm256_shuffle_epi8(
      _mm256_inserti128_si256(_mm256_castsi128_si256(Load16(row)), Load16(row8), 1), order);
}

MMCPP_INLINE void StoreChannel(__m256i bytes, Channel* out) {
  out->bytes = bytes;
  out->first = _mm256_unpacklo_epi8(bytes, _mm256_setzero_si256());
  out->second = _mm256_unpackhi_epi8(bytes, _mm256_setzero_si256());
  __asm__("" ::: "memory");  // or GCC gathers the stores of a group, for which it has no registers
}

// Words of eight rows in two vectors, of rows 0-3 and 4-7, to two pairs of pixels.
MMCPP_INLINE void StorePairs(__m256i rows0, __m256i rows4, Channel* pair0, Channel* pair1) {
  StoreChannel(_mm256_unpacklo_epi64(rows0, rows4), pair0);
  StoreChannel(_mm256_unpackhi_epi64(rows0, rows4), pair1);
}

// Two pairs from 16 bytes of each row, of which 12 are used.
MMCPP_INLINE void StoreGroup(const uint8_t* const* rows, ptrdiff_t offset, Channel (*out)[3]) {
  const __m256i v0 = LoadLanes(rows[0] + offset, rows[8] + offset);
  const __m256i v1 = LoadLanes(rows[1] + offset, rows[9] + offset);
  const __m256i v2 = LoadLanes(rows[2] + offset, rows[10] + offset);
  const __m256i v3 = LoadLanes(rows[3] + offset, rows[11] + offset);
  const __m256i v4 = LoadLanes(rows[4] + offset, rows[12] + offset);
  const __m256i v5 = LoadLanes(rows[5] + offset, rows[13] + offset);
  const __m256i v6 = LoadLanes(rows[6] + offset, rows[14] + offset);
  const __m256i v7 = LoadLanes(rows[7] + offset, rows[15] + offset);
  // Words: red's two pairs and green's; then blue's.
  const __m256i low01 = _mm256_unpacklo_epi16(v0, v1), low23 = _mm256_unpacklo_epi16(v2, v3);
  const __m256i low45 = _mm256_unpacklo_epi16(v4, v5), low67 = _mm256_unpacklo_epi16(v6, v7);
  StorePairs(_mm256_unpacklo_epi32(low01, low23), _mm256_unpacklo_epi32(low45, low67), &out[0][0],
             &out[1][0]);
  StorePairs(_mm256_unpackhi_epi32(low01, low23), _mm256_unpackhi_epi32(low45, low67), &out[0][1],
             &out[1][1]);
  const __m256i high01 = _mm256_unpackhi_epi16(v0, v1), high23 = _mm256_unpackhi_epi16(v2, v3);
  const __m256i high45 = _mm256_unpackhi_epi16(v4, v5), high67 = _mm256_unpackhi_epi16(v6, v7);
  StorePairs(_mm256_unpacklo_epi32(high01, high23), _mm256_unpacklo_epi32(high45, high67),
             &out[0][2], &out[1][2]);
}

// Transposes pairs from the even number `begin` on, as many as fit and exist.
__attribute__((noinline)) void Fill(Strip* strip, int32_t begin) {
  const int32_t last = (strip->in_end + 3) / 4 * 2;
  int32_t pair = begin;
  if (strip->begin <= begin && begin < strip->end) {
    // What later windows share with earlier ones is there already.
    pair = strip->end;
    memmove(strip->pixels, strip->pixels + (begin - strip->begin),
            static_cast<size_t>(pair - begin) * sizeof(*strip->pixels));
  }
  strip->begin = begin;
  strip->end = last - begin < kPairs ? last : begin + kPairs;
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(strip->in_end - strip->in_begin) * 3;
  for (; pair < strip->end; pair += 2) {
    const ptrdiff_t offset = (static_cast<ptrdiff_t>(pair) * 2 - strip->in_begin) * 3;
    if (offset >= 0 && offset + 16 <= bytes) {
      StoreGroup(strip->rows, offset, strip->pixels + (pair - begin));
      continue;
    }
    // At the ends of the rows only what is there is read.
    uint8_t edge[kRows][16] = {};
    const uint8_t* edges[kRows];
    const ptrdiff_t from = offset < 0 ? 0 : offset;
    const ptrdiff_t to = offset + 16 < bytes ? offset + 16 : bytes;
    for (size_t row = 0; row < kRows; ++row) {
      memcpy(edge[row] + (from - offset), strip->rows[row] + from, static_cast<size_t>(to - from));
      edges[row] = edge[row];
    }
    StoreGroup(edges, 0, strip->pixels + (pair - begin));
  }
}

struct PixelSums {
  Sums red, green, blue;
};

// Adds `n` pairs, at least one, whose lows go into sum `low_sum`; returns the words after theirs.
MMCPP_INLINE const int32_t* AddPairs(const Channel (*pixel)[3], int32_t n, const int32_t* words,
                                     int low_sum, PixelSums* sums) {
  const Channel(*end)[3] = pixel + n;
  do {
    const Channel *red = &(*pixel)[0], *green = &(*pixel)[1], *blue = &(*pixel)[2];
    Add(&sums->red, red->bytes, red->first, red->second, words, low_sum);
    Add(&sums->green, green->bytes, green->first, green->second, words, low_sum);
    Add(&sums->blue, blue->bytes, blue->first, blue->second, words, low_sum);
    words += 2;
  } while (++pixel != end);
  return words;
}

// The sums of a window that a strip has no room for.
__attribute__((noinline)) void AddWideWindow(const PackedWindow* window, const int32_t* words,
                                             int low_sums, Strip* strip, PixelSums* sums) {
  const int32_t split = window->pair + Split(window->pairs, low_sums);
  const int32_t end = window->pair + window->pairs;
  for (int32_t pair = window->pair; pair < end;) {
    if (pair < strip->begin || pair >= strip->end) Fill(strip, pair & ~1);
    const int32_t part = pair < split ? split : end;
    const int32_t n = (part < strip->end ? part : strip->end) - pair;
    const Channel(*pixel)[3] = strip->pixels + (pair - strip->begin);
    if (low_sums == 0) {
      words = AddPairs(pixel, n, words, 0, sums);
    } else if (pair < split) {
      words = AddPairs(pixel, n, words, 1, sums);
    } else {
      words = AddPairs(pixel, n, words, 2, sums);
    }
    pair += n;
  }
}

// One output pixel of 16 rows: a vector of int16 per channel.
MMCPP_INLINE void Pixel(const PackedWindow* window, const int32_t* words, int low_sums,
                        Strip* strip, int32_t precision, __m256i* out) {
  const Sums start = StartSums(window, low_sums);
  PixelSums sums = {start, start, start};
  if (window->pairs < kPairs) {
    const int32_t end = window->pair + window->pairs;
    if (window->pair < strip->begin || end > strip->end) Fill(strip, window->pair & ~1);
    const Channel(*pixel)[3] = strip->pixels + (window->pair - strip->begin);
    const int32_t split = Split(window->pairs, low_sums);
    words = AddPairs(pixel, split, words, low_sums == 0 ? 0 : 1, &sums);
    if (split < window->pairs) AddPairs(pixel + split, window->pairs - split, words, 2, &sums);
  } else {
    PixelSums wide = sums;  // a copy, so that `sums` needs no address and stays in registers
    AddWideWindow(window, words, low_sums, strip, &wide);
    sums = wide;
  }
  const Joining how = MakeJoining(window->base, precision, low_sums);
  out[0] = Join(sums.red, how, low_sums);
  out[1] = Join(sums.green, how, low_sums);
  out[2] = Join(sums.blue, how, low_sums);
}

// Two vectors of int16, bytes x and x + 1 of 16 rows, to words of two bytes per row.
MMCPP_INLINE __m256i JoinBytes(const __m256i* in) {
  const __m256i by_row = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  return _mm256_shuffle_epi8(_mm256_packus_epi16(in[0], in[1]), by_row);
}

MMCPP_INLINE void StoreRows(__m256i v, uint8_t* row, uint8_t* row8) {
  Store16(row, _mm256_castsi256_si128(v));
  Store16(row8, _mm256_extracti128_si256(v, 1));
}

// Sixteen vectors of int16, one per output byte with a row per word, to 16 bytes of 16 rows.
MMCPP_INLINE void StoreBytes(const __m256i* in, uint8_t* const* dst, size_t at) {
  const __m256i v0 = JoinBytes(in), v1 = JoinBytes(in + 2);
  const __m256i v2 = JoinBytes(in + 4), v3 = JoinBytes(in + 6);
  const __m256i v4 = JoinBytes(in + 8), v5 = JoinBytes(in + 10);
  const __m256i v6 = JoinBytes(in + 12), v7 = JoinBytes(in + 14);
  const __m256i low01 = _mm256_unpacklo_epi16(v0, v1), high01 = _mm256_unpackhi_epi16(v0, v1);
  const __m256i low23 = _mm256_unpacklo_epi16(v2, v3), high23 = _mm256_unpackhi_epi16(v2, v3);
  const __m256i low45 = _mm256_unpacklo_epi16(v4, v5), high45 = _mm256_unpackhi_epi16(v4, v5);
  const __m256i low67 = _mm256_unpacklo_epi16(v6, v7), high67 = _mm256_unpackhi_epi16(v6, v7);
  const __m256i a[4] = {_mm256_unpacklo_epi32(low01, low23), _mm256_unpackhi_epi32(low01, low23),
                        _mm256_unpacklo_epi32(high01, high23),
                        _mm256_unpackhi_epi32(high01, high23)};
  const __m256i b[4] = {_mm256_unpacklo_epi32(low45, low67), _mm256_unpackhi_epi32(low45, low67),
                        _mm256_unpacklo_epi32(high45, high67),
                        _mm256_unpackhi_epi32(high45, high67)};
  for (size_t k = 0; k < 4; ++k) {
    StoreRows(_mm256_unpacklo_epi64(a[k], b[k]), dst[2 * k] + at, dst[2 * k + 8] + at);
    StoreRows(_mm256_unpackhi_epi64(a[k], b[k]), dst[2 * k + 1] + at, dst[2 * k + 9] + at);
  }
}

// `n` pixels of `rows` rows from values[3 * pixel + channel] to dst + offset.
MMCPP_INLINE void StorePixels(const __m256i* values, int32_t n, size_t rows, uint8_t* const* dst,
                              size_t offset) {
  uint8_t scratch[kRows][48];
  uint8_t* targets[kRows];
  const int whole = n == 16 && rows == kRows;
  for (size_t row = 0; row < kRows; ++row) targets[row] = whole ? dst[row] + offset : scratch[row];
  for (size_t part = 0; part < 3; ++part) StoreBytes(values + 16 * part, targets, 16 * part);
  if (whole) return;
  for (size_t row = 0; row < rows; ++row) {
    memcpy(dst[row] + offset, scratch[row], static_cast<size_t>(n) * 3);
  }
}

MMCPP_INLINE void Horizontal(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                             uint8_t* const* dst, int low_sums, Strip* strip) {
  __m256i values[48];
  memset(values, 0, sizeof(values));
  for (int32_t x = span->out_begin; x < span->out_end; x += 16) {
    const int32_t n = span->out_end - x < 16 ? span->out_end - x : 16;
    const PackedWindow* window = Windows(axis) + x;
    __m256i* pixel = values;
    for (int32_t i = 0; i < n; ++i, ++window, pixel += 3) {
      Pixel(window, Words(axis) + window->word, low_sums, strip, axis->precision, pixel);
    }
    StorePixels(values, n, rows, dst, static_cast<size_t>(x - span->out_begin) * 3);
  }
}

}  // namespace

void ResampleHorizontalRgb8Avx2(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                                const uint8_t* const* src, uint8_t* const* dst) {
  const int32_t low_sums = LowSums(axis);
  if (low_sums == kUnfit) {
    return kScalarKernels.resample_horizontal_rgb8(axis, span, rows, src, dst);
  }
  Strip strip;
  strip.in_begin = span->in_begin;
  strip.in_end = span->in_end;
  for (size_t row = 0; row < rows; row += kRows) {
    const size_t n = rows - row < kRows ? rows - row : size_t{kRows};
    // Missing rows are computed from the last one and not stored.
    for (size_t i = 0; i < kRows; ++i) strip.rows[i] = src[row + (i < n ? i : n - 1)];
    strip.begin = strip.end = 0;
    if (low_sums == 2) {
      Horizontal(axis, span, n, dst + row, 2, &strip);
    } else if (low_sums == 1) {
      Horizontal(axis, span, n, dst + row, 1, &strip);
    } else {
      Horizontal(axis, span, n, dst + row, 0, &strip);
    }
  }
}

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
