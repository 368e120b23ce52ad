// Undoing PNG's row filters for AVX2: 16, 8 or 4 rows at once, for pixels of 1, 2 and 3 or 4 bytes.
//
// A pixel needs its left neighbour, so a row alone is one long chain of dependent steps. Here each
// row is one pixel behind the row above it, and a vector holds the pixels of all rows on that
// diagonal, one per lane: what a lane has above it is what its upper neighbour gave a step ago.
// Blocks of pixels are transposed on the way in and out.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_png.h"

MMCPP_TARGET_BEGIN("avx2")

namespace mmcpp::simd {
namespace {

#define MMCPP_INLINE static inline __attribute__((always_inline))

enum { kNone = 0, kSub = 1, kUp = 2, kAverage = 3, kPaeth = 4 };

/// Which filters a group of rows has: fewer cost less.
enum Mix { kPaethOnly, kNoPaeth, kAny };

constexpr int LaneBytes(int pixel_bytes) { return pixel_bytes == 3 ? 4 : pixel_bytes; }
constexpr int Lanes(int pixel_bytes) { return 16 / LaneBytes(pixel_bytes); }

template <int kLaneBytes>
MMCPP_INLINE __m128i Low(__m128i a, __m128i b) {
  return kLaneBytes == 1   ? _mm_unpacklo_epi8(a, b)
         : kLaneBytes == 2 ? _mm_unpacklo_epi16(a, b)
                           : _mm_unpacklo_epi32(a, b);
}
template <int kLaneBytes>
MMCPP_INLINE __m128i High(__m128i a, __m128i b) {
  return kLaneBytes == 1   ? _mm_unpackhi_epi8(a, b)
         : kLaneBytes == 2 ? _mm_unpackhi_epi16(a, b)
                           : _mm_unpackhi_epi32(a, b);
}

/// Transposes n x n lanes. Interleaving vector i with vector i + n/2 moves the highest bit of the
/// row number to the lane number and back; log2(n) rounds exchange the two.
template <int kLaneBytes>
MMCPP_INLINE void Transpose(__m128i* v) {
  constexpr int kCount = 16 / kLaneBytes;
  __m128i other[kCount];
  for (int round = 1; round < kCount; round *= 2) {
    for (int i = 0; i < kCount / 2; ++i) {
      other[2 * i] = Low<kLaneBytes>(v[i], v[i + kCount / 2]);
      other[2 * i + 1] = High<kLaneBytes>(v[i], v[i + kCount / 2]);
    }
    for (int i = 0; i < kCount; ++i) v[i] = other[i];
  }
}

/// The lanes of as many pixels as a vector has; reads 16 bytes.
template <int kPixelBytes>
MMCPP_INLINE __m128i LoadPixels(const uint8_t* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if (kPixelBytes != 3) return bytes;
  return _mm_shuffle_epi8(bytes,
                          _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
}

/// Writes 16 bytes; of pixels of 3 bytes the last 4 are zeros.
template <int kPixelBytes>
MMCPP_INLINE void StorePixels(__m128i pixels, uint8_t* to) {
  if (kPixelBytes == 3) {
    pixels = _mm_shuffle_epi8(
        pixels, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), pixels);
}

/// With the lanes in the opposite order.
template <int kLaneBytes>
MMCPP_INLINE __m128i Reversed(__m128i v) {
  if (kLaneBytes == 4) return _mm_shuffle_epi32(v, 0x1b);
  const __m128i bytes = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m128i words = _mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1);
  return _mm_shuffle_epi8(v, kLaneBytes == 1 ? bytes : words);
}

/// The Paeth predictor without more than 8 bits: the distance to the corner is the sum of the other
/// two, and never the smallest, unless left and above lie on different sides of the corner; then it
/// is their difference.
MMCPP_INLINE __m128i PaethPredictor(__m128i left, __m128i above, __m128i corner) {
  const __m128i zero = _mm_setzero_si128();
  const __m128i above_over = _mm_subs_epu8(above, corner);
  const __m128i left_over = _mm_subs_epu8(left, corner);
  const __m128i to_left = _mm_or_si128(above_over, _mm_subs_epu8(corner, above));
  const __m128i to_above = _mm_or_si128(left_over, _mm_subs_epu8(corner, left));
  const __m128i least = _mm_min_epu8(to_left, to_above);
  const __m128i to_corner = _mm_sub_epi8(_mm_max_epu8(to_left, to_above), least);
  const __m128i apart =
      _mm_xor_si128(_mm_cmpeq_epi8(above_over, zero), _mm_cmpeq_epi8(left_over, zero));
  const __m128i corner_farther = _mm_cmpeq_epi8(_mm_subs_epu8(least, to_corner), zero);
  const __m128i nearer = _mm_blendv_epi8(above, left, _mm_cmpeq_epi8(least, to_left));
  return _mm_blendv_epi8(nearer, corner, _mm_andnot_si128(corner_farther, apart));
}

/// A group of rows, each with its own filter.
template <int kPixelBytes>
struct Wave {
  static constexpr int kLaneBytes = LaneBytes(kPixelBytes);
  static constexpr int kLanes = Lanes(kPixelBytes);

  const uint8_t* src[kLanes];  // without the filter byte; of lanes without a row any that is there
  uint8_t* dst[kLanes];
  const uint8_t* above;
  size_t rows;
  size_t bytes;
  __m128i is_sub, is_up, is_average, is_paeth;  // lanes of the rows with that filter

  /// The diagonal of the last step, and what stood above it.
  struct Diagonal {
    __m128i pixels, above;
  };

  /// Unfilters the next diagonal; the pixel above lane 0 is in the last lane of `next_above`.
  template <Mix kMix>
  MMCPP_INLINE Diagonal Step(const Wave* w, Diagonal last, __m128i filtered, __m128i next_above) {
    const __m128i left = last.pixels, corner = last.above;
    const __m128i up = _mm_alignr_epi8(left, next_above, 16 - kLaneBytes);
    __m128i predicted = _mm_setzero_si128();
    if (kMix != kNoPaeth) predicted = PaethPredictor(left, up, corner);
    if (kMix != kPaethOnly) {
      const __m128i round = _mm_and_si128(_mm_xor_si128(left, up), _mm_set1_epi8(1));
      const __m128i average = _mm_sub_epi8(_mm_avg_epu8(left, up), round);
      predicted =
          _mm_or_si128(_mm_or_si128(_mm_and_si128(predicted, w->is_paeth),
                                    _mm_and_si128(average, w->is_average)),
                       _mm_or_si128(_mm_and_si128(left, w->is_sub), _mm_and_si128(up, w->is_up)));
    }
    return {_mm_add_epi8(filtered, predicted), up};
  }

  /// Step number t by single pixels, for the ends, where not all lanes are inside their rows. Lanes
  /// before their row's first pixel hold zeros, as the filters want it there.
  template <Mix kMix>
  static void EdgeStep(const Wave* w, Diagonal* diagonal, size_t t) {
    uint8_t filtered[16] = {}, next_above[16] = {}, pixels[16];
    const size_t width = w->bytes / kPixelBytes;
    for (size_t r = 0; r < size_t{kLanes}; ++r) {  // rows is at most that, which GCC cannot see
      if (r < w->rows && t >= r && t - r < width) {
        memcpy(filtered + r * kLaneBytes, w->src[r] + (t - r) * kPixelBytes, kPixelBytes);
      }
    }
    if (t < width) memcpy(next_above + 16 - kLaneBytes, w->above + t * kPixelBytes, kPixelBytes);
    *diagonal =
        Step<kMix>(w, *diagonal, _mm_loadu_si128(reinterpret_cast<const __m128i*>(filtered)),
                   _mm_loadu_si128(reinterpret_cast<const __m128i*>(next_above)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pixels), diagonal->pixels);
    for (size_t r = 0; r < size_t{kLanes}; ++r) {
      if (r < w->rows && t >= r && t - r < width) {
        memcpy(w->dst[r] + (t - r) * kPixelBytes, pixels + r * kLaneBytes, kPixelBytes);
      }
    }
  }

  /// kLanes steps, whose vectors lie inside their rows.
  template <Mix kMix>
  MMCPP_INLINE Diagonal Block(const Wave* w, Diagonal diagonal, size_t t) {
    __m128i v[kLanes];
    for (int r = 0; r < kLanes; ++r) {
      v[r] = LoadPixels<kPixelBytes>(w->src[r] + (t - static_cast<size_t>(r)) * kPixelBytes);
    }
    __m128i next_above = Reversed<kLaneBytes>(LoadPixels<kPixelBytes>(w->above + t * kPixelBytes));
    Transpose<kLaneBytes>(v);
    for (int j = 0; j < kLanes; ++j) {
      diagonal = Step<kMix>(w, diagonal, v[j], next_above);
      v[j] = diagonal.pixels;
      next_above = _mm_slli_si128(next_above, kLaneBytes);
    }
    Transpose<kLaneBytes>(v);
    for (size_t r = 0; r < size_t{kLanes}; ++r) {  // not to rows: v then stays in registers
      if (r < w->rows) StorePixels<kPixelBytes>(v[r], w->dst[r] + (t - r) * kPixelBytes);
    }
    return diagonal;
  }

  template <Mix kMix>
  static void Run(const Wave* w) {
    const size_t steps = w->bytes / kPixelBytes + w->rows - 1;
    Diagonal edge = {_mm_setzero_si128(), _mm_setzero_si128()};
    size_t t = 0;
    for (; t < steps && t < kLanes - 1; ++t) EdgeStep<kMix>(w, &edge, t);
    if (t == kLanes - 1) {
      Diagonal diagonal = edge;
      for (; t * kPixelBytes + 16 <= w->bytes; t += kLanes) {
        diagonal = Block<kMix>(w, diagonal, t);
      }
      edge = diagonal;
    }
    for (; t < steps; ++t) EdgeStep<kMix>(w, &edge, t);
  }
};

/// Up to Lanes() rows.
template <int kPixelBytes>
void UnfilterGroup(size_t rows, size_t bytes, const uint8_t* const* src, const uint8_t* above,
                   uint8_t* const* dst) {
  Wave<kPixelBytes> w;
  uint8_t lanes[5][16] = {};
  for (size_t r = 0; r < rows; ++r) {
    memset(lanes[src[r][0]] + r * w.kLaneBytes, 0xff, w.kLaneBytes);
  }
  bool only_paeth = true, no_paeth = true;
  for (size_t r = 0; r < size_t{w.kLanes}; ++r) {
    const size_t row = r < rows ? r : 0;
    w.src[r] = src[row] + 1;
    w.dst[r] = dst[row];
    only_paeth = only_paeth && src[row][0] == kPaeth;
    no_paeth = no_paeth && src[row][0] != kPaeth;
  }
  const auto load = [&](int filter) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes[filter]));
  };
  w.is_sub = load(kSub);
  w.is_up = load(kUp);
  w.is_average = load(kAverage);
  w.is_paeth = load(kPaeth);
  w.above = above;
  w.rows = rows;
  w.bytes = bytes;
  if (only_paeth) return w.template Run<kPaethOnly>(&w);
  if (no_paeth) return w.template Run<kNoPaeth>(&w);
  return w.template Run<kAny>(&w);
}

void Up(const uint8_t* src, const uint8_t* above, uint8_t* dst, size_t bytes) {
  size_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(above + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + i), _mm256_add_epi8(a, b));
  }
  for (; i < bytes; ++i) dst[i] = static_cast<uint8_t>(src[i] + above[i]);
}

template <int kPixelBytes>
void Unfilter(size_t rows, size_t bytes, const uint8_t* const* src, const uint8_t* above,
              uint8_t* const* dst) {
  for (size_t y = 0; y < rows;) {
    // Rows that need no left neighbour are no chain.
    if (src[y][0] == kNone) {
      memcpy(dst[y], src[y] + 1, bytes);
    } else if (src[y][0] == kUp) {
      Up(src[y] + 1, above, dst[y], bytes);
    } else {
      const size_t lanes = Lanes(kPixelBytes);
      size_t group = rows - y < lanes ? rows - y : lanes;
      while (src[y + group - 1][0] == kNone || src[y + group - 1][0] == kUp) --group;
      UnfilterGroup<kPixelBytes>(group, bytes, src + y, above, dst + y);
      y += group - 1;
    }
    above = dst[y++];
  }
}

}  // namespace

void PngUnfilterAvx2(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
                     const uint8_t* above, uint8_t* const* dst) {
  switch (pixel_bytes) {
    case 1:
      return Unfilter<1>(rows, bytes, src, above, dst);
    case 2:
      return Unfilter<2>(rows, bytes, src, above, dst);
    case 3:
      return Unfilter<3>(rows, bytes, src, above, dst);
    case 4:
      return Unfilter<4>(rows, bytes, src, above, dst);
    default:
      return PngUnfilterScalar(rows, bytes, pixel_bytes, src, above, dst);
  }
}

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
