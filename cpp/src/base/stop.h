// When work is to end before it is done, for layers that know of no request.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "mmcpp/status.h"

namespace mmcpp {

/// Plain data; by default the work runs to its end.
struct Stop {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const std::atomic<bool>* cancelled = nullptr;  ///< borrowed

  bool IsCancelled() const noexcept {
    return cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
  }
  bool IsLate() const noexcept { return deadline && std::chrono::steady_clock::now() >= *deadline; }
  bool IsDue() const noexcept { return IsCancelled() || IsLate(); }

  /// kCancelled or kDeadlineExceeded once it is due, in `stage`.
  Status Check(const char* stage) const {
    if (IsCancelled()) {
      return Error{ErrorCode::kCancelled, std::string(stage) + ": the request was cancelled"};
    }
    if (IsLate()) {
      return Error{ErrorCode::kDeadlineExceeded, std::string(stage) + ": the deadline has passed"};
    }
    return Ok{};
  }
};

}  // namespace mmcpp
