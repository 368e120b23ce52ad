// Kernels for AVX2 (Haswell and Zen onwards): pixels to planes and through tables, and the table.
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

MMCPP_TARGET_BEGIN("avx2")

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

MMCPP_INLINE __m128i Load16(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
MMCPP_INLINE void Store16(uint8_t* p, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}
MMCPP_INLINE void Store32(uint8_t* p, __m256i v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}

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
    PackedHorizontalBytesAvx2,
    PackHorizontalAvx2,
    PackedVerticalBytesAvx2,
    PackVerticalAvx2,
    ResampleHorizontalRgb8Avx2,
    ResampleVerticalU8Avx2,
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
