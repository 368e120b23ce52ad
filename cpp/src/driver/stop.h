// Whether a request is to end before it is done.
#pragma once

#include "base/stop.h"
#include "mmcpp/driver.h"

namespace mmcpp::driver {

inline bool MayStop(const ProcessOptions& options) {
  return options.cancelled != nullptr || options.deadline.has_value();
}

inline Stop StopOf(const ProcessOptions& options) { return {options.deadline, options.cancelled}; }

/// kCancelled or kDeadlineExceeded once the options say so, before `stage`.
inline Status CheckStop(const ProcessOptions& options, const char* stage) {
  return StopOf(options).Check(stage);
}

/// An error that ends the request and is no item's fault.
inline bool IsStop(const Error& error) {
  return error.code == ErrorCode::kCancelled || error.code == ErrorCode::kDeadlineExceeded;
}

}  // namespace mmcpp::driver
