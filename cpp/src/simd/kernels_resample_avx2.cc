// Weights of a resampling axis, packed for the kernels of AVX2.
#if MMCPP_SIMD && defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/kernels.h"
#include "simd/kernels_resample.h"

MMCPP_TARGET_BEGIN("avx2")

#include "simd/kernels_resample_avx2.h"

namespace mmcpp::simd {
namespace {

enum { kMaxHigh = 32764, kMaxPairOfLows = 128, kMaxBase = 192 };

// The pair's lows multiply bytes, and their sum must not saturate: |255 * (a + b)| < 2^15. With a
// base of at most kMaxBase this holds after one of them has lent to its high.
MMCPP_INLINE void BalanceLows(int32_t base, int32_t* high, int32_t* low) {
  const int larger = low[0] * low[0] < low[1] * low[1];
  if (low[0] + low[1] > kMaxPairOfLows) {
    low[larger] -= base;
    ++high[larger];
  } else if (low[0] + low[1] < -kMaxPairOfLows) {
    low[larger] += base;
    --high[larger];
  }
}

MMCPP_INLINE int32_t BaseOf(const int32_t* weights, int32_t count) {
  int32_t largest = 0;
  for (int32_t k = 0; k < count; ++k) {
    const int32_t size = weights[k] < 0 ? -weights[k] : weights[k];
    if (size > largest) largest = size;
  }
  if (largest <= INT16_MAX) return 1;
  const int32_t base = (largest + kMaxHigh - 1) / kMaxHigh;
  return base > 3 * kShiftBase / 4 && base < kShiftBase ? kShiftBase : base;
}

MMCPP_INLINE int32_t TwoWords(int32_t first, int32_t second) {
  return static_cast<int32_t>((static_cast<uint32_t>(first) & 0xffff) |
                              static_cast<uint32_t>(second) << 16);
}

// Sums of lows from -negative to positive, times 255: where they start, and whether they fit into
// 16 bits.
struct LowSum {
  int32_t positive, negative;
};
MMCPP_INLINE int32_t LowStart(const LowSum* sum, int32_t rest) {
  return TwoWords(255 * sum->negative + rest, 255 * sum->negative + rest);
}
MMCPP_INLINE int Fits(const LowSum* sum, int32_t base) {
  return sum->positive + sum->negative <= (UINT16_MAX - (base - 1)) / 255;
}

// Writes the words of the pairs of weights [begin, end), adds up their lows and returns where the
// next words go.
MMCPP_INLINE int32_t* PackPairs(const int32_t* weights, int32_t begin, int32_t end, int32_t count,
                                int32_t base, int32_t* words, LowSum* sum) {
  const float inverse = 1.0f / static_cast<float>(base);
  sum->positive = sum->negative = 0;
  for (int32_t at = begin; at < end; at += 2, words += 2) {
    int32_t high[2], low[2];
    for (int32_t k = 0; k < 2; ++k) {
      const int32_t weight = at + k < 0 || at + k >= count ? 0 : weights[at + k];
      high[k] = _mm_cvtss_si32(_mm_set_ss(static_cast<float>(weight) * inverse));
      low[k] = weight - high[k] * base;
    }
    BalanceLows(base, high, low);
    for (int32_t k = 0; k < 2; ++k) {
      *(low[k] < 0 ? &sum->negative : &sum->positive) += low[k] < 0 ? -low[k] : low[k];
    }
    const int32_t lows = (low[0] & 0xff) | (low[1] & 0xff) << 8;
    words[0] = TwoWords(high[0], high[1]);
    words[1] = TwoWords(lows, lows);
  }
  return words;
}

// Fills the window and its words; returns how many sums of lows it needs. Its first pair starts
// `lead` inputs before it.
int32_t PackWindow(const ResampleAxis* axis, int32_t i, int32_t lead, PackedWindow* window,
                   int32_t* words) {
  const int32_t* weights = axis->weights + static_cast<size_t>(i) * axis->stride;
  const int32_t count = axis->count[i], base = BaseOf(weights, count);
  const int32_t pairs = (lead + count + 1) / 2, split = 2 * Split(pairs, 2) - lead;
  LowSum sums[2];
  words = PackPairs(weights, -lead, split, count, base, words, &sums[0]);
  PackPairs(weights, split, 2 * pairs - lead, count, base, words, &sums[1]);
  const LowSum whole = {sums[0].positive + sums[1].positive, sums[0].negative + sums[1].negative};
  if (base > kMaxBase || !Fits(&sums[0], base) || !Fits(&sums[1], base)) return kUnfit;
  // What the sums of lows start with, and half of the divisor, from a multiple of the base on.
  const int32_t start = (1 << (axis->precision - 1)) - 255 * whole.negative;
  const int32_t rest = (start % base + base) % base;
  window->pairs = pairs;
  window->base = base;
  window->high_start = (start - rest) / base;
  window->low_start = LowStart(&whole, rest);
  window->low_starts[0] = LowStart(&sums[0], rest);
  window->low_starts[1] = LowStart(&sums[1], 0);
  return base == 1 ? 0 : Fits(&whole, base) ? 1 : 2;
}

// Horizontal windows start at a multiple of two inputs, vertical ones where they start.
MMCPP_INLINE int32_t Lead(const ResampleAxis* axis, int32_t i, int vertical) {
  return vertical ? 0 : axis->first[i] % 2;
}

MMCPP_INLINE PackedWindow* Windows(void* packed) {
  return reinterpret_cast<PackedWindow*>(static_cast<PackedHeader*>(packed) + 1);
}

size_t PackedBytes(const ResampleAxis* axis, int vertical) {
  size_t words = 0;
  for (int32_t i = 0; i < axis->out_size; ++i) {
    words += 2 * static_cast<size_t>((Lead(axis, i, vertical) + axis->count[i] + 1) / 2);
  }
  return sizeof(PackedHeader) + static_cast<size_t>(axis->out_size) * sizeof(PackedWindow) +
         words * sizeof(int32_t);
}

void Pack(const ResampleAxis* axis, int vertical, void* packed) {
  PackedWindow* windows = Windows(packed);
  int32_t* words = reinterpret_cast<int32_t*>(windows + axis->out_size);
  int32_t low_sums = 0, word = 0;
  for (int32_t i = 0; i < axis->out_size; ++i) {
    const int32_t n = PackWindow(axis, i, Lead(axis, i, vertical), windows + i, words + word);
    if (n > low_sums) low_sums = n;
    if (n == kUnfit) break;
    windows[i].pair = vertical ? 0 : axis->first[i] / 2;
    windows[i].word = word;
    word += 2 * windows[i].pairs;
  }
  static_cast<PackedHeader*>(packed)->low_sums = low_sums;
}

}  // namespace

size_t PackedHorizontalBytesAvx2(const ResampleAxis* axis) { return PackedBytes(axis, 0); }
void PackHorizontalAvx2(const ResampleAxis* axis, void* packed) { Pack(axis, 0, packed); }
size_t PackedVerticalBytesAvx2(const ResampleAxis* axis) { return PackedBytes(axis, 1); }
void PackVerticalAvx2(const ResampleAxis* axis, void* packed) { Pack(axis, 1, packed); }

}  // namespace mmcpp::simd

MMCPP_TARGET_END
#endif
