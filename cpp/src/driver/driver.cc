// A whole request: checks that cost nothing, then items through the executor, then the prompt.
#include "mmcpp/driver.h"

#include <cstdint>
#include <exception>
#include <new>
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

/// Of ids, or of what a tokenizer gave.
Status CheckIds(Span<const int64_t> input_ids, bool has_media, uint64_t limit) {
  if (input_ids.empty()) return InvalidArgument("multimodal request without input_ids");
  // A prompt never shrinks: an item takes one token and gives at least one.
  if (has_media && input_ids.size() > limit) {
    return Error{ErrorCode::kLimitExceeded,
                 "multimodal request has " + std::to_string(input_ids.size()) +
                     " input_ids, the limit is " + std::to_string(limit)};
  }
  return Ok{};
}

Status CheckPrompt(const Request& request) {
  if (!request.tokenizer) {
    if (!request.text.empty()) return InvalidArgument("prompt: a text without a tokenizer");
    return CheckIds(request.input_ids, !request.media.empty(), request.options.limits.max_tokens);
  }
  if (!request.input_ids.empty()) {
    return InvalidArgument("prompt: both input_ids and a tokenizer for a text");
  }
  return Ok{};
}

Result<std::vector<int64_t>> Tokenize(const Request& request) {
  if (request.text.size() > request.options.limits.max_total_bytes) {
    return LimitExceeded("prompt: a text of " + std::to_string(request.text.size()) +
                         " bytes, the limit is " +
                         std::to_string(request.options.limits.max_total_bytes));
  }
  MMCPP_TRY(driver::CheckStop(request.options, "tokenizer"));
  // The one callback that is not ours to write: whatever it throws ends the request alone.
  try {
    auto ids = request.tokenizer(request.text);
    if (!ids.ok()) return WithContext(std::move(ids).error(), "tokenizer");
    if (ids->empty()) return InvalidArgument("tokenizer: no ids");
    return ids;
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "tokenizer: out of memory"};
  } catch (const std::exception& error) {
    return InvalidArgument(std::string("tokenizer: ") + error.what());
  }
}

/// Items, and of each the first that equals it.
struct ProcessedItems {
  std::vector<OutputItem> items;
  std::vector<size_t> first;
};

/// An item that has no equals, since it is alone.
Result<ProcessedItems> ProcessOnlyItem(const Family& family, const Request& request) {
  MMCPP_TRY(driver::CheckStop(request.options, "hash"));
  MMCPP_ASSIGN(OutputItem item, driver::ForItem(0, [&] {
                 return driver::ProcessItem(family, request.media[0], nullptr, request.options);
               }));
  ProcessedItems processed;
  processed.items.push_back(std::move(item));
  processed.first.push_back(0);
  return processed;
}

/// Every item; equal ones are processed once. An equal of a failing item has a higher index, so the
/// lowest failing item stays the one that is reported.
Result<ProcessedItems> ProcessAll(const Family& family, const Request& request) {
  const Span<const MediaSource> media = request.media;
  if (media.size() == 1) return ProcessOnlyItem(family, request);
  MMCPP_ASSIGN(const std::vector<SourceHash> hashes,
               par::TryMap<SourceHash>(media.size(), [&](size_t i) -> Result<SourceHash> {
                 MMCPP_TRY(driver::CheckStop(request.options, "hash"));
                 return driver::HashSource(media[i]);
               }));
  std::vector<size_t> first = driver::FindDuplicates(media, hashes);
  MMCPP_ASSIGN(std::vector<OutputItem> items,
               par::TryMap<OutputItem>(first.size(), [&](size_t i) -> Result<OutputItem> {
                 if (first[i] != i) return OutputItem();
                 return driver::ForItem(i, [&] {
                   return driver::ProcessItem(family, media[i], &hashes[i], request.options);
                 });
               }));
  for (size_t i = 0; i < items.size(); ++i) {
    if (first[i] == i) continue;
    MMCPP_ASSIGN(items[i], driver::ForItem(i, [&] { return driver::CopyItem(items[first[i]]); }));
  }
  return ProcessedItems{std::move(items), std::move(first)};
}

uint64_t TensorBytes(const OutputItem& item) {
  uint64_t bytes = item.feature.byte_count();
  for (const NamedTensor& aux : item.aux) bytes += aux.tensor.byte_count();
  return bytes;
}

/// All but the tokens. `first` says which items are duplicates, as FindDuplicates does.
RequestCounters CountItems(Span<const MediaSource> media, const ProcessedItems& processed) {
  RequestCounters counters;
  counters.items = media.size();
  for (size_t i = 0; i < media.size(); ++i) {
    const OutputItem& item = processed.items[i];
    counters.bytes_in += driver::SourceBytes(media[i]);
    counters.bytes_out += TensorBytes(item);
    if (processed.first[i] != i) {
      ++counters.duplicates;
    } else {
      counters.pixels +=
          static_cast<uint64_t>(item.info.height) * static_cast<uint64_t>(item.info.width);
    }
  }
  return counters;
}

/// A plan is made without an item's number in the request, which may stand in the prompt: only the
/// layout, valid for these plans, says how many tokens there are.
void CountTokens(const TokenLayout& layout, std::vector<ItemPlan>* plans) {
  for (const Segment& segment : layout.segments) {
    const auto* media = std::get_if<MediaSegment>(&segment);
    if (media == nullptr) continue;
    const auto* repeat = std::get_if<RepeatPattern>(&media->pattern);
    (*plans)[media->item].tokens = repeat != nullptr
                                       ? repeat->count
                                       : std::get_if<ExplicitPattern>(&media->pattern)->ids.size();
  }
}

/// Expands the prompt by the items' plans; `to` is a Response or a PlannedRequest.
template <class Expanded>
Status ExpandPrompt(const Family& family, Span<const int64_t> ids, uint64_t max_tokens,
                    std::vector<ItemPlan>* plans, Expanded* to) {
  MMCPP_ASSIGN(const TokenLayout layout, family.Layout(ids, *plans));
  MMCPP_ASSIGN(ExpandedPrompt prompt, ApplyLayout(ids, layout, plans->size(), max_tokens));
  CountTokens(layout, plans);
  to->input_ids = std::move(prompt.input_ids);
  to->offsets = std::move(prompt.offsets);
  return Ok{};
}

/// Positions of an expanded prompt.
template <class Expanded>
Status Position(const Family& family, Span<const ItemPlan> plans, Expanded* to) {
  MMCPP_ASSIGN(to->positions, family.ComputePositions(to->input_ids, to->offsets, plans));
  return Ok{};
}

/// The prompt's half of a response whose items are there.
Status ExpandAndTime(const Family& family, Span<const int64_t> ids, const ProcessOptions& options,
                     Response* response) {
  std::vector<ItemPlan> plans;
  plans.reserve(response->items.size());
  for (const OutputItem& item : response->items) plans.push_back(item.plan);

  MMCPP_TRY(driver::CheckStop(options, "layout"));
  Stopwatch stopwatch;
  MMCPP_TRY(ExpandPrompt(family, ids, options.limits.max_tokens, &plans, response));
  for (size_t i = 0; i < plans.size(); ++i) response->items[i].plan.tokens = plans[i].tokens;
  response->layout_ms = stopwatch.Lap();
  MMCPP_TRY(driver::CheckStop(options, "positions"));
  MMCPP_TRY(Position(family, plans, response));
  response->positions_ms = stopwatch.Lap();
  return Ok{};
}

Result<Response> Run(const Family& family, const Request& request) {
  MMCPP_TRY(CheckPrompt(request));
  const ProcessOptions& options = request.options;
  MMCPP_TRY(driver::CheckSources(request.media, options));

  Response response;
  Span<const int64_t> ids = request.input_ids;
  std::vector<int64_t> tokenized;
  if (request.tokenizer) {
    Stopwatch stopwatch;
    MMCPP_ASSIGN(tokenized, Tokenize(request));
    MMCPP_TRY(CheckIds(tokenized, true, options.limits.max_tokens));
    response.tokenize_ms = stopwatch.Lap();
    ids = tokenized;
  }

  MMCPP_ASSIGN(ProcessedItems processed, ProcessAll(family, request));
  response.counters = CountItems(request.media, processed);
  response.items = std::move(processed.items);
  MMCPP_TRY(ExpandAndTime(family, ids, options, &response));
  response.counters.tokens_in = ids.size();
  response.counters.tokens_out = response.input_ids.size();
  return response;
}

Result<PlannedRequest> Plan(const Family& family, Span<const int64_t> input_ids,
                            Span<const PictureSize> sizes, const RequestLimits& limits) {
  MMCPP_TRY(CheckIds(input_ids, !sizes.empty(), limits.max_tokens));
  MMCPP_TRY(driver::CheckCount(sizes.size(), limits));
  PlannedRequest planned;
  planned.items.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    MMCPP_ASSIGN(ItemPlan plan, driver::ForItem(i, [&] {
                   return family.PlanItem(sizes[i].height, sizes[i].width);
                 }));
    planned.items.push_back(std::move(plan));
  }
  MMCPP_TRY(ExpandPrompt(family, input_ids, limits.max_tokens, &planned.items, &planned));
  MMCPP_TRY(Position(family, planned.items, &planned));
  return planned;
}

}  // namespace

Result<PlannedRequest> PlanRequest(const Family& family, Span<const int64_t> input_ids,
                                   Span<const PictureSize> sizes, const RequestLimits& limits) {
  return CatchOutOfMemory([&] { return Plan(family, input_ids, sizes, limits); });
}

Result<Response> Process(const Family& family, const Request& request) {
  const par::Call call;
  return CatchOutOfMemory([&] { return Run(family, request); });
}

}  // namespace mmcpp
