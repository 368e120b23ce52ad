// In double, as its reference computes, and with the hashes that order its candidates.
#include "transforms/nearest_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr int64_t kMaxAlong = 1 << 20;

struct Blocks {
  int64_t rows = 0, columns = 0;

  bool operator==(const Blocks& other) const {
    return rows == other.rows && columns == other.columns;
  }
};

/// CPython's hash of a tuple of two integers that are not negative: xxHash's rounds.
uint64_t TupleHash(const Blocks& blocks) {
  constexpr uint64_t kPrime1 = 11400714785074694791u, kPrime2 = 14029467366897019727u,
                     kPrime5 = 2870177450012600261u;
  uint64_t hash = kPrime5;
  for (const int64_t value : {blocks.rows, blocks.columns}) {
    hash += static_cast<uint64_t>(value) * kPrime2;
    hash = hash << 31 | hash >> 33;
    hash *= kPrime1;
  }
  hash += 2 ^ (kPrime5 ^ 3527539u);
  return hash == UINT64_MAX ? 1546275796u : hash;
}

/// A CPython set of up to four tuples: eight slots, which are also the order that it is read in.
class TupleSet {
 public:
  void Add(const Blocks& blocks) {
    uint64_t rest = TupleHash(blocks);
    size_t slot = rest % kSlots;
    while (slots_[slot] && !(*slots_[slot] == blocks)) {
      rest >>= 5;
      slot = (slot * 5 + 1 + rest) % kSlots;
    }
    slots_[slot] = blocks;
  }
  auto begin() const { return slots_.begin(); }
  auto end() const { return slots_.end(); }

 private:
  static constexpr size_t kSlots = 8;
  std::array<std::optional<Blocks>, kSlots> slots_;
};

int64_t AtLeastOne(double blocks) { return std::max<int64_t>(1, std::llrint(blocks)); }

Blocks Choose(int height, int width, double rows, double columns, uint64_t max_blocks) {
  TupleSet candidates;
  for (const double r : {std::floor(rows), std::ceil(rows)}) {
    for (const double c : {std::floor(columns), std::ceil(columns)}) {
      candidates.Add({static_cast<int64_t>(r), static_cast<int64_t>(c)});
    }
  }
  const double ratio = static_cast<double>(height) / width;
  std::optional<Blocks> best;
  double least = 0;
  for (const auto& candidate : candidates) {
    if (!candidate || candidate->rows < 1 || candidate->columns < 1 ||
        static_cast<uint64_t>(candidate->rows * candidate->columns) > max_blocks) {
      continue;
    }
    const double difference = std::fabs(
        static_cast<double>(candidate->rows) / static_cast<double>(candidate->columns) - ratio);
    if (best && difference >= least) continue;
    best = candidate;
    least = difference;
  }
  return best.value_or(Blocks{AtLeastOne(rows), AtLeastOne(columns)});
}

}  // namespace

Result<Size> NearestGridSize(int height, int width, int block, uint64_t max_blocks) {
  if (height <= 0 || width <= 0 || block <= 0) return InvalidArgument("empty image");
  double rows = static_cast<double>(height) / block;
  double columns = static_cast<double>(width) / block;
  const double ratio = columns / rows;
  const auto most = static_cast<double>(max_blocks);
  if (rows * columns > most) {
    rows = std::pow(most / ratio, 0.5);
    columns = rows * ratio;
  }
  if (!(rows < kMaxAlong && columns < kMaxAlong)) {
    return LimitExceeded("smart_resize: " + std::to_string(height) + "x" + std::to_string(width) +
                         " needs more than " + std::to_string(kMaxAlong) + " blocks along a side");
  }
  const Blocks blocks = Choose(height, width, rows, columns, max_blocks);
  if (std::max(blocks.rows, blocks.columns) * block > INT32_MAX) {
    return LimitExceeded("smart_resize: " + std::to_string(height) + "x" + std::to_string(width) +
                         " needs a side over 2147483647");
  }
  return Size{static_cast<int>(blocks.rows * block), static_cast<int>(blocks.columns * block)};
}

}  // namespace mmcpp::transforms
