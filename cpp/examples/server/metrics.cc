// Names follow Prometheus' conventions: base units, _total for counters.
#include "metrics.h"

namespace mmcpp::server {

void Metrics::Count(const std::string& outcome) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++outcomes_[outcome];
}

void Metrics::AddTimes(const Response& response, double fetch_ms, double queue_ms) {
  ItemTimes sum;
  for (const OutputItem& item : response.items) {
    sum.hash_ms += item.times.hash_ms;
    sum.decode_ms += item.times.decode_ms;
    sum.process_ms += item.times.process_ms;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  stage_seconds_["fetch"] += fetch_ms / 1000;
  stage_seconds_["queue"] += queue_ms / 1000;
  stage_seconds_["hash"] += sum.hash_ms / 1000;
  stage_seconds_["decode"] += sum.decode_ms / 1000;
  stage_seconds_["process"] += sum.process_ms / 1000;
  stage_seconds_["layout"] += response.layout_ms / 1000;
  stage_seconds_["positions"] += response.positions_ms / 1000;
}

std::string Metrics::Text(size_t queue_depth) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string text = "# TYPE mmcpp_requests_total counter\n";
  for (const auto& [outcome, count] : outcomes_) {
    text += "mmcpp_requests_total{outcome=\"" + outcome + "\"} " + std::to_string(count) + "\n";
  }
  text += "# TYPE mmcpp_stage_seconds_total counter\n";
  for (const auto& [stage, seconds] : stage_seconds_) {
    text += "mmcpp_stage_seconds_total{stage=\"" + stage + "\"} " + std::to_string(seconds) + "\n";
  }
  text += "# TYPE mmcpp_received_bytes_total counter\nmmcpp_received_bytes_total " +
          std::to_string(bytes_in) + "\n";
  text += "# TYPE mmcpp_sent_bytes_total counter\nmmcpp_sent_bytes_total " +
          std::to_string(bytes_out) + "\n";
  text += "# TYPE mmcpp_in_flight gauge\nmmcpp_in_flight " + std::to_string(in_flight) + "\n";
  text += "# TYPE mmcpp_queue_depth gauge\nmmcpp_queue_depth " + std::to_string(queue_depth) + "\n";
  return text;
}

}  // namespace mmcpp::server
