// Undoing PNG's row filters: 16, 8 or 4 rows at once, for pixels of 1, 2 and 3 or 4 bytes, in
// vectors of 16 bytes of any instruction set.
//
// A pixel needs its left neighbour, so a row alone is one long chain of dependent steps. Here each
// row is one pixel behind the row above it, and a vector holds the pixels of all rows on that
// diagonal, one per lane: what a lane has above it is what its upper neighbour gave a step ago.
// Blocks of pixels are transposed on the way in and out.
//
// A file defines PngVector and its functions before it includes this: Load, Store, Zeros, And, Or,
// Sum, Average, PaethPredictor, Spread, Together; by lane's bytes Low, High, Reversed, MovedUp.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels_png.h"

namespace mmcpp::simd {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own

enum { kNone = 0, kSub = 1, kUp = 2, kAverage = 3, kPaeth = 4 };

/// Which filters a group of rows has: fewer cost less.
enum Mix { kPaethOnly, kNoPaeth, kAny };

constexpr int LaneBytes(int pixel_bytes) { return pixel_bytes == 3 ? 4 : pixel_bytes; }
constexpr int Lanes(int pixel_bytes) { return 16 / LaneBytes(pixel_bytes); }

/// Transposes n x n lanes. Interleaving vector i with vector i + n/2 moves the highest bit of the
/// row number to the lane number and back; log2(n) rounds exchange the two.
template <int kLaneBytes>
MMCPP_INLINE void Transpose(PngVector* v) {
  constexpr int kCount = 16 / kLaneBytes;
  PngVector other[kCount];
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
MMCPP_INLINE PngVector LoadPixels(const uint8_t* from) {
  return kPixelBytes == 3 ? Spread(Load(from)) : Load(from);
}

/// Writes 16 bytes; of pixels of 3 bytes the last 4 are zeros.
template <int kPixelBytes>
MMCPP_INLINE void StorePixels(PngVector pixels, uint8_t* to) {
  Store(kPixelBytes == 3 ? Together(pixels) : pixels, to);
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
  PngVector is_sub, is_up, is_average, is_paeth;  // lanes of the rows with that filter

  /// The diagonal of the last step, and what stood above it.
  struct Diagonal {
    PngVector pixels, above;
  };

  /// Unfilters the next diagonal; the pixel above lane 0 is in the last lane of `next_above`.
  template <Mix kMix>
  MMCPP_INLINE Diagonal Step(const Wave* w, Diagonal last, PngVector filtered,
                             PngVector next_above) {
    const PngVector left = last.pixels, corner = last.above;
    const PngVector up = MovedUp<kLaneBytes>(next_above, left);
    PngVector predicted = Zeros();
    if (kMix != kNoPaeth) predicted = PaethPredictor(left, up, corner);
    if (kMix != kPaethOnly) {
      predicted = Or(Or(And(predicted, w->is_paeth), And(Average(left, up), w->is_average)),
                     Or(And(left, w->is_sub), And(up, w->is_up)));
    }
    return {Sum(filtered, predicted), up};
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
    *diagonal = Step<kMix>(w, *diagonal, Load(filtered), Load(next_above));
    Store(diagonal->pixels, pixels);
    for (size_t r = 0; r < size_t{kLanes}; ++r) {
      if (r < w->rows && t >= r && t - r < width) {
        memcpy(w->dst[r] + (t - r) * kPixelBytes, pixels + r * kLaneBytes, kPixelBytes);
      }
    }
  }

  /// kLanes steps, whose vectors lie inside their rows.
  template <Mix kMix>
  MMCPP_INLINE Diagonal Block(const Wave* w, Diagonal diagonal, size_t t) {
    PngVector v[kLanes];
    for (int r = 0; r < kLanes; ++r) {
      v[r] = LoadPixels<kPixelBytes>(w->src[r] + (t - static_cast<size_t>(r)) * kPixelBytes);
    }
    PngVector next_above =
        Reversed<kLaneBytes>(LoadPixels<kPixelBytes>(w->above + t * kPixelBytes));
    Transpose<kLaneBytes>(v);
    for (int j = 0; j < kLanes; ++j) {
      diagonal = Step<kMix>(w, diagonal, v[j], next_above);
      v[j] = diagonal.pixels;
      next_above = MovedUp<kLaneBytes>(Zeros(), next_above);
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
    Diagonal edge = {Zeros(), Zeros()};
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
  const auto load = [&](int filter) { return Load(lanes[filter]); };
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

MMCPP_INLINE void Up(const uint8_t* src, const uint8_t* above, uint8_t* dst, size_t bytes) {
  size_t i = 0;
  for (; i + 16 <= bytes; i += 16) Store(Sum(Load(src + i), Load(above + i)), dst + i);
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

MMCPP_INLINE void Unfilter(size_t rows, size_t bytes, size_t pixel_bytes, const uint8_t* const* src,
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

}  // namespace
}  // namespace mmcpp::simd
