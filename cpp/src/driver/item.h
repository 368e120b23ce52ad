// One item of a request, stage by stage, and what is checked of all items before the first stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "driver/stop.h"
#include "mmcpp/driver.h"

namespace mmcpp::driver {

/// No items, or too many.
Status CheckCount(size_t items, const RequestLimits& limits);
/// What can be refused of a call whatever its sources are: their number, and a dtype that features
/// do not have.
Status CheckCall(size_t items, const ProcessOptions& options);

/// Pixels that are none, bytes that are nowhere.
Status CheckSource(const MediaSource& source);

/// What can be refused of a request before any source is read: number and size of sources, pixels
/// that are none, a dtype that features do not have.
Status CheckSources(Span<const MediaSource> media, const ProcessOptions& options);

/// What a checked source counts against the request's limit.
uint64_t SourceBytes(const MediaSource& source);

/// OutputItem::content_hash of a source that has passed CheckSources, and the time it took.
struct SourceHash {
  uint64_t hash = 0;
  double ms = 0;
};
SourceHash HashSource(const MediaSource& source);

/// A source whose pixels are ready to be read.
struct LoadedItem {
  OutputItem item;
  std::unique_ptr<RowSource> rows;
};
Result<LoadedItem> LoadItem(const Family& family, const MediaSource& source,
                            const ProcessOptions& options);

/// The family's part: reads the rows, fills `feature` and everything of the item that depends on
/// the plan. Beside it the source is hashed, unless `known` is its hash.
Status RunFamily(const Family& family, const MediaSource& source, const SourceHash* known,
                 ItemPlan plan, TensorView feature, const ProcessOptions& options,
                 LoadedItem* loaded);

/// All stages; the item owns its feature. `known` is the source's hash, or null.
Result<OutputItem> ProcessItem(const Family& family, const MediaSource& source,
                               const SourceHash* known, const ProcessOptions& options);

/// Calls body(), a Result, on behalf of item `index`: an error is headed with "image INDEX: " and
/// carries the index, and running out of memory is an error like another. The end of the whole
/// request stays its own.
template <class Body>
auto ForItem(size_t index, const Body& body) -> decltype(body()) {
  auto result = CatchOutOfMemory([&]() -> decltype(body()) {
    auto inner = CatchOutOfMemory(body);
    if (inner.ok() || IsStop(inner.error())) return inner;
    return WithContext(std::move(inner).error(), "image " + std::to_string(index));
  });
  if (!result.ok() && !IsStop(result.error())) result.error().item = static_cast<int>(index);
  return result;
}

}  // namespace mmcpp::driver
