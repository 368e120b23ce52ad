// A whole request: checks that cost nothing, then items through the executor, then the prompt.
#include "mmcpp/driver.h"

#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "base/stopwatch.h"
#include "driver/duplicates.h"
#include "driver/item.h"
#include "mmcpp/prompt.h"
#include "par/par.h"

namespace mmcpp {
namespace {

using driver::SourceHash;

Status CheckPrompt(const Request& request) {
  if (request.input_ids.empty()) {
    return InvalidArgument("multimodal request without input_ids");
  }
  // A prompt never shrinks: an item takes one token and gives at least one.
  const uint64_t limit = request.options.limits.max_tokens;
  if (!request.media.empty() && request.input_ids.size() > limit) {
    return Error{ErrorCode::kLimitExceeded,
                 "multimodal request has " + std::to_string(request.input_ids.size()) +
                     " input_ids, the limit is " + std::to_string(limit)};
  }
  return Ok{};
}

/// Every item; equal ones are processed once. An equal of a failing item has a higher index, so the
/// lowest failing item stays the one that is reported.
Result<std::vector<OutputItem>> ProcessAll(const Family& family, const Request& request) {
  const Span<const MediaSource> media = request.media;
  MMCPP_ASSIGN(const std::vector<SourceHash> hashes,
               par::TryMap<SourceHash>(media.size(), [&](size_t i) -> Result<SourceHash> {
                 return driver::HashSource(media[i]);
               }));
  const std::vector<size_t> first = driver::FindDuplicates(media, hashes);
  MMCPP_ASSIGN(std::vector<OutputItem> items,
               par::TryMap<OutputItem>(first.size(), [&](size_t i) -> Result<OutputItem> {
                 if (first[i] != i) return OutputItem();
                 return driver::ForItem(i, [&] {
                   return driver::ProcessItem(family, media[i], hashes[i], request.options);
                 });
               }));
  for (size_t i = 0; i < items.size(); ++i) {
    if (first[i] == i) continue;
    MMCPP_ASSIGN(items[i], driver::ForItem(i, [&] { return driver::CopyItem(items[first[i]]); }));
  }
  return items;
}

Result<Response> Run(const Family& family, const Request& request) {
  MMCPP_TRY(CheckPrompt(request));
  MMCPP_TRY(driver::CheckSources(request.media, request.options));

  Response response;
  MMCPP_ASSIGN(response.items, ProcessAll(family, request));
  std::vector<ItemPlan> plans;
  plans.reserve(response.items.size());
  for (const OutputItem& item : response.items) plans.push_back(item.plan);

  Stopwatch stopwatch;
  MMCPP_ASSIGN(const TokenLayout layout, family.Layout(request.input_ids, plans));
  MMCPP_ASSIGN(ExpandedPrompt prompt, ApplyLayout(request.input_ids, layout, plans.size(),
                                                  request.options.limits.max_tokens));
  response.input_ids = std::move(prompt.input_ids);
  response.offsets = std::move(prompt.offsets);
  response.layout_ms = stopwatch.Lap();
  MMCPP_ASSIGN(response.positions,
               family.ComputePositions(response.input_ids.size(), response.offsets, plans));
  response.positions_ms = stopwatch.Lap();
  return response;
}

}  // namespace

Result<Response> Process(const Family& family, const Request& request) {
  return CatchOutOfMemory([&] { return Run(family, request); });
}

}  // namespace mmcpp
