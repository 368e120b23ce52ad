// The JPEG kernels in plain C++, which define what they compute.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_jpeg.h"
#include "simd/kernels_jpeg_scan.h"

namespace mmcpp::simd {
namespace {

enum {
  kConstBits = 13,      // jidctint.c: constants have so many bits of fraction,
  kPass1Bits = 2,       // and what the first pass gives so many
  kMaxColumn = 16'383,  // of |what the first pass gives|
  kMaxSample = 511,     // of |samples| around 0, and one more below
};

/// jidctint.c's eight-point transform, without the rounding that follows: 13 bits of fraction more.
void Transform(const int32_t* in, ptrdiff_t step, int32_t* out) {
  const int32_t x0 = in[0], x1 = in[step], x2 = in[2 * step], x3 = in[3 * step];
  const int32_t x4 = in[4 * step], x5 = in[5 * step], x6 = in[6 * step], x7 = in[7 * step];

  const int32_t even = (x2 + x6) * 4'433;
  const int32_t even2 = even - x6 * 15'137, even3 = even + x2 * 6'270;
  const int32_t sum = (x0 + x4) * (1 << kConstBits), difference = (x0 - x4) * (1 << kConstBits);
  const int32_t even_part[4] = {sum + even3, difference + even2, difference - even2, sum - even3};

  const int32_t z5 = (x7 + x3 + x5 + x1) * 9'633;
  const int32_t z1 = (x7 + x1) * -7'373, z2 = (x5 + x3) * -20'995;
  const int32_t z3 = (x7 + x3) * -16'069 + z5, z4 = (x5 + x1) * -3'196 + z5;
  const int32_t odd_part[4] = {x1 * 12'299 + z1 + z4, x3 * 25'172 + z2 + z3, x5 * 16'819 + z2 + z4,
                               x7 * 2'446 + z1 + z3};
  for (int i = 0; i < 4; ++i) {
    out[i] = even_part[i] + odd_part[i];
    out[7 - i] = even_part[i] - odd_part[i];
  }
}

int32_t Descale(int32_t value, int bits) { return (value + (1 << (bits - 1))) >> bits; }

uint8_t Clamp(int32_t value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

bool IdctBlock(const int16_t* coefficients, const uint16_t* quantisers, uint8_t* dst,
               size_t stride) {
  int32_t in[64], columns[64], out[8];
  for (int i = 0; i < 64; ++i) in[i] = coefficients[i] * quantisers[i];
  bool large = false;
  for (int x = 0; x < 8; ++x) {
    Transform(in + x, 8, out);
    for (int y = 0; y < 8; ++y) {
      const int32_t value = Descale(out[y], kConstBits - kPass1Bits);
      large |= value > kMaxColumn || value < -kMaxColumn;
      columns[y * 8 + x] = value;
    }
  }
  if (large) return false;  // the second pass might overflow
  for (size_t y = 0; y < 8; ++y) {
    Transform(columns + y * 8, 1, out);
    for (int x = 0; x < 8; ++x) {
      const int32_t value = Descale(out[x], kConstBits + kPass1Bits + 3);
      large |= value > kMaxSample || value < -kMaxSample - 1;
      dst[y * stride + static_cast<size_t>(x)] = Clamp(value + 128);
    }
  }
  return !large;
}

/// jdcolor.c: 16 bits of fraction; the rounding of green is that of the sum of its two terms.
void StoreRgb(int32_t y, int32_t cb, int32_t cr, uint8_t* rgb) {
  cb -= 128;
  cr -= 128;
  rgb[0] = Clamp(y + ((91'881 * cr + 32'768) >> 16));
  rgb[1] = Clamp(y + ((-22'554 * cb - 46'802 * cr + 32'768) >> 16));
  rgb[2] = Clamp(y + ((116'130 * cb + 32'768) >> 16));
}

/// jdsample.c: three parts of the nearer row and one of the farther.
int32_t ColumnSum(const uint8_t* const* rows, ptrdiff_t i) { return rows[0][i] * 3 + rows[1][i]; }

}  // namespace

int32_t JpegDecodeMcusScalar(JpegScan* scan, uint32_t first, uint32_t end) {
  return JpegDecodeMcus(scan, first, end);
}

int JpegIdctScalar(int16_t* coefficients, const uint8_t* last, const JpegQuantisers* quantisers,
                   size_t blocks, uint8_t* dst, size_t stride) {
  bool good = true;
  for (size_t i = 0; i < blocks; ++i, coefficients += 64, dst += 8) {
    if (last[i] > 0) {
      good &= IdctBlock(coefficients, quantisers->values, dst, stride);
      memset(coefficients, 0, 64 * sizeof *coefficients);
      continue;
    }
    const uint8_t sample = Clamp(Descale(coefficients[0] * quantisers->values[0], 3) + 128);
    for (size_t y = 0; y < 8; ++y) memset(dst + y * stride, sample, 8);
    coefficients[0] = 0;
  }
  return good ? 0 : 1;
}

void JpegRgbScalar(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb) {
  for (size_t x = 0; x < n; ++x) StoreRgb(y[x], cb[x], cr[x], rgb + 3 * x);
}

// Three parts of the nearer sample and one of the farther; rounding goes down and up by turns.
void JpegRgbH2v1Scalar(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                       uint8_t* rgb) {
  for (size_t x = 0; x < n; ++x) {
    const ptrdiff_t i = static_cast<ptrdiff_t>(x / 2), far = x % 2 == 1 ? i + 1 : i - 1;
    const int32_t bias = x % 2 == 1 ? 2 : 1;
    StoreRgb(y[x], (cb[i] * 3 + cb[far] + bias) >> 2, (cr[i] * 3 + cr[far] + bias) >> 2,
             rgb + 3 * x);
  }
}

void JpegRgbH2v2Scalar(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr,
                       size_t n, uint8_t* rgb) {
  for (size_t x = 0; x < n; ++x) {
    const ptrdiff_t i = static_cast<ptrdiff_t>(x / 2), far = x % 2 == 1 ? i + 1 : i - 1;
    const int32_t bias = x % 2 == 1 ? 7 : 8;
    StoreRgb(y[x], (ColumnSum(cb, i) * 3 + ColumnSum(cb, far) + bias) >> 4,
             (ColumnSum(cr, i) * 3 + ColumnSum(cr, far) + bias) >> 4, rgb + 3 * x);
  }
}

}  // namespace mmcpp::simd
