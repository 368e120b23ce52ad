// Makes structured values of a fuzzer's bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mmcpp/span.h"

namespace mmcpp::fuzz {

/// Reads from the front; past the end everything is zero.
class ByteReader {
 public:
  ByteReader(const uint8_t* data, size_t size) : rest_(data, size) {}

  bool empty() const { return rest_.empty(); }

  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const uint8_t byte = rest_[0];
    rest_ = rest_.subspan(1, rest_.size() - 1);
    return byte;
  }

  /// 0 to limit - 1.
  size_t Below(size_t limit) { return Byte() % limit; }

  /// Any value, small ones and extremes often.
  uint64_t Number() {
    const uint8_t kind = Byte();
    if (kind < 192) return kind % 32;
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | Byte();
    return kind < 224 ? value : ~uint64_t{0} - value % 4;
  }

  /// Up to `size` bytes, fewer at the end.
  Bytes Take(size_t size) {
    const Bytes taken = rest_.subspan(0, std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size(), rest_.size() - taken.size());
    return taken;
  }

 private:
  Bytes rest_;
};

}  // namespace mmcpp::fuzz
