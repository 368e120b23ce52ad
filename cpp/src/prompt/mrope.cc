// M-RoPE positions: three position ids per token, in which a picture's tokens are laid out by time,
// row and column.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "mmcpp/prompt.h"

namespace mmcpp {
namespace {

/// An item's range and its grid after the merge. Checked: t * h * w is the range's length.
struct MergedItem {
  size_t first = 0;
  int64_t t = 0, h = 0, w = 0;
  float time_step = 1;
  int64_t advance = 0;  ///< of what follows

  /// Of step i. Steps of 1 are counted as such, beyond where float32 is exact.
  int64_t TimeOf(int64_t i) const {
    return time_step == 1 ? i : static_cast<int64_t>(static_cast<float>(i) * time_step);
  }
};

Status CheckTime(int64_t steps, float time_step) {
  constexpr float kMaxTime = 2147483648.0F;
  // Not a number fails both.
  if (time_step >= 0 && static_cast<float>(steps) * time_step <= kMaxTime) return Ok{};
  return InvalidArgument("mrope: a time step of " + std::to_string(time_step) + " for " +
                         std::to_string(steps) + " steps");
}

Result<MergedItem> Merge(const MropeItem& item, uint32_t merge_size, size_t previous_end,
                         size_t length) {
  const TokenRange& range = item.range;
  if (range.first < previous_end || range.last < range.first || range.last >= length) {
    return InvalidArgument("mrope: item range (" + std::to_string(range.first) + "," +
                           std::to_string(range.last) + ") out of order/bounds");
  }
  if (item.temporal_merge == 0) {
    return InvalidArgument("mrope: temporal_merge must be positive, got 0");
  }
  const uint64_t t = item.grid.t / item.temporal_merge;
  const uint64_t h = item.grid.h / merge_size;
  const uint64_t w = item.grid.w / merge_size;
  // t * h cannot overflow 64 bits; the whole product can.
  uint64_t tokens = 0;
  if (!CheckedMul(t * h, w, &tokens) || tokens != uint64_t{range.last} - range.first + 1) {
    return InvalidArgument("mrope: token span does not match grid");
  }
  MMCPP_TRY(CheckTime(static_cast<int64_t>(t), item.time_step));
  MergedItem merged;
  merged.first = range.first;
  merged.t = static_cast<int64_t>(t);
  merged.h = static_cast<int64_t>(h);
  merged.w = static_cast<int64_t>(w);
  merged.time_step = item.time_step;
  merged.advance = std::max(merged.h, merged.w);
  return merged;
}

/// Writes the three rows of [3, length] from left to right.
class PositionWriter {
 public:
  PositionWriter(int64_t* data, size_t length) : t_(data), h_(data + length), w_(h_ + length) {}

  void WriteTextUntil(size_t end) {
    if (at_ >= end) return;
    for (; at_ < end; ++at_, ++next_) t_[at_] = h_[at_] = w_[at_] = next_;
    end_ = std::max(end_, next_);
  }

  void WriteItem(const MergedItem& item) {
    for (int64_t t = 0; t < item.t; ++t) {
      const int64_t time = next_ + item.TimeOf(t);
      for (int64_t h = 0; h < item.h; ++h) {
        for (int64_t w = 0; w < item.w; ++w, ++at_) {
          t_[at_] = time;
          h_[at_] = next_ + h;
          w_[at_] = next_ + w;
        }
      }
    }
    end_ = std::max(end_, next_ + std::max({item.TimeOf(item.t - 1) + 1, item.h, item.w}));
    next_ += item.advance;
  }

  /// One more than the largest position written.
  int64_t end() const { return end_; }

 private:
  int64_t* t_;
  int64_t* h_;
  int64_t* w_;
  size_t at_ = 0;
  int64_t next_ = 0, end_ = 0;
};

Status CheckCall(size_t length, uint32_t merge_size) {
  if (merge_size == 0) return InvalidArgument("mrope: merge_size must be positive, got 0");
  if (length <= kMaxMropeTokens) return Ok{};
  return Error{ErrorCode::kLimitExceeded, "mrope: " + std::to_string(length) +
                                              " tokens, the limit is " +
                                              std::to_string(kMaxMropeTokens)};
}

Result<std::vector<MergedItem>> MergeAll(size_t length, Span<const MropeItem> items,
                                         uint32_t merge_size) {
  std::vector<MergedItem> merged;
  merged.reserve(items.size());
  size_t previous_end = 0;
  for (const MropeItem& item : items) {
    MMCPP_ASSIGN(const MergedItem next, Merge(item, merge_size, previous_end, length));
    merged.push_back(next);
    previous_end = size_t{item.range.last} + 1;
  }
  return merged;
}

Result<MRope> Write(size_t length, const std::vector<MergedItem>& items) {
  MRope result;
  MMCPP_ASSIGN(result.position_ids,
               Tensor::Allocate(DType::kI64, {3, static_cast<int64_t>(length)}));
  PositionWriter writer(result.position_ids.As<int64_t>().data(), length);
  for (const MergedItem& item : items) {
    writer.WriteTextUntil(item.first);
    writer.WriteItem(item);
  }
  writer.WriteTextUntil(length);
  result.delta = writer.end() - static_cast<int64_t>(length);
  return result;
}

Result<MRope> Compute(size_t length, Span<const TokenRange> offsets, Span<const GridThw> grids,
                      uint32_t merge_size) {
  MMCPP_TRY(CheckCall(length, merge_size));
  if (offsets.size() != grids.size()) {
    return InvalidArgument("mrope: " + std::to_string(offsets.size()) + " range(s) but " +
                           std::to_string(grids.size()) + " grid(s)");
  }
  std::vector<MropeItem> items;
  items.reserve(offsets.size());
  for (size_t i = 0; i < offsets.size(); ++i) items.push_back({offsets[i], grids[i]});
  MMCPP_ASSIGN(std::vector<MergedItem> merged, MergeAll(length, items, merge_size));
  for (MergedItem& item : merged) item.advance = std::max(item.advance, item.t);
  return Write(length, merged);
}

}  // namespace

Result<MRope> MropePositions(size_t length, Span<const TokenRange> offsets,
                             Span<const GridThw> grids, uint32_t merge_size) {
  return CatchOutOfMemory([&] { return Compute(length, offsets, grids, merge_size); });
}

Result<MRope> VideoMropePositions(size_t length, Span<const MropeItem> items, uint32_t merge_size) {
  return CatchOutOfMemory([&]() -> Result<MRope> {
    MMCPP_TRY(CheckCall(length, merge_size));
    MMCPP_ASSIGN(const std::vector<MergedItem> merged, MergeAll(length, items, merge_size));
    return Write(length, merged);
  });
}

}  // namespace mmcpp
