// Counters of the service, in Prometheus' text format.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "mmcpp/driver.h"

namespace mmcpp::server {

class Metrics {
 public:
  /// One answer: "ok", or the code of its error.
  void Count(const std::string& outcome);
  /// Times and counters of a request that was answered with tensors.
  void Add(const Response& response, double fetch_ms, double queue_ms);
  std::string Text(size_t queue_depth) const;

  std::atomic<uint64_t> bytes_in{0}, bytes_out{0};
  std::atomic<int> in_flight{0};

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> outcomes_;
  std::map<std::string, double> stage_seconds_;
  RequestCounters sums_;
};

}  // namespace mmcpp::server
