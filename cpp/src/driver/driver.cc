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

Status CheckPrompt(Span<const int64_t> input_ids, bool has_media, uint64_t limit) {
  if (input_ids.empty()) return InvalidArgument("multimodal request without input_ids");
  // A prompt never shrinks: an item takes one token and gives at least one.
  if (has_media && input_ids.size() > limit) {
    return Error{ErrorCode::kLimitExceeded,
                 "multimodal request has " + std::to_string(input_ids.size()) +
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
  MMCPP_TRY(
      CheckPrompt(request.input_ids, !request.media.empty(), request.options.limits.max_tokens));
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

Result<PlannedRequest> Plan(const Family& family, Span<const int64_t> input_ids,
                            Span<const PictureSize> sizes, const RequestLimits& limits) {
  MMCPP_TRY(CheckPrompt(input_ids, !sizes.empty(), limits.max_tokens));
  MMCPP_TRY(driver::CheckCount(sizes.size(), limits));
  PlannedRequest planned;
  planned.items.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    MMCPP_ASSIGN(ItemPlan plan, driver::ForItem(i, [&] {
                   return family.PlanItem(sizes[i].height, sizes[i].width);
                 }));
    planned.items.push_back(std::move(plan));
  }
  MMCPP_ASSIGN(const TokenLayout layout, family.Layout(input_ids, planned.items));
  MMCPP_ASSIGN(ExpandedPrompt prompt,
               ApplyLayout(input_ids, layout, planned.items.size(), limits.max_tokens));
  planned.input_ids = std::move(prompt.input_ids);
  planned.offsets = std::move(prompt.offsets);
  MMCPP_ASSIGN(planned.positions,
               family.ComputePositions(planned.input_ids.size(), planned.offsets, planned.items));
  return planned;
}

}  // namespace

Result<PlannedRequest> PlanRequest(const Family& family, Span<const int64_t> input_ids,
                                   Span<const PictureSize> sizes, const RequestLimits& limits) {
  return CatchOutOfMemory([&] { return Plan(family, input_ids, sizes, limits); });
}

Result<Response> Process(const Family& family, const Request& request) {
  return CatchOutOfMemory([&] { return Run(family, request); });
}

}  // namespace mmcpp
