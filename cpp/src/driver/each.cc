// Items of which each has its own outcome.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "driver/item.h"
#include "mmcpp/driver.h"
#include "par/par.h"

namespace mmcpp {
namespace {

/// Of the sources that are any.
Status CheckTotal(Span<const MediaSource> media, const RequestLimits& limits) {
  uint64_t total = 0;
  for (const MediaSource& source : media) {
    if (!driver::CheckSource(source).ok()) continue;
    if (!CheckedAdd(total, driver::SourceBytes(source), &total) || total > limits.max_total_bytes) {
      return LimitExceeded("multimodal request exceeds " + std::to_string(limits.max_total_bytes) +
                           " total media bytes");
    }
  }
  return Ok{};
}

Result<OutputItem> ProcessOne(const Family& family, const MediaSource& source,
                              const ProcessOptions& options) {
  MMCPP_TRY(driver::CheckSource(source));
  MMCPP_TRY(driver::CheckStop(options, "hash"));
  return driver::ProcessItem(family, source, nullptr, options);
}

}  // namespace

Result<std::vector<Result<OutputItem>>> ProcessEach(const Family& family,
                                                    Span<const MediaSource> media,
                                                    const ProcessOptions& options) {
  const par::Call call;
  return CatchOutOfMemory([&]() -> Result<std::vector<Result<OutputItem>>> {
    MMCPP_TRY(driver::CheckCall(media.size(), options));
    MMCPP_TRY(CheckTotal(media, options.limits));
    std::vector<std::optional<Result<OutputItem>>> slots(media.size());
    par::ForRange(media.size(), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        slots[i].emplace(driver::ForItem(i, [&] { return ProcessOne(family, media[i], options); }));
      }
    });
    std::vector<Result<OutputItem>> results;
    results.reserve(slots.size());
    for (auto& slot : slots) results.push_back(*std::move(slot));
    return results;
  });
}

}  // namespace mmcpp
