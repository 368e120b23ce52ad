// Kernels for AVX2 (Haswell and Zen onwards).
//
// Resampling: a weight of up to 24 bits is written as low + high * 2^15, both int16 (or is one
// int16 where the whole axis' weights are), so that vpmaddwd multiplies two pixels by two halves
// per lane, and the halves' sums are joined at the end. All sums are modulo 2^32, where neither
// order nor overflow of a part matters.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels.h"
#include "simd/kernels_alpha.h"
#include "simd/kernels_jpeg.h"
#include "simd/kernels_png.h"

MMCPP_TARGET_BEGIN("avx2")

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

enum { kHalfBits = 15 };

// Packed weights: a header, a window per output, then the halves. A window is cut into pairs of
// inputs, and halves are stored as [pair][half] words of two int16.
struct PackedHeader {
  int32_t halves;  // per weight: 1 or 2
  int32_t padding[15];
};
struct PackedWindow {
  int32_t pair;  // first pair; horizontally inputs 2 * pair.., vertically counted from the window
  int32_t pairs;
  size_t words;  // index of the first word
};

MMCPP_INLINE const PackedWindow* Windows(const void* packed) {
  return reinterpret_cast<const PackedWindow*>(static_cast<const uint8_t*>(packed) +
                                               sizeof(PackedHeader));
}
MMCPP_INLINE const int32_t* Words(const ResampleAxis* axis, const PackedWindow* window) {
  return reinterpret_cast<const int32_t*>(Windows(axis->packed) + axis->out_size) + window->words;
}

// Horizontal windows start at a multiple of two inputs, vertical ones where they start.
MMCPP_INLINE int32_t Lead(const ResampleAxis* axis, int32_t i, int vertical) {
  return vertical ? 0 : axis->first[i] % 2;
}

size_t PackedBytes(const ResampleAxis* axis, int vertical) {
  size_t words = 0;
  for (int32_t i = 0; i < axis->out_size; ++i) {
    words += 2 * static_cast<size_t>((Lead(axis, i, vertical) + axis->count[i] + 1) / 2);
  }
  return sizeof(PackedHeader) + static_cast<size_t>(axis->out_size) * sizeof(PackedWindow) +
         words * sizeof(int32_t);
}

int32_t HalvesNeeded(const ResampleAxis* axis) {
  for (int32_t i = 0; i < axis->out_size; ++i) {
    const int32_t* weights = axis->weights + static_cast<size_t>(i) * axis->stride;
    for (int32_t k = 0; k < axis->count[i]; ++k) {
      if (weights[k] < INT16_MIN || weights[k] > INT16_MAX) return 2;
    }
  }
  return 1;
}

void Pack(const ResampleAxis* axis, int vertical, void* packed) {
  PackedHeader* header = static_cast<PackedHeader*>(packed);
  memset(packed, 0, PackedBytes(axis, vertical));
  header->halves = HalvesNeeded(axis);
  PackedWindow* windows = reinterpret_cast<PackedWindow*>(header + 1);
  int16_t* halves = reinterpret_cast<int16_t*>(windows + axis->out_size);
  size_t words = 0;
  for (int32_t i = 0; i < axis->out_size; ++i) {
    const int32_t* weights = axis->weights + static_cast<size_t>(i) * axis->stride;
    const int32_t lead = Lead(axis, i, vertical);
    windows[i].pair = axis->first[i] / 2;
    windows[i].pairs = (lead + axis->count[i] + 1) / 2;
    windows[i].words = words;
    for (int32_t k = 0; k < axis->count[i]; ++k) {
      const size_t at = static_cast<size_t>(lead + k);
      const size_t word = words + at / 2 * static_cast<size_t>(header->halves);
      if (header->halves == 1) {
        halves[word * 2 + at % 2] = static_cast<int16_t>(weights[k]);
      } else {
        halves[word * 2 + at % 2] = static_cast<int16_t>(weights[k] & ((1 << kHalfBits) - 1));
        halves[(word + 1) * 2 + at % 2] = static_cast<int16_t>(weights[k] >> kHalfBits);
      }
    }
    words += static_cast<size_t>(windows[i].pairs * header->halves);
  }
}

size_t PackedHorizontalBytes(const ResampleAxis* axis) { return PackedBytes(axis, 0); }
void PackHorizontal(const ResampleAxis* axis, void* packed) { Pack(axis, 0, packed); }
size_t PackedVerticalBytes(const ResampleAxis* axis) { return PackedBytes(axis, 1); }
void PackVertical(const ResampleAxis* axis, void* packed) { Pack(axis, 1, packed); }

// The sums of 8 outputs, one per half. Named, not an array: GCC keeps arrays in memory.
struct Sums {
  __m256i low, high;
};
struct Weights {
  __m256i low, high;
};

MMCPP_INLINE Sums StartSums(const ResampleAxis* axis) {
  return {_mm256_set1_epi32(1 << (axis->precision - 1)), _mm256_setzero_si256()};
}
MMCPP_INLINE Weights LoadWeights(const int32_t* words, int halves) {
  return {_mm256_set1_epi32(words[0]),
          halves == 2 ? _mm256_set1_epi32(words[1]) : _mm256_setzero_si256()};
}
MMCPP_INLINE void Add(Sums* sums, __m256i pixels, const Weights& weights, int halves) {
  sums->low = _mm256_add_epi32(sums->low, _mm256_madd_epi16(pixels, weights.low));
  if (halves == 2) {
    sums->high = _mm256_add_epi32(sums->high, _mm256_madd_epi16(pixels, weights.high));
  }
}
// The whole sum, rounded but not yet clamped.
MMCPP_INLINE __m256i Join(const Sums& sums, int halves, __m128i precision) {
  __m256i sum = sums.low;
  if (halves == 2) sum = _mm256_add_epi32(_mm256_slli_epi32(sums.high, kHalfBits), sum);
  return _mm256_sra_epi32(sum, precision);
}

// Four vectors of int32 to bytes, clamped; within each 128-bit lane a's four, then b's, c's, d's.
MMCPP_INLINE __m256i Clamp(__m256i a, __m256i b, __m256i c, __m256i d) {
  return _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
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

// ---- horizontal ------------------------------------------------------------------------------

enum { kRows = 8, kPairs = 256 };

// Eight rows of up to kPairs pairs of pixels, transposed: pixels[pair][channel] has the pair's two
// values of one channel, as int16, in word r for row r.
struct Strip {
  __m256i pixels[kPairs][3];
  const uint8_t* rows[kRows];
  int32_t in_begin, in_end;  // pixels that rows hold
  int32_t begin, end;        // pairs that `pixels` holds
};

// Row k in the low lane, row 4 + k in the high one; RGBRGBRGBRGB.... -> R0 R2 R1 R3, then G and B.
MMCPP_INLINE __m256i LoadLanes(const uint8_t* row, const uint8_t* row4) {
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11, -1, -1, -1, -1));
  return _mm256_shuffle_epi8(
      _mm256_inserti128_si256(_mm256_castsi128_si256(Load16(row)), Load16(row4), 1), order);
}

// Four bytes 0 2 1 3 per row -> pairs (0, 1) and (2, 3) of int16.
MMCPP_INLINE void StorePairs(__m256i v, __m256i* first, __m256i* second) {
  *first = _mm256_and_si256(v, _mm256_set1_epi32(0x00ff00ff));
  *second = _mm256_srli_epi16(v, 8);
}

// Two pairs from 16 bytes of each row, of which 12 are used.
MMCPP_INLINE void StoreGroup(const uint8_t* const* rows, ptrdiff_t offset, __m256i (*out)[3]) {
  const __m256i v0 = LoadLanes(rows[0] + offset, rows[4] + offset);
  const __m256i v1 = LoadLanes(rows[1] + offset, rows[5] + offset);
  const __m256i v2 = LoadLanes(rows[2] + offset, rows[6] + offset);
  const __m256i v3 = LoadLanes(rows[3] + offset, rows[7] + offset);
  const __m256i low01 = _mm256_unpacklo_epi32(v0, v1), low23 = _mm256_unpacklo_epi32(v2, v3);
  const __m256i high01 = _mm256_unpackhi_epi32(v0, v1), high23 = _mm256_unpackhi_epi32(v2, v3);
  StorePairs(_mm256_unpacklo_epi64(low01, low23), &out[0][0], &out[1][0]);
  StorePairs(_mm256_unpackhi_epi64(low01, low23), &out[0][1], &out[1][1]);
  StorePairs(_mm256_unpacklo_epi64(high01, high23), &out[0][2], &out[1][2]);
}

// Transposes pairs from the even number `begin` on, as many as fit and exist.
__attribute__((noinline)) void Fill(Strip* strip, int32_t begin) {
  const int32_t last = (strip->in_end + 3) / 4 * 2;
  strip->begin = begin;
  strip->end = last - begin < kPairs ? last : begin + kPairs;
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(strip->in_end - strip->in_begin) * 3;
  for (int32_t pair = begin; pair < strip->end; pair += 2) {
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

// One output pixel of eight rows: three vectors of int32, not yet clamped.
MMCPP_INLINE void Pixel(const ResampleAxis* axis, int32_t x, int halves, Strip* strip,
                        __m128i precision, __m256i* out) {
  const PackedWindow* window = Windows(axis->packed) + x;
  const int32_t* words = Words(axis, window);
  Sums red = StartSums(axis), green = red, blue = red;
  // One turn, but for windows of more than kPairs pairs.
  int32_t pair = window->pair;
  const int32_t end = window->pair + window->pairs;
  while (pair < end) {
    const int32_t even = pair & ~1;
    const int32_t part_end = end - even < kPairs ? end : even + kPairs;
    if (pair < strip->begin || part_end > strip->end) Fill(strip, even);
    const __m256i(*pixels)[3] = strip->pixels + (pair - strip->begin);
    for (; pair < part_end; ++pair, ++pixels, words += halves) {
      const Weights weights = LoadWeights(words, halves);
      Add(&red, (*pixels)[0], weights, halves);
      Add(&green, (*pixels)[1], weights, halves);
      Add(&blue, (*pixels)[2], weights, halves);
    }
  }
  out[0] = Join(red, halves, precision);
  out[1] = Join(green, halves, precision);
  out[2] = Join(blue, halves, precision);
}

// Sixteen int32 vectors, one per output byte with a row per word, to 16 bytes of 8 rows.
MMCPP_INLINE void StoreBytes(const __m256i* in, uint8_t* const* dst, size_t at) {
  const __m256i by_row = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m256i v0 = _mm256_shuffle_epi8(Clamp(in[0], in[1], in[2], in[3]), by_row);
  const __m256i v1 = _mm256_shuffle_epi8(Clamp(in[4], in[5], in[6], in[7]), by_row);
  const __m256i v2 = _mm256_shuffle_epi8(Clamp(in[8], in[9], in[10], in[11]), by_row);
  const __m256i v3 = _mm256_shuffle_epi8(Clamp(in[12], in[13], in[14], in[15]), by_row);
  const __m256i low01 = _mm256_unpacklo_epi32(v0, v1), low23 = _mm256_unpacklo_epi32(v2, v3);
  const __m256i high01 = _mm256_unpackhi_epi32(v0, v1), high23 = _mm256_unpackhi_epi32(v2, v3);
  const __m256i out[4] = {_mm256_unpacklo_epi64(low01, low23), _mm256_unpackhi_epi64(low01, low23),
                          _mm256_unpacklo_epi64(high01, high23),
                          _mm256_unpackhi_epi64(high01, high23)};
  for (size_t k = 0; k < 4; ++k) {
    Store16(dst[k] + at, _mm256_castsi256_si128(out[k]));
    Store16(dst[4 + k] + at, _mm256_extracti128_si256(out[k], 1));
  }
}

// `n` pixels of `rows` rows from sums[3 * pixel + channel] to dst + offset.
MMCPP_INLINE void StorePixels(const __m256i* sums, int32_t n, size_t rows, uint8_t* const* dst,
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
                             uint8_t* const* dst, int halves, Strip* strip) {
  const __m128i precision = _mm_cvtsi32_si128(axis->precision);
  __m256i sums[48];
  for (int32_t x = span->out_begin; x < span->out_end; x += 16) {
    const int32_t n = span->out_end - x < 16 ? span->out_end - x : 16;
    for (int32_t i = 0; i < n; ++i) Pixel(axis, x + i, halves, strip, precision, sums + 3 * i);
    for (int32_t i = 3 * n; i < 48; ++i) sums[i] = _mm256_setzero_si256();
    StorePixels(sums, n, rows, dst, static_cast<size_t>(x - span->out_begin) * 3);
  }
}

void ResampleHorizontalRgb8(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                            const uint8_t* const* src, uint8_t* const* dst) {
  const int two = static_cast<const PackedHeader*>(axis->packed)->halves == 2;
  Strip strip;
  strip.in_begin = span->in_begin;
  strip.in_end = span->in_end;
  for (size_t row = 0; row < rows; row += kRows) {
    const size_t n = rows - row < kRows ? rows - row : size_t{kRows};
    // Missing rows are computed from the last one and not stored.
    for (size_t i = 0; i < kRows; ++i) strip.rows[i] = src[row + (i < n ? i : n - 1)];
    strip.begin = strip.end = 0;
    if (two) {
      Horizontal(axis, span, n, dst + row, 2, &strip);
    } else {
      Horizontal(axis, span, n, dst + row, 1, &strip);
    }
  }
}

// ---- vertical --------------------------------------------------------------------------------

// The sums of 32 bytes. Unpacking puts bytes 4 * part .. of each lane into part; Clamp puts them
// back.
struct RowSums {
  Sums p0, p1, p2, p3;
};

MMCPP_INLINE void AddRows(RowSums* sums, __m256i r0, __m256i r1, const Weights& weights,
                          int halves) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i low = _mm256_unpacklo_epi8(r0, r1), high = _mm256_unpackhi_epi8(r0, r1);
  Add(&sums->p0, _mm256_unpacklo_epi8(low, zero), weights, halves);
  Add(&sums->p1, _mm256_unpackhi_epi8(low, zero), weights, halves);
  Add(&sums->p2, _mm256_unpacklo_epi8(high, zero), weights, halves);
  Add(&sums->p3, _mm256_unpackhi_epi8(high, zero), weights, halves);
}

// 32 bytes of an output row.
MMCPP_INLINE __m256i VerticalBlock(const ResampleAxis* axis, const int32_t* words, int32_t count,
                                   const uint8_t* const* src, size_t at, int halves) {
  const Sums start = StartSums(axis);
  RowSums sums = {start, start, start, start};
  int32_t k = 0;
  for (; k + 2 <= count; k += 2, words += halves) {
    AddRows(&sums, Load32(src[k] + at), Load32(src[k + 1] + at), LoadWeights(words, halves),
            halves);
  }
  if (k < count) {
    AddRows(&sums, Load32(src[k] + at), _mm256_setzero_si256(), LoadWeights(words, halves), halves);
  }
  const __m128i precision = _mm_cvtsi32_si128(axis->precision);
  return Clamp(Join(sums.p0, halves, precision), Join(sums.p1, halves, precision),
               Join(sums.p2, halves, precision), Join(sums.p3, halves, precision));
}

// The last fewer than 32 bytes, one by one.
void VerticalRest(const ResampleAxis* axis, int32_t y, size_t at, size_t bytes,
                  const uint8_t* const* src, uint8_t* dst) {
  const int32_t* weights = axis->weights + static_cast<size_t>(y) * axis->stride;
  for (; at < bytes; ++at) {
    uint32_t sum = uint32_t{1} << (axis->precision - 1);
    for (int32_t k = 0; k < axis->count[y]; ++k) {
      sum += src[k][at] * static_cast<uint32_t>(weights[k]);
    }
    const int32_t value = static_cast<int32_t>(sum) >> axis->precision;
    dst[at] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

MMCPP_INLINE void Vertical(const ResampleAxis* axis, int32_t y, size_t bytes,
                           const uint8_t* const* src, int halves, uint8_t* dst) {
  const int32_t* words = Words(axis, Windows(axis->packed) + y);
  const int32_t count = axis->count[y];
  if (bytes < 32) return VerticalRest(axis, y, 0, bytes, src, dst);
  for (size_t at = 0; at + 32 <= bytes; at += 32) {
    Store32(dst + at, VerticalBlock(axis, words, count, src, at, halves));
  }
  // The last block ends with the row and may overlap the one before it.
  if (bytes % 32 != 0) {
    const size_t at = bytes - 32;
    Store32(dst + at, VerticalBlock(axis, words, count, src, at, halves));
  }
}

void ResampleVerticalU8(const ResampleAxis* axis, int32_t y, size_t bytes,
                        const uint8_t* const* src, uint8_t* dst) {
  if (static_cast<const PackedHeader*>(axis->packed)->halves == 2) {
    Vertical(axis, y, bytes, src, 2, dst);
  } else {
    Vertical(axis, y, bytes, src, 1, dst);
  }
}

// ---- pixels to planes and through tables -------------------------------------------------------

// Where the bytes of one channel of `n` pixels are in three loads of 16 bytes: at the start, in the
// middle and at the end of their 3 * n bytes. An index of 0x80 takes none.
struct SplitMasks {
  uint8_t index[3][3][16];  // [channel][load][pixel]
};
constexpr SplitMasks MakeSplitMasks(size_t n) {
  SplitMasks masks = {};
  const size_t begin[3] = {0, (3 * n - 16) / 2, 3 * n - 16};
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t x = 0; x < 16; ++x) {
      const size_t byte = 3 * x + channel;
      const size_t load = byte < 16 ? 0 : byte < begin[1] + 16 ? 1 : 2;
      for (size_t i = 0; i < 3; ++i) {
        const bool here = x < n && i == load;
        masks.index[channel][i][x] = here ? static_cast<uint8_t>(byte - begin[i]) : 0x80;
      }
    }
  }
  return masks;
}
// Whole vectors, and the patch size that is none.
constexpr SplitMasks kSplit16 = MakeSplitMasks(16), kSplit14 = MakeSplitMasks(14);

// 14 or 16 pixels of one channel, the rest zero.
MMCPP_INLINE __m128i SplitChannel(const uint8_t* src, size_t n, const SplitMasks* masks,
                                  size_t channel) {
  const uint8_t(*index)[16] = masks->index[channel];
  const __m128i v =
      _mm_or_si128(_mm_shuffle_epi8(Load16(src), Load16(index[0])),
                   _mm_shuffle_epi8(Load16(src + (3 * n - 16) / 2), Load16(index[1])));
  return _mm_or_si128(v, _mm_shuffle_epi8(Load16(src + 3 * n - 16), Load16(index[2])));
}

void SplitFew(const uint8_t* src, size_t columns, size_t plane, uint8_t* dst) {
  for (size_t x = 0; x < columns; ++x) {
    for (size_t channel = 0; channel < 3; ++channel) {
      dst[channel * plane + x] = src[x * 3 + channel];
    }
  }
}

MMCPP_INLINE void Store14(uint8_t* p, __m128i v) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), v);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p + 6), _mm_srli_si128(v, 6));
}

void SplitRgb8(const uint8_t* src, size_t src_row_bytes, size_t rows, size_t columns,
               uint8_t* dst) {
  const size_t plane = rows * columns;
  for (size_t y = 0; y < rows; ++y, src += src_row_bytes, dst += columns) {
    if (columns == 14) {
      for (size_t channel = 0; channel < 3; ++channel) {
        Store14(dst + channel * plane, SplitChannel(src, 14, &kSplit14, channel));
      }
      continue;
    }
    if (columns < 16) {
      SplitFew(src, columns, plane, dst);
      continue;
    }
    // The last block ends with the row and may overlap the one before it.
    for (size_t x = 0; x < columns; x += 16) {
      const size_t from = columns - x < 16 ? columns - 16 : x;
      for (size_t channel = 0; channel < 3; ++channel) {
        Store16(dst + channel * plane + from, SplitChannel(src + 3 * from, 16, &kSplit16, channel));
      }
    }
  }
}

MMCPP_INLINE __m256i LookUp8(const ByteTable* table, const uint8_t* src) {
  const __m256i index =
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(src)));
  return _mm256_i32gather_epi32(reinterpret_cast<const int*>(table->value), index, 4);
}

void MapTo32(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  uint8_t* out = static_cast<uint8_t*>(dst);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i v = LookUp8(table, src + i);
    for (size_t copy = 0; copy < copies; ++copy) Store32(out + (copy * n + i) * 4, v);
  }
  for (; i < n; ++i) {
    for (size_t copy = 0; copy < copies; ++copy) {
      memcpy(out + (copy * n + i) * 4, &table->value[src[i]], 4);
    }
  }
}

void MapTo16(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  uint8_t* out = static_cast<uint8_t*>(dst);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i v = _mm256_permute4x64_epi64(
        _mm256_packus_epi32(LookUp8(table, src + i), LookUp8(table, src + i + 8)), 0xd8);
    for (size_t copy = 0; copy < copies; ++copy) Store32(out + (copy * n + i) * 2, v);
  }
  for (; i < n; ++i) {
    for (size_t copy = 0; copy < copies; ++copy) {
      memcpy(out + (copy * n + i) * 2, &table->value[src[i]], 2);
    }
  }
}

}  // namespace
}  // namespace mmcpp::simd

MMCPP_TARGET_END

namespace mmcpp::simd {
const Kernels kAvx2Kernels = {
    "avx2",
    PackedHorizontalBytes,
    PackHorizontal,
    PackedVerticalBytes,
    PackVertical,
    ResampleHorizontalRgb8,
    ResampleVerticalU8,
    SplitRgb8,
    MapTo32,
    MapTo16,
    PngUnfilterAvx2,
    BlendRgba8Avx2,
    DropRgba8Avx2,
    JpegDecodeMcusAvx2,
    JpegIdctAvx2,
    JpegRgbAvx2,
    JpegRgbH2v1Avx2,
    JpegRgbH2v2Avx2,
};
}  // namespace mmcpp::simd
#endif
