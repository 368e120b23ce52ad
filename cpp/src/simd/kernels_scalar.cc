// The definition of every kernel, in plain C++.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels.h"
#include "simd/kernels_alpha.h"
#include "simd/kernels_jpeg.h"
#include "simd/kernels_png.h"

namespace mmcpp::simd {
namespace {

// Modulo 2^32, then back to the sign that the exact sum has.
uint8_t Round(uint32_t sum, int32_t precision) {
  const int32_t value = static_cast<int32_t>(sum) >> precision;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

void ResampleHorizontalRgb8(const ResampleAxis* axis, const RowSpan* span, size_t rows,
                            const uint8_t* const* src, uint8_t* const* dst) {
  const uint32_t half = uint32_t{1} << (axis->precision - 1);
  for (size_t row = 0; row < rows; ++row) {
    uint8_t* out = dst[row];
    for (int32_t x = span->out_begin; x < span->out_end; ++x, out += 3) {
      const uint8_t* in = src[row] + static_cast<size_t>(axis->first[x] - span->in_begin) * 3;
      const int32_t* weights = axis->weights + static_cast<size_t>(x) * axis->stride;
      uint32_t red = half, green = half, blue = half;
      for (int32_t k = 0; k < axis->count[x]; ++k, in += 3) {
        const uint32_t weight = static_cast<uint32_t>(weights[k]);
        red += in[0] * weight;
        green += in[1] * weight;
        blue += in[2] * weight;
      }
      out[0] = Round(red, axis->precision);
      out[1] = Round(green, axis->precision);
      out[2] = Round(blue, axis->precision);
    }
  }
}

void ResampleVerticalU8(const ResampleAxis* axis, int32_t y, size_t bytes,
                        const uint8_t* const* src, uint8_t* dst) {
  const int32_t* weights = axis->weights + static_cast<size_t>(y) * axis->stride;
  const uint32_t half = uint32_t{1} << (axis->precision - 1);
  enum : size_t { kBlock = 256 };  // sums that stay in the first-level cache
  uint32_t sums[kBlock];
  for (size_t begin = 0; begin < bytes; begin += kBlock) {
    const size_t n = bytes - begin < kBlock ? bytes - begin : kBlock;
    for (size_t i = 0; i < n; ++i) sums[i] = half;
    for (int32_t k = 0; k < axis->count[y]; ++k) {
      const uint32_t weight = static_cast<uint32_t>(weights[k]);
      const uint8_t* in = src[k] + begin;
      for (size_t i = 0; i < n; ++i) sums[i] += in[i] * weight;
    }
    for (size_t i = 0; i < n; ++i) dst[begin + i] = Round(sums[i], axis->precision);
  }
}

void SplitRgb8(const uint8_t* src, size_t src_row_bytes, size_t rows, size_t columns,
               uint8_t* dst) {
  const size_t plane = rows * columns;
  for (size_t y = 0; y < rows; ++y, src += src_row_bytes, dst += columns) {
    for (size_t x = 0; x < columns; ++x) {
      dst[x] = src[x * 3];
      dst[plane + x] = src[x * 3 + 1];
      dst[2 * plane + x] = src[x * 3 + 2];
    }
  }
}

void MapTo32(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  uint32_t* out = static_cast<uint32_t*>(dst);
  for (size_t copy = 0; copy < copies; ++copy, out += n) {
    for (size_t i = 0; i < n; ++i) out[i] = table->value[src[i]];
  }
}

void MapTo16(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  uint16_t* out = static_cast<uint16_t*>(dst);
  for (size_t copy = 0; copy < copies; ++copy, out += n) {
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<uint16_t>(table->value[src[i]]);
  }
}

}  // namespace

const Kernels kScalarKernels = {
    "scalar",
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    ResampleHorizontalRgb8,
    ResampleVerticalU8,
    SplitRgb8,
    MapTo32,
    MapTo16,
    PngUnfilterScalar,
    BlendRgba8Scalar,
    DropRgba8Scalar,
    JpegDecodeMcusScalar,
    JpegIdctScalar,
    JpegRgbScalar,
    JpegRgbH2v1Scalar,
    JpegRgbH2v2Scalar,
};

}  // namespace mmcpp::simd
