// Kernels for aarch64, whose baseline has NEON.
//
// Resampling: a weight of up to 24 bits is written as low + high * 2^15, both int16 (or is one
// int16 where the whole axis' weights are), for widening multiply-accumulate; the halves' sums are
// joined at the end. All sums are modulo 2^32, where neither order nor overflow of a part matters.
#if MMCPP_SIMD && defined(__aarch64__)
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels.h"
#include "simd/kernels_alpha.h"
#include "simd/kernels_jpeg.h"
#include "simd/kernels_png.h"

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

enum { kHalfBits = 15, kRows = 8, kColumns = 256 };

// Packed weights: a header, then [output][tap][half] int16.
struct PackedHeader {
  int32_t halves;  // per weight: 1 or 2
  int32_t padding[15];
};

MMCPP_INLINE const int16_t* Halves(const ResampleAxis* axis, int32_t i, int halves) {
  const int16_t* all = reinterpret_cast<const int16_t*>(static_cast<const uint8_t*>(axis->packed) +
                                                        sizeof(PackedHeader));
  return all + static_cast<size_t>(i) * axis->stride * static_cast<size_t>(halves);
}

size_t PackedBytes(const ResampleAxis* axis) {
  return sizeof(PackedHeader) +
         static_cast<size_t>(axis->out_size) * axis->stride * 2 * sizeof(int16_t);
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

void Pack(const ResampleAxis* axis, void* packed) {
  PackedHeader* header = static_cast<PackedHeader*>(packed);
  memset(packed, 0, PackedBytes(axis));
  header->halves = HalvesNeeded(axis);
  int16_t* to = reinterpret_cast<int16_t*>(header + 1);
  for (int32_t i = 0; i < axis->out_size; ++i) {
    const int32_t* weights = axis->weights + static_cast<size_t>(i) * axis->stride;
    for (size_t k = 0; k < axis->stride; ++k) {
      const int32_t weight = k < static_cast<size_t>(axis->count[i]) ? weights[k] : 0;
      if (header->halves == 1) {
        *to++ = static_cast<int16_t>(weight);
      } else {
        *to++ = static_cast<int16_t>(weight & ((1 << kHalfBits) - 1));
        *to++ = static_cast<int16_t>(weight >> kHalfBits);
      }
    }
  }
}

// The sums of 8 outputs, one pair per half.
struct Sums {
  int32x4_t low0, low1, high0, high1;
};

MMCPP_INLINE Sums StartSums(const ResampleAxis* axis) {
  const int32x4_t half = vdupq_n_s32(1 << (axis->precision - 1)), zero = vdupq_n_s32(0);
  return {half, half, zero, zero};
}
MMCPP_INLINE void Add(Sums* sums, int16x8_t pixels, const int16_t* weight, int halves) {
  sums->low0 = vmlal_n_s16(sums->low0, vget_low_s16(pixels), weight[0]);
  sums->low1 = vmlal_n_s16(sums->low1, vget_high_s16(pixels), weight[0]);
  if (halves == 2) {
    sums->high0 = vmlal_n_s16(sums->high0, vget_low_s16(pixels), weight[1]);
    sums->high1 = vmlal_n_s16(sums->high1, vget_high_s16(pixels), weight[1]);
  }
}
// Joined, rounded and clamped.
MMCPP_INLINE uint8x8_t Finish(const Sums& sums, int halves, int32x4_t shift) {
  int32x4_t v0 = sums.low0, v1 = sums.low1;
  if (halves == 2) {
    v0 = vaddq_s32(v0, vshlq_n_s32(sums.high0, kHalfBits));
    v1 = vaddq_s32(v1, vshlq_n_s32(sums.high1, kHalfBits));
  }
  return vqmovn_u16(
      vcombine_u16(vqmovun_s32(vshlq_s32(v0, shift)), vqmovun_s32(vshlq_s32(v1, shift))));
}

MMCPP_INLINE int16x8_t Widen(uint8x8_t v) { return vreinterpretq_s16_u16(vmovl_u8(v)); }

// v[r] byte c -> v[c] byte r.
MMCPP_INLINE void Transpose8x8(uint8x8_t* v) {
  uint16x4_t a[8];
  for (int i = 0; i < 8; i += 2) {
    const uint8x8x2_t t = vtrn_u8(v[i], v[i + 1]);
    a[i] = vreinterpret_u16_u8(t.val[0]);
    a[i + 1] = vreinterpret_u16_u8(t.val[1]);
  }
  uint32x2_t b[8];
  for (int i = 0; i < 8; ++i) {
    if ((i & 2) != 0) continue;
    const uint16x4x2_t t = vtrn_u16(a[i], a[i + 2]);
    b[i] = vreinterpret_u32_u16(t.val[0]);
    b[i + 2] = vreinterpret_u32_u16(t.val[1]);
  }
  for (int i = 0; i < 4; ++i) {
    const uint32x2x2_t t = vtrn_u32(b[i], b[i + 4]);
    v[i] = vreinterpret_u8_u32(t.val[0]);
    v[i + 4] = vreinterpret_u8_u32(t.val[1]);
  }
}

// ---- horizontal ------------------------------------------------------------------------------

// Eight rows of up to kColumns pixels, transposed: pixels[column][channel] has row r in byte r.
struct Strip {
  uint8x8_t pixels[kColumns][3];
  const uint8_t* rows[kRows];
  int32_t in_begin, in_end;  // pixels that rows hold
  int32_t begin, end;        // columns that `pixels` holds
};

MMCPP_INLINE void StoreColumns(const uint8_t* const* rows, ptrdiff_t offset, uint8x8_t (*out)[3]) {
  uint8x8_t planes[3][8];
  for (int r = 0; r < kRows; ++r) {
    const uint8x8x3_t v = vld3_u8(rows[r] + offset);
    for (int c = 0; c < 3; ++c) planes[c][r] = v.val[c];
  }
  for (int c = 0; c < 3; ++c) {
    Transpose8x8(planes[c]);
    for (int i = 0; i < 8; ++i) out[i][c] = planes[c][i];
  }
}

// Transposes columns from `begin` on, as many as fit and exist, in eights.
__attribute__((noinline)) void Fill(Strip* strip, int32_t begin) {
  const int32_t left = strip->in_end - begin;
  strip->begin = begin;
  strip->end = begin + (left < kColumns ? left : kColumns);
  for (int32_t column = begin; column < strip->end; column += 8) {
    const ptrdiff_t offset = static_cast<ptrdiff_t>(column - strip->in_begin) * 3;
    if (column + 8 <= strip->in_end) {
      StoreColumns(strip->rows, offset, strip->pixels + (column - begin));
      continue;
    }
    // At the end of the rows only what is there is read.
    uint8_t edge[kRows][24] = {};
    const uint8_t* edges[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      memcpy(edge[r], strip->rows[r] + offset, static_cast<size_t>(strip->in_end - column) * 3);
      edges[r] = edge[r];
    }
    StoreColumns(edges, 0, strip->pixels + (column - begin));
  }
}

// One output pixel of eight rows: three vectors of bytes.
MMCPP_INLINE void Pixel(const ResampleAxis* axis, int32_t x, int halves, Strip* strip,
                        int32x4_t shift, uint8x8_t* out) {
  const int16_t* weights = Halves(axis, x, halves);
  Sums red = StartSums(axis), green = red, blue = red;
  // One turn, but for windows of more than kColumns pixels.
  int32_t column = axis->first[x];
  const int32_t end = column + axis->count[x];
  while (column < end) {
    const int32_t part_end = end - column < kColumns ? end : column + kColumns;
    if (column < strip->begin || part_end > strip->end) Fill(strip, column);
    const uint8x8_t(*pixels)[3] = strip->pixels + (column - strip->begin);
    for (; column < part_end; ++column, ++pixels, weights += halves) {
      Add(&red, Widen((*pixels)[0]), weights, halves);
      Add(&green, Widen((*pixels)[1]), weights, halves);
      Add(&blue, Widen((*pixels)[2]), weights, halves);
    }
  }
  out[0] = Finish(red, halves, shift);
  out[1] = Finish(green, halves, shift);
  out[2] = Finish(blue, halves, shift);
}

// `n` pixels of `rows` rows from bytes[3 * pixel + channel] to dst + offset.
MMCPP_INLINE void StorePixels(uint8x8_t* bytes, int32_t n, size_t rows, uint8_t* const* dst,
                              size_t offset) {
  uint8_t scratch[kRows][24];
  for (size_t part = 0; part < 3; ++part) {
    Transpose8x8(bytes + 8 * part);
    for (size_t r = 0; r < kRows; ++r) vst1_u8(scratch[r] + 8 * part, bytes[8 * part + r]);
  }
  for (size_t r = 0; r < rows; ++r) {
    memcpy(dst[r] + offset, scratch[r], static_cast<size_t>(n) * 3);
  }
}

MMCPP_INLINE void Horizontal(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                             uint8_t* const* dst, int halves, Strip* strip) {
  const int32x4_t shift = vdupq_n_s32(-axis->precision);
  uint8x8_t bytes[24];
  for (int i = 0; i < 24; ++i) bytes[i] = vdup_n_u8(0);
  for (int32_t x = span->out_begin; x < span->out_end; x += 8) {
    const int32_t n = span->out_end - x < 8 ? span->out_end - x : 8;
    for (int32_t i = 0; i < n; ++i) Pixel(axis, x + i, halves, strip, shift, bytes + 3 * i);
    StorePixels(bytes, n, rows, dst, static_cast<size_t>(x - span->out_begin) * 3);
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

// 16 bytes of an output row.
MMCPP_INLINE uint8x16_t VerticalBlock(const ResampleAxis* axis, const int16_t* weights,
                                      int32_t count, const uint8_t* const* src, size_t at,
                                      int halves, int32x4_t shift) {
  Sums left = StartSums(axis), right = left;
  for (int32_t k = 0; k < count; ++k, weights += halves) {
    const uint8x16_t v = vld1q_u8(src[k] + at);
    Add(&left, Widen(vget_low_u8(v)), weights, halves);
    Add(&right, Widen(vget_high_u8(v)), weights, halves);
  }
  return vcombine_u8(Finish(left, halves, shift), Finish(right, halves, shift));
}

// The last fewer than 16 bytes, one by one.
void VerticalRest(const ResampleAxis* axis, int32_t y, size_t bytes, const uint8_t* const* src,
                  uint8_t* dst) {
  const int32_t* weights = axis->weights + static_cast<size_t>(y) * axis->stride;
  for (size_t at = 0; at < bytes; ++at) {
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
  if (bytes < 16) return VerticalRest(axis, y, bytes, src, dst);
  const int16_t* weights = Halves(axis, y, halves);
  const int32_t count = axis->count[y];
  const int32x4_t shift = vdupq_n_s32(-axis->precision);
  for (size_t at = 0; at + 16 <= bytes; at += 16) {
    vst1q_u8(dst + at, VerticalBlock(axis, weights, count, src, at, halves, shift));
  }
  // The last block ends with the row and may overlap the one before it.
  if (bytes % 16 != 0) {
    const size_t at = bytes - 16;
    vst1q_u8(dst + at, VerticalBlock(axis, weights, count, src, at, halves, shift));
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

void SplitRgb8(const uint8_t* src, size_t src_row_bytes, size_t rows, size_t columns,
               uint8_t* dst) {
  const size_t plane = rows * columns;
  for (size_t y = 0; y < rows; ++y, src += src_row_bytes, dst += columns) {
    if (columns < 8) {
      for (size_t x = 0; x < columns; ++x) {
        for (size_t c = 0; c < 3; ++c) dst[c * plane + x] = src[x * 3 + c];
      }
      continue;
    }
    // The last block ends with the row and may overlap the one before it.
    for (size_t x = 0; x < columns; x += 8) {
      const size_t from = columns - x < 8 ? columns - 8 : x;
      const uint8x8x3_t v = vld3_u8(src + 3 * from);
      for (size_t c = 0; c < 3; ++c) vst1_u8(dst + c * plane + from, v.val[c]);
    }
  }
}

// A look-up is a load whatever the width of registers; what is saved is the look-up of the copies.
MMCPP_INLINE uint32x4_t LookUp4(const ByteTable* table, const uint8_t* src) {
  uint32x4_t v = vld1q_dup_u32(&table->value[src[0]]);
  v = vld1q_lane_u32(&table->value[src[1]], v, 1);
  v = vld1q_lane_u32(&table->value[src[2]], v, 2);
  return vld1q_lane_u32(&table->value[src[3]], v, 3);
}

void MapTo32(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  uint32_t* out = static_cast<uint32_t*>(dst);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const uint32x4_t v = LookUp4(table, src + i);
    for (size_t copy = 0; copy < copies; ++copy) vst1q_u32(out + copy * n + i, v);
  }
  for (; i < n; ++i) {
    for (size_t copy = 0; copy < copies; ++copy) out[copy * n + i] = table->value[src[i]];
  }
}

void MapTo16(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  uint16_t* out = static_cast<uint16_t*>(dst);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint16x8_t v =
        vcombine_u16(vmovn_u32(LookUp4(table, src + i)), vmovn_u32(LookUp4(table, src + i + 4)));
    for (size_t copy = 0; copy < copies; ++copy) vst1q_u16(out + copy * n + i, v);
  }
  for (; i < n; ++i) {
    const uint16_t v = static_cast<uint16_t>(table->value[src[i]]);
    for (size_t copy = 0; copy < copies; ++copy) out[copy * n + i] = v;
  }
}

}  // namespace

const Kernels kNeonKernels = {
    "neon",
    PackedBytes,
    Pack,
    PackedBytes,
    Pack,
    ResampleHorizontalRgb8,
    ResampleVerticalU8,
    SplitRgb8,
    MapTo32,
    MapTo16,
    PngUnfilterNeon,
    BlendRgba8Neon,
    DropRgba8Neon,
    JpegDecodeMcusScalar,
    JpegIdctNeon,
    JpegRgbNeon,
    JpegRgbH2v1Neon,
    JpegRgbH2v2Neon,
};

}  // namespace mmcpp::simd
#endif
