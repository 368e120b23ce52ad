// Measures the stages of a request.
#pragma once

#include <chrono>

namespace mmcpp {

class Stopwatch {
 public:
  /// Milliseconds since the last call, or since construction.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return ms;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace mmcpp
