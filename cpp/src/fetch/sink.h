// Where a source's bytes go as they arrive: a buffer that grows, a limit that is exact, a budget
// that is charged before the bytes are kept.
#pragma once

#include <cstdint>

#include "mmcpp/fetch.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp::fetch {

class Sink {
 public:
  /// `budget` must outlive the sink.
  Sink(uint64_t max_bytes, ByteBudget* budget) : max_bytes_(max_bytes), budget_(budget) {}
  /// Bytes that were not handed over go back to the budget.
  ~Sink() { Reset(); }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// How many bytes are expected in all; believed only as far as memory goes that is soon used.
  void Expect(uint64_t bytes) { expected_ = bytes; }

  /// kLimitExceeded beyond the source's limit or the budget.
  Status Append(Bytes bytes);

  /// What may still be appended.
  uint64_t room() const;

  /// The bytes; their charge stays with the budget.
  Buffer Take();

  /// Drops what was appended.
  void Reset();

 private:
  Status Grow(uint64_t needed);

  const uint64_t max_bytes_;
  ByteBudget* const budget_;
  uint64_t expected_ = 0;
  uint64_t size_ = 0;
  Buffer buffer_;  // its size is the capacity until Take
};

/// The errors of a limit that is reached.
Error SourceTooLarge(uint64_t max_bytes);
Error BudgetSpent(uint64_t budget_bytes);

}  // namespace mmcpp::fetch
