// Names follow Prometheus' conventions: base units, _total for counters.
#include "metrics.h"

namespace mmcpp::server {

void Metrics::Count(const std::string& outcome) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++outcomes_[outcome];
}

void Metrics::Add(const Response& response, double fetch_ms, double queue_ms) {
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
  const RequestCounters& counters = response.counters;
  sums_.items += counters.items;
  sums_.duplicates += counters.duplicates;
  sums_.bytes_in += counters.bytes_in;
  sums_.pixels += counters.pixels;
  sums_.bytes_out += counters.bytes_out;
  sums_.tokens_in += counters.tokens_in;
  sums_.tokens_out += counters.tokens_out;
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
  const auto counter = [&text](const std::string& name, uint64_t value) {
    text += "# TYPE " + name + " counter\n" + name + " " + std::to_string(value) + "\n";
  };
  counter("mmcpp_items_total", sums_.items);
  counter("mmcpp_duplicate_items_total", sums_.duplicates);
  counter("mmcpp_media_bytes_total", sums_.bytes_in);
  counter("mmcpp_pixels_total", sums_.pixels);
  counter("mmcpp_tensor_bytes_total", sums_.bytes_out);
  counter("mmcpp_prompt_tokens_total", sums_.tokens_in);
  counter("mmcpp_expanded_tokens_total", sums_.tokens_out);
  counter("mmcpp_received_bytes_total", bytes_in);
  counter("mmcpp_sent_bytes_total", bytes_out);
  text += "# TYPE mmcpp_in_flight gauge\nmmcpp_in_flight " + std::to_string(in_flight) + "\n";
  text += "# TYPE mmcpp_queue_depth gauge\nmmcpp_queue_depth " + std::to_string(queue_depth) + "\n";
  return text;
}

}  // namespace mmcpp::server
