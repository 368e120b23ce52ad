// Any layout over any prompt: refused, or complete, within its limit and with offsets inside.
#include <cstdlib>
#include <utility>
#include <vector>

#include "byte_reader.h"
#include "mmcpp/prompt.h"

namespace mmcpp::fuzz {
namespace {

constexpr uint64_t kMaxTokens = 4096;

void Require(bool condition) {
  if (!condition) std::abort();
}

Segment ReadSegment(ByteReader* in) {
  switch (in->Below(3)) {
    case 0:
      return TextRange{static_cast<size_t>(in->Number()), static_cast<size_t>(in->Number())};
    case 1:
      return MediaSegment{static_cast<size_t>(in->Number()), RepeatPattern{-1, in->Number()}};
    default: {
      ExplicitPattern pattern;
      pattern.ids.resize(in->Below(8), -2);
      pattern.content_begin = static_cast<size_t>(in->Number());
      pattern.content_end = static_cast<size_t>(in->Number());
      return MediaSegment{static_cast<size_t>(in->Number()), std::move(pattern)};
    }
  }
}

void CheckLayout(ByteReader* in) {
  std::vector<int64_t> ids(in->Below(24));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
  const size_t items = in->Below(6);
  TokenLayout layout;
  while (!in->empty() && layout.segments.size() < 64) layout.segments.push_back(ReadSegment(in));
  const auto prompt = ApplyLayout(ids, layout, items, kMaxTokens);
  if (!prompt.ok()) {
    Require(prompt.error().code == ErrorCode::kInvalidArgument ||
            prompt.error().code == ErrorCode::kLimitExceeded);
    return;
  }
  Require(prompt->input_ids.size() <= kMaxTokens);
  Require(prompt->offsets.size() == items);
  for (const TokenRange& range : prompt->offsets) {
    Require(range.first <= range.last && range.last < prompt->input_ids.size());
    for (uint32_t i = range.first; i <= range.last; ++i) Require(prompt->input_ids[i] < 0);
  }
  // What is not an item's is the prompt's, in order; each item took one source token.
  size_t texts = 0;
  int64_t last = -1;
  for (int64_t id : prompt->input_ids) {
    if (id < 0) continue;
    Require(id > last);
    last = id;
    ++texts;
  }
  Require(texts + items == ids.size());
}

void CheckMrope(ByteReader* in) {
  const auto length = static_cast<size_t>(in->Below(2) == 0 ? in->Number() : in->Below(64));
  const auto merge = static_cast<uint32_t>(in->Number());
  std::vector<TokenRange> ranges;
  std::vector<GridThw> grids;
  while (!in->empty() && ranges.size() < 8) {
    ranges.push_back({static_cast<uint32_t>(in->Number()), static_cast<uint32_t>(in->Number())});
    grids.push_back({static_cast<uint32_t>(in->Number()), static_cast<uint32_t>(in->Number()),
                     static_cast<uint32_t>(in->Number())});
  }
  if (length > 100'000 && length <= kMaxMropeTokens) return;  // right, but slow
  const auto mrope = MropePositions(length, ranges, grids, merge);
  if (!mrope.ok()) return;
  for (int64_t position : mrope->position_ids.As<int64_t>()) {
    Require(position >= 0 && position < static_cast<int64_t>(length));
  }
  Require(mrope->delta <= 0);
}

}  // namespace
}  // namespace mmcpp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mmcpp::fuzz::ByteReader in(data, size);
  if (in.Below(2) == 0) {
    mmcpp::fuzz::CheckLayout(&in);
  } else {
    mmcpp::fuzz::CheckMrope(&in);
  }
  return 0;
}
