// The sums of libjpeg's accurate inverse DCT for vectors of any width: blocks stand side by side in
// lanes of 16 bytes. A file says which vectors before it includes this:
//   #define MMCPP_JPEG_VECTOR __m256i
//   #define MMCPP_JPEG_OP(name) _mm256_##name
//   #define MMCPP_JPEG_BITS(name) _mm256_##name##_si256
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mmcpp::simd {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own

#define MMCPP_INLINE static inline __attribute__((always_inline))

using JpegVector = MMCPP_JPEG_VECTOR;

/// The lanes low, high, low, high, ...
MMCPP_INLINE JpegVector Pairs(int16_t low, int16_t high) {
  return MMCPP_JPEG_OP(set1_epi32)(
      static_cast<int32_t>(static_cast<uint16_t>(low) | static_cast<uint32_t>(high) << 16));
}

/// Sums of the even and of the odd inputs of jidctint.c's transform, in 13 bits of fraction.
struct Parts {
  JpegVector even[4], odd[4];
};

/// Of inputs 0 and 4, 2 and 6, 1 and 3, 5 and 7, interleaved. The constants are the sums of
/// jidctint.c's for each pair of input and output, so every step of it is exact.
MMCPP_INLINE Parts Transform(JpegVector x04, JpegVector x26, JpegVector x13, JpegVector x57,
                             JpegVector bias) {
  const JpegVector sum =
      MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x04, Pairs(8'192, 8'192)), bias);
  const JpegVector difference =
      MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x04, Pairs(8'192, -8'192)), bias);
  const JpegVector even2 = MMCPP_JPEG_OP(madd_epi16)(x26, Pairs(4'433, -10'704));
  const JpegVector even3 = MMCPP_JPEG_OP(madd_epi16)(x26, Pairs(10'703, 4'433));
  Parts parts;
  parts.even[0] = MMCPP_JPEG_OP(add_epi32)(sum, even3);
  parts.even[1] = MMCPP_JPEG_OP(add_epi32)(difference, even2);
  parts.even[2] = MMCPP_JPEG_OP(sub_epi32)(difference, even2);
  parts.even[3] = MMCPP_JPEG_OP(sub_epi32)(sum, even3);
  parts.odd[0] = MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(11'363, 9'633)),
                                          MMCPP_JPEG_OP(madd_epi16)(x57, Pairs(6'437, 2'260)));
  parts.odd[1] = MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(9'633, -2'259)),
                                          MMCPP_JPEG_OP(madd_epi16)(x57, Pairs(-11'362, -6'436)));
  parts.odd[2] = MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(6'437, -11'362)),
                                          MMCPP_JPEG_OP(madd_epi16)(x57, Pairs(2'261, 9'633)));
  parts.odd[3] = MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(2'260, -6'436)),
                                          MMCPP_JPEG_OP(madd_epi16)(x57, Pairs(9'633, -11'363)));
  return parts;
}

/// The same without inputs 4 to 7: of 0 and 2, 1 and 3.
MMCPP_INLINE Parts TransformLow(JpegVector x02, JpegVector x13, JpegVector bias) {
  Parts parts;
  parts.even[0] =
      MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x02, Pairs(8'192, 10'703)), bias);
  parts.even[1] =
      MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x02, Pairs(8'192, 4'433)), bias);
  parts.even[2] =
      MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x02, Pairs(8'192, -4'433)), bias);
  parts.even[3] =
      MMCPP_JPEG_OP(add_epi32)(MMCPP_JPEG_OP(madd_epi16)(x02, Pairs(8'192, -10'703)), bias);
  parts.odd[0] = MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(11'363, 9'633));
  parts.odd[1] = MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(9'633, -2'259));
  parts.odd[2] = MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(6'437, -11'362));
  parts.odd[3] = MMCPP_JPEG_OP(madd_epi16)(x13, Pairs(2'260, -6'436));
  return parts;
}

/// Outputs i and 7 - i.
template <int kShift>
MMCPP_INLINE JpegVector Front(const Parts& parts, int i) {
  return MMCPP_JPEG_OP(srai_epi32)(MMCPP_JPEG_OP(add_epi32)(parts.even[i], parts.odd[i]), kShift);
}
template <int kShift>
MMCPP_INLINE JpegVector Back(const Parts& parts, int i) {
  return MMCPP_JPEG_OP(srai_epi32)(MMCPP_JPEG_OP(sub_epi32)(parts.even[i], parts.odd[i]), kShift);
}

template <int kShift>
MMCPP_INLINE void Finish(const Parts& low, const Parts& high, JpegVector* v) {
  for (int i = 0; i < 4; ++i) {
    v[i] = MMCPP_JPEG_OP(packs_epi32)(Front<kShift>(low, i), Front<kShift>(high, i));
    v[7 - i] = MMCPP_JPEG_OP(packs_epi32)(Back<kShift>(low, i), Back<kShift>(high, i));
  }
}

/// A pass over eight vectors.
template <int kShift>
MMCPP_INLINE void Pass(JpegVector* v, JpegVector bias) {
  const Parts low = Transform(
      MMCPP_JPEG_OP(unpacklo_epi16)(v[0], v[4]), MMCPP_JPEG_OP(unpacklo_epi16)(v[2], v[6]),
      MMCPP_JPEG_OP(unpacklo_epi16)(v[1], v[3]), MMCPP_JPEG_OP(unpacklo_epi16)(v[5], v[7]), bias);
  const Parts high = Transform(
      MMCPP_JPEG_OP(unpackhi_epi16)(v[0], v[4]), MMCPP_JPEG_OP(unpackhi_epi16)(v[2], v[6]),
      MMCPP_JPEG_OP(unpackhi_epi16)(v[1], v[3]), MMCPP_JPEG_OP(unpackhi_epi16)(v[5], v[7]), bias);
  Finish<kShift>(low, high, v);
}

/// Transposes the 8 x 8 lanes of each half.
MMCPP_INLINE void Transpose(JpegVector* v) {
  JpegVector a[8], b[8];
  for (size_t i = 0; i < 4; ++i) {
    a[2 * i] = MMCPP_JPEG_OP(unpacklo_epi16)(v[i], v[i + 4]);
    a[2 * i + 1] = MMCPP_JPEG_OP(unpackhi_epi16)(v[i], v[i + 4]);
  }
  for (size_t i = 0; i < 4; ++i) {
    b[2 * i] = MMCPP_JPEG_OP(unpacklo_epi16)(a[i], a[i + 4]);
    b[2 * i + 1] = MMCPP_JPEG_OP(unpackhi_epi16)(a[i], a[i + 4]);
  }
  for (size_t i = 0; i < 4; ++i) {
    v[2 * i] = MMCPP_JPEG_OP(unpacklo_epi16)(b[i], b[i + 4]);
    v[2 * i + 1] = MMCPP_JPEG_OP(unpackhi_epi16)(b[i], b[i + 4]);
  }
}

enum {
  kFirstShift = 11,
  kSecondShift = 18,
  kFirstBias = 1 << 10,
  // The second pass gives samples that are 0 and not 512 for the least that any table knows.
  kSecondBias = (1 << 17) + (512 << 18),
};

/// Whether the first pass gave anything over 16,383.
MMCPP_INLINE JpegVector Magnitudes(const JpegVector* v, int count) {
  JpegVector all = MMCPP_JPEG_OP(abs_epi16)(v[0]);
  for (int i = 1; i < count; ++i) all = MMCPP_JPEG_BITS(or)(all, MMCPP_JPEG_OP(abs_epi16)(v[i]));
  return MMCPP_JPEG_BITS(and)(all, MMCPP_JPEG_OP(set1_epi16)(static_cast<int16_t>(0xc000)));
}

}  // namespace
}  // namespace mmcpp::simd
