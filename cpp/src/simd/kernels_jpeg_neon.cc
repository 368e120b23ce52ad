// The JPEG kernels for NEON: inverse DCTs of one block at a time, and 16 pixels of RGB.
#if MMCPP_SIMD && defined(__aarch64__)
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_jpeg.h"

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

// ---- inverse DCT -------------------------------------------------------------------------------

/// Outputs i and 7 - i of four transforms are even[i] + odd[i] and even[i] - odd[i], with 13 bits
/// of fraction more. The constants are the sums of jidctint.c's for each pair of input and output,
/// so every step of it is exact.
struct Parts {
  int32x4_t even[4], odd[4];
};

/// Of x[0] to x[kInputs - 1]; the inputs behind them are zeros. kInputs: 4 or 8.
template <int kInputs>
MMCPP_INLINE Parts Transform(const int16x4_t* x) {
  constexpr bool kAll = kInputs == 8;
  int32x4_t sum = vshll_n_s16(x[0], 13), difference = sum;
  int32x4_t even2 = vmull_n_s16(x[2], 4'433), even3 = vmull_n_s16(x[2], 10'703);
  Parts parts;
  parts.odd[0] = vmlal_n_s16(vmull_n_s16(x[1], 11'363), x[3], 9'633);
  parts.odd[1] = vmlal_n_s16(vmull_n_s16(x[1], 9'633), x[3], -2'259);
  parts.odd[2] = vmlal_n_s16(vmull_n_s16(x[1], 6'437), x[3], -11'362);
  parts.odd[3] = vmlal_n_s16(vmull_n_s16(x[1], 2'260), x[3], -6'436);
  if (kAll) {
    const int32x4_t x4 = vshll_n_s16(x[4], 13);
    sum = vaddq_s32(sum, x4);
    difference = vsubq_s32(difference, x4);
    even2 = vmlal_n_s16(even2, x[6], -10'704);
    even3 = vmlal_n_s16(even3, x[6], 4'433);
    parts.odd[0] = vmlal_n_s16(vmlal_n_s16(parts.odd[0], x[5], 6'437), x[7], 2'260);
    parts.odd[1] = vmlal_n_s16(vmlal_n_s16(parts.odd[1], x[5], -11'362), x[7], -6'436);
    parts.odd[2] = vmlal_n_s16(vmlal_n_s16(parts.odd[2], x[5], 2'261), x[7], 9'633);
    parts.odd[3] = vmlal_n_s16(vmlal_n_s16(parts.odd[3], x[5], 9'633), x[7], -11'363);
  }
  parts.even[0] = vaddq_s32(sum, even3);
  parts.even[1] = vaddq_s32(difference, even2);
  parts.even[2] = vsubq_s32(difference, even2);
  parts.even[3] = vsubq_s32(sum, even3);
  return parts;
}

/// Outputs of the first pass, 2 bits of fraction, saturated.
MMCPP_INLINE void FinishFirst(const Parts& parts, int16x4_t* out) {
  for (int i = 0; i < 4; ++i) {
    out[i] = vqrshrn_n_s32(vaddq_s32(parts.even[i], parts.odd[i]), 11);
    out[7 - i] = vqrshrn_n_s32(vsubq_s32(parts.even[i], parts.odd[i]), 11);
  }
}

/// Outputs of the second: samples around 0.
MMCPP_INLINE void FinishSecond(const Parts& parts, int16x4_t* out) {
  for (int i = 0; i < 4; ++i) {
    out[i] = vmovn_s32(vrshrq_n_s32(vaddq_s32(parts.even[i], parts.odd[i]), 18));
    out[7 - i] = vmovn_s32(vrshrq_n_s32(vsubq_s32(parts.even[i], parts.odd[i]), 18));
  }
}

/// Interleaving vector i with vector i + n/2 moves the highest bit of the vector's number to the
/// lane's and back; as many rounds as lanes have bits transpose.
MMCPP_INLINE void Transpose(int16x8_t* v) {
  int16x8_t other[8];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      other[2 * i] = vzip1q_s16(v[i], v[i + 4]);
      other[2 * i + 1] = vzip2q_s16(v[i], v[i + 4]);
    }
    for (int i = 0; i < 8; ++i) v[i] = other[i];
  }
}

/// Samples by columns to bytes by rows; the bits that no sample of a picture has.
MMCPP_INLINE uint16x8_t StoreSamples(const int16x8_t* v, uint8_t* dst, size_t stride) {
  const int16x8_t middle = vdupq_n_s16(128), least = vdupq_n_s16(-512);
  uint16x8_t all = vdupq_n_u16(0);
  uint8x16_t bytes[4], other[4];
  for (int i = 0; i < 8; ++i) {
    all = vorrq_u16(all, vreinterpretq_u16_s16(vsubq_s16(v[i], least)));
  }
  for (int i = 0; i < 4; ++i) {
    bytes[i] =
        vqmovun_high_s16(vqmovun_s16(vaddq_s16(v[2 * i], middle)), vaddq_s16(v[2 * i + 1], middle));
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      other[2 * i] = vzip1q_u8(bytes[i], bytes[i + 2]);
      other[2 * i + 1] = vzip2q_u8(bytes[i], bytes[i + 2]);
    }
    for (int i = 0; i < 4; ++i) bytes[i] = other[i];
  }
  for (int i = 0; i < 4; ++i) {
    uint8_t* const to = dst + static_cast<size_t>(2 * i) * stride;
    vst1_u8(to, vget_low_u8(bytes[i]));
    vst1_u8(to + stride, vget_high_u8(bytes[i]));
  }
  return vandq_u16(all, vdupq_n_u16(0xfc00));
}

MMCPP_INLINE int16x8_t Dequantised(const int16_t* coefficients, const JpegQuantisers* quantisers,
                                   int y) {
  return vmulq_s16(vld1q_s16(coefficients + 8 * y),
                   vreinterpretq_s16_u16(vld1q_u16(quantisers->values + 8 * y)));
}

/// Of a block with coefficients in the first kInputs rows and columns alone; bits that are not zero
/// for values that are too large.
template <int kInputs>
MMCPP_INLINE uint16x8_t Idct(int16_t* coefficients, const JpegQuantisers* quantisers, uint8_t* dst,
                             size_t stride) {
  int16x4_t low[kInputs], high[kInputs], columns[2][8];
  for (int y = 0; y < kInputs; ++y) {
    const int16x8_t row = Dequantised(coefficients, quantisers, y);
    low[y] = vget_low_s16(row);
    high[y] = vget_high_s16(row);
  }
  memset(coefficients, 0, kInputs * 8 * sizeof *coefficients);
  FinishFirst(Transform<kInputs>(low), columns[0]);
  if (kInputs == 8) {
    FinishFirst(Transform<kInputs>(high), columns[1]);
  } else {
    for (int y = 0; y < 8; ++y) columns[1][y] = vdup_n_s16(0);
  }

  int16x8_t v[8];
  uint16x8_t large = vdupq_n_u16(0);  // over 16,383 the second pass might overflow
  for (int y = 0; y < 8; ++y) {
    v[y] = vcombine_s16(columns[0][y], columns[1][y]);
    large = vorrq_u16(large, vreinterpretq_u16_s16(vabsq_s16(v[y])));
  }
  large = vandq_u16(large, vdupq_n_u16(0xc000));
  Transpose(v);
  for (int x = 0; x < kInputs; ++x) {
    low[x] = vget_low_s16(v[x]);
    high[x] = vget_high_s16(v[x]);
  }
  FinishSecond(Transform<kInputs>(low), columns[0]);
  FinishSecond(Transform<kInputs>(high), columns[1]);
  for (int x = 0; x < 8; ++x) v[x] = vcombine_s16(columns[0][x], columns[1][x]);
  return vorrq_u16(large, StoreSamples(v, dst, stride));
}

void IdctFlat(int16_t* coefficients, const JpegQuantisers* quantisers, uint8_t* dst,
              size_t stride) {
  const int32_t value = ((coefficients[0] * quantisers->values[0] + 4) >> 3) + 128;
  const uint8x8_t row = vdup_n_u8(static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value));
  coefficients[0] = 0;
  for (size_t y = 0; y < 8; ++y) vst1_u8(dst + y * stride, row);
}

// ---- chroma and RGB ----------------------------------------------------------------------------

/// One channel of eight pixels. jdcolor.c's sums: of red and blue only the fractions of the factors
/// are multiplied; that the rounding is the same with 15 bits holds for each of the 256 values of
/// cr and cb.
struct Rgb {
  uint8x8_t red, green, blue;
};

MMCPP_INLINE Rgb ToRgb(uint8x8_t luma, uint8x8_t blue_chroma, uint8x8_t red_chroma) {
  const uint8x8_t middle = vdup_n_u8(128);
  const int16x8_t y = vreinterpretq_s16_u16(vmovl_u8(luma));
  const int16x8_t cb = vreinterpretq_s16_u16(vsubl_u8(blue_chroma, middle));
  const int16x8_t cr = vreinterpretq_s16_u16(vsubl_u8(red_chroma, middle));
  constexpr int16_t kOfBlue = -22'554, kOfRed = 65'536 - 46'802;  // and cr itself is taken off
  const int32x4_t low =
      vmlal_n_s16(vmull_n_s16(vget_low_s16(cb), kOfBlue), vget_low_s16(cr), kOfRed);
  const int32x4_t high =
      vmlal_n_s16(vmull_n_s16(vget_high_s16(cb), kOfBlue), vget_high_s16(cr), kOfRed);
  const int16x8_t green = vcombine_s16(vrshrn_n_s32(low, 16), vrshrn_n_s32(high, 16));
  return {vqmovun_s16(vaddq_s16(vaddq_s16(y, cr), vqrdmulhq_n_s16(cr, 13'173))),
          vqmovun_s16(vaddq_s16(vsubq_s16(y, cr), green)),
          vqmovun_s16(vaddq_s16(vaddq_s16(vaddq_s16(y, cb), cb), vqrdmulhq_n_s16(cb, -7'471)))};
}

/// 16 pixels, 48 bytes.
MMCPP_INLINE void StoreRgb(const uint8_t* y, uint8x16_t cb, uint8x16_t cr, uint8_t* to) {
  const uint8x16_t luma = vld1q_u8(y);
  const Rgb left = ToRgb(vget_low_u8(luma), vget_low_u8(cb), vget_low_u8(cr));
  const Rgb right = ToRgb(vget_high_u8(luma), vget_high_u8(cb), vget_high_u8(cr));
  uint8x16x3_t rgb;
  rgb.val[0] = vcombine_u8(left.red, right.red);
  rgb.val[1] = vcombine_u8(left.green, right.green);
  rgb.val[2] = vcombine_u8(left.blue, right.blue);
  vst3q_u8(to, rgb);
}

MMCPP_INLINE uint8x16_t Interleaved(uint8x8_t even, uint8x8_t odd) {
  return vcombine_u8(vzip1_u8(even, odd), vzip2_u8(even, odd));
}

/// jdsample.c's triangle: 16 samples of 8.
MMCPP_INLINE uint8x16_t UpsampleRow(const uint8_t* c) {
  const uint8x8_t here = vld1_u8(c), three = vdup_n_u8(3);
  const uint16x8_t left = vmlal_u8(vmovl_u8(vld1_u8(c - 1)), here, three);
  const uint16x8_t right = vmlal_u8(vmovl_u8(vld1_u8(c + 1)), here, three);
  return Interleaved(vshrn_n_u16(vaddq_u16(left, vdupq_n_u16(1)), 2), vrshrn_n_u16(right, 2));
}

/// Three parts of the nearer row and one of the farther.
MMCPP_INLINE uint16x8_t ColumnSums(const uint8_t* const* rows, size_t at, ptrdiff_t offset) {
  const ptrdiff_t i = static_cast<ptrdiff_t>(at) + offset;
  return vmlal_u8(vmovl_u8(vld1_u8(rows[1] + i)), vld1_u8(rows[0] + i), vdup_n_u8(3));
}

MMCPP_INLINE uint8x16_t UpsampleRows(const uint8_t* const* rows, size_t at) {
  const uint16x8_t three = vmulq_n_u16(ColumnSums(rows, at, 0), 3);
  const uint16x8_t left = vaddq_u16(three, ColumnSums(rows, at, -1));
  const uint16x8_t right = vaddq_u16(three, ColumnSums(rows, at, 1));
  return Interleaved(vrshrn_n_u16(left, 4), vshrn_n_u16(vaddq_u16(right, vdupq_n_u16(7)), 4));
}

enum { kPixels = 16 };

/// Pixels in sixteens; those behind the last whole ones by way of a copy.
template <typename Chroma>
MMCPP_INLINE void StoreRow(const uint8_t* y, size_t n, uint8_t* rgb, Chroma chroma) {
  size_t x = 0;
  for (; x + kPixels <= n; x += kPixels) {
    StoreRgb(y + x, chroma(0, x), chroma(1, x), rgb + 3 * x);
  }
  if (x == n) return;
  uint8_t end[3 * kPixels];
  StoreRgb(y + x, chroma(0, x), chroma(1, x), end);
  memcpy(rgb + 3 * x, end, 3 * (n - x));
}

}  // namespace

int JpegIdctNeon(int16_t* coefficients, const uint8_t* last, const JpegQuantisers* quantisers,
                 size_t blocks, uint8_t* dst, size_t stride) {
  constexpr int kLastLow = 9;  // up to this zigzag position, rows and columns are below 4
  uint16x8_t large = vdupq_n_u16(0);
  for (size_t i = 0; i < blocks; ++i, coefficients += 64, dst += 8) {
    if (last[i] == 0) {
      IdctFlat(coefficients, quantisers, dst, stride);
    } else if (last[i] <= kLastLow) {
      large = vorrq_u16(large, Idct<4>(coefficients, quantisers, dst, stride));
    } else {
      large = vorrq_u16(large, Idct<8>(coefficients, quantisers, dst, stride));
    }
  }
  return vmaxvq_u16(large) == 0 ? 0 : 1;
}

void JpegRgbNeon(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb) {
  StoreRow(y, n, rgb, [&](int c, size_t x) { return vld1q_u8((c == 0 ? cb : cr) + x); });
}

void JpegRgbH2v1Neon(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                     uint8_t* rgb) {
  StoreRow(y, n, rgb, [&](int c, size_t x) { return UpsampleRow((c == 0 ? cb : cr) + x / 2); });
}

void JpegRgbH2v2Neon(const uint8_t* y, const uint8_t* const* cb, const uint8_t* const* cr, size_t n,
                     uint8_t* rgb) {
  StoreRow(y, n, rgb, [&](int c, size_t x) { return UpsampleRows(c == 0 ? cb : cr, x / 2); });
}

}  // namespace mmcpp::simd
#endif
