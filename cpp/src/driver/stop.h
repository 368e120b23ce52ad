// Whether a request is to end before it is done.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "mmcpp/driver.h"

namespace mmcpp::driver {

inline bool MayStop(const ProcessOptions& options) {
  return options.cancelled != nullptr || options.deadline.has_value();
}

/// kCancelled or kDeadlineExceeded once the options say so, before `stage`.
inline Status CheckStop(const ProcessOptions& options, const char* stage) {
  if (options.cancelled != nullptr && options.cancelled->load(std::memory_order_relaxed)) {
    return Error{ErrorCode::kCancelled, std::string(stage) + ": the request was cancelled"};
  }
  if (options.deadline && std::chrono::steady_clock::now() >= *options.deadline) {
    return Error{ErrorCode::kDeadlineExceeded, std::string(stage) + ": the deadline has passed"};
  }
  return Ok{};
}

/// An error that ends the request and is no item's fault.
inline bool IsStop(const Error& error) {
  return error.code == ErrorCode::kCancelled || error.code == ErrorCode::kDeadlineExceeded;
}

}  // namespace mmcpp::driver
