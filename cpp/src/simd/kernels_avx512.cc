// Kernels for AVX-512 with VNNI and VBMI (Ice Lake and Zen 4 onwards): pixels to planes and through
// tables, and the table.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels.h"
#include "simd/kernels_alpha.h"
#include "simd/kernels_jpeg.h"
#include "simd/kernels_png.h"
#include "simd/kernels_resample.h"

MMCPP_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni")

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

MMCPP_INLINE __mmask64 FirstBytes(size_t n) { return n >= 64 ? ~0ull : ~0ull >> (64 - n); }

// 16 pixels to R x 16, G x 16, B x 16.
MMCPP_INLINE __m512i SplitIndex() {
  alignas(64) static const uint8_t kIndex[64] = {
      0, 3, 6, 9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45,  //
      1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46,  //
      2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47};
  return _mm512_load_si512(kIndex);
}

void SplitRgb8(const uint8_t* src, size_t src_row_bytes, size_t rows, size_t columns,
               uint8_t* dst) {
  const __m512i index = SplitIndex();
  const size_t plane = rows * columns;
  for (size_t y = 0; y < rows; ++y, src += src_row_bytes, dst += columns) {
    for (size_t x = 0; x < columns; x += 16) {
      const size_t n = columns - x < 16 ? columns - x : 16;
      const __mmask16 there = static_cast<__mmask16>(0xffffu >> (16 - n));
      const __m512i v =
          _mm512_permutexvar_epi8(index, _mm512_maskz_loadu_epi8(FirstBytes(3 * n), src + 3 * x));
      _mm_mask_storeu_epi8(dst + x, there, _mm512_castsi512_si128(v));
      _mm_mask_storeu_epi8(dst + plane + x, there, _mm512_extracti32x4_epi32(v, 1));
      _mm_mask_storeu_epi8(dst + 2 * plane + x, there, _mm512_extracti32x4_epi32(v, 2));
    }
  }
}

// 256 bytes in registers.
struct Plane {
  __m512i quarter[4];
};
MMCPP_INLINE Plane LoadPlane(const uint8_t* bytes) {
  Plane plane;
  for (size_t i = 0; i < 4; ++i) plane.quarter[i] = _mm512_loadu_si512(bytes + 64 * i);
  return plane;
}

// The masks of an index vector that say which quarter of a plane each byte is in.
struct Quarters {
  __mmask64 is[4];
};
MMCPP_INLINE Quarters FindQuarters(__m512i index) {
  const __mmask64 high = _mm512_movepi8_mask(index);
  const __mmask64 odd = _mm512_test_epi8_mask(index, _mm512_set1_epi8(0x40));
  return {{~high & ~odd, ~high & odd, high & ~odd, high & odd}};
}
MMCPP_INLINE __m512i LookUp(const Plane& plane, const Quarters& quarters, __m512i index) {
  __m512i v = _mm512_permutexvar_epi8(index, plane.quarter[0]);
  for (int i = 1; i < 4; ++i) {
    v = _mm512_mask_permutexvar_epi8(v, quarters.is[i], index, plane.quarter[i]);
  }
  return v;
}

void MapTo32(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  const Plane planes[4] = {LoadPlane(table->plane[0]), LoadPlane(table->plane[1]),
                           LoadPlane(table->plane[2]), LoadPlane(table->plane[3])};
  // Words so ordered that unpacking bytes within lanes gives 16 elements in order per vector.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  uint8_t* out = static_cast<uint8_t*>(dst);
  for (size_t i = 0; i < n; i += 64) {
    const size_t left = n - i;
    const __m512i index =
        _mm512_permutexvar_epi32(order, _mm512_maskz_loadu_epi8(FirstBytes(left), src + i));
    const Quarters quarters = FindQuarters(index);
    const __m512i b0 = LookUp(planes[0], quarters, index), b1 = LookUp(planes[1], quarters, index);
    const __m512i b2 = LookUp(planes[2], quarters, index), b3 = LookUp(planes[3], quarters, index);
    const __m512i low01 = _mm512_unpacklo_epi8(b0, b1), high01 = _mm512_unpackhi_epi8(b0, b1);
    const __m512i low23 = _mm512_unpacklo_epi8(b2, b3), high23 = _mm512_unpackhi_epi8(b2, b3);
    const __m512i v[4] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                          _mm512_unpacklo_epi16(high01, high23),
                          _mm512_unpackhi_epi16(high01, high23)};
    for (size_t copy = 0; copy < copies; ++copy) {
      uint8_t* to = out + (copy * n + i) * 4;
      if (left >= 64) {
        for (size_t k = 0; k < 4; ++k) _mm512_storeu_si512(to + 64 * k, v[k]);
        continue;
      }
      for (size_t k = 0; 16 * k < left; ++k) {
        const __mmask16 there =
            static_cast<__mmask16>(left - 16 * k >= 16 ? 0xffffu : 0xffffu >> (16 * k + 16 - left));
        _mm512_mask_storeu_epi32(to + 64 * k, there, v[k]);
      }
    }
  }
}

void MapTo16(const ByteTable* table, const uint8_t* src, size_t n, size_t copies, void* dst) {
  const Plane planes[2] = {LoadPlane(table->plane[0]), LoadPlane(table->plane[1])};
  const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  uint8_t* out = static_cast<uint8_t*>(dst);
  for (size_t i = 0; i < n; i += 64) {
    const size_t left = n - i;
    const __m512i index =
        _mm512_permutexvar_epi64(order, _mm512_maskz_loadu_epi8(FirstBytes(left), src + i));
    const Quarters quarters = FindQuarters(index);
    const __m512i b0 = LookUp(planes[0], quarters, index), b1 = LookUp(planes[1], quarters, index);
    const __m512i v[2] = {_mm512_unpacklo_epi8(b0, b1), _mm512_unpackhi_epi8(b0, b1)};
    for (size_t copy = 0; copy < copies; ++copy) {
      uint8_t* to = out + (copy * n + i) * 2;
      if (left >= 64) {
        _mm512_storeu_si512(to, v[0]);
        _mm512_storeu_si512(to + 64, v[1]);
        continue;
      }
      _mm512_mask_storeu_epi8(to, FirstBytes(2 * left), v[0]);
      if (left > 32) _mm512_mask_storeu_epi8(to + 64, FirstBytes(2 * left - 64), v[1]);
    }
  }
}

}  // namespace
}  // namespace mmcpp::simd

MMCPP_TARGET_END

namespace mmcpp::simd {
const Kernels kAvx512Kernels = {
    "avx512",
    PackedHorizontalBytesAvx512,
    PackHorizontalAvx512,
    PackedVerticalBytesAvx512,
    PackVerticalAvx512,
    ResampleHorizontalRgb8Avx512,
    ResampleVerticalU8Avx512,
    SplitRgb8,
    MapTo32,
    MapTo16,
    PngUnfilterAvx2,
    BlendRgba8Avx2,
    DropRgba8Avx2,
    JpegDecodeMcusAvx2,
    JpegIdctAvx512,
    JpegRgbAvx512,
    JpegRgbH2v1Avx512,
    JpegRgbH2v2Avx512,
};
}  // namespace mmcpp::simd
#endif
