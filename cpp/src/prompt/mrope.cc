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
};

Result<MergedItem> Merge(const TokenRange& range, const GridThw& grid, uint32_t merge_size,
                         size_t previous_end, size_t length) {
  if (range.first < previous_end || range.last < range.first || range.last >= length) {
    return InvalidArgument("mrope: item range (" + std::to_string(range.first) + "," +
                           std::to_string(range.last) + ") out of order/bounds");
  }
  const uint64_t h = grid.h / merge_size;
  const uint64_t w = grid.w / merge_size;
  // t * h cannot overflow 64 bits; the whole product can.
  uint64_t tokens = 0;
  if (!CheckedMul(uint64_t{grid.t} * h, w, &tokens) ||
      tokens != uint64_t{range.last} - range.first + 1) {
    return InvalidArgument("mrope: token span does not match grid");
  }
  return MergedItem{range.first, grid.t, static_cast<int64_t>(h), static_cast<int64_t>(w)};
}

/// Writes the three rows of [3, length] from left to right.
class PositionWriter {
 public:
  PositionWriter(int64_t* data, size_t length) : t_(data), h_(data + length), w_(h_ + length) {}

  void WriteTextUntil(size_t end) {
    for (; at_ < end; ++at_, ++next_) t_[at_] = h_[at_] = w_[at_] = next_;
  }

  void WriteItem(const MergedItem& item) {
    for (int64_t t = 0; t < item.t; ++t) {
      for (int64_t h = 0; h < item.h; ++h) {
        for (int64_t w = 0; w < item.w; ++w, ++at_) {
          t_[at_] = next_ + t;
          h_[at_] = next_ + h;
          w_[at_] = next_ + w;
        }
      }
    }
    next_ += std::max({item.t, item.h, item.w});
  }

  /// One more than the largest position written.
  int64_t next() const { return next_; }

 private:
  int64_t* t_;
  int64_t* h_;
  int64_t* w_;
  size_t at_ = 0;
  int64_t next_ = 0;
};

Result<MRope> Compute(size_t length, Span<const TokenRange> offsets, Span<const GridThw> grids,
                      uint32_t merge_size) {
  if (merge_size == 0) return InvalidArgument("mrope: merge_size must be positive, got 0");
  if (offsets.size() != grids.size()) {
    return InvalidArgument("mrope: " + std::to_string(offsets.size()) + " range(s) but " +
                           std::to_string(grids.size()) + " grid(s)");
  }
  if (length > kMaxMropeTokens) {
    return Error{ErrorCode::kLimitExceeded, "mrope: " + std::to_string(length) +
                                                " tokens, the limit is " +
                                                std::to_string(kMaxMropeTokens)};
  }
  std::vector<MergedItem> items;
  items.reserve(offsets.size());
  size_t previous_end = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    MMCPP_ASSIGN(const MergedItem item,
                 Merge(offsets[i], grids[i], merge_size, previous_end, length));
    items.push_back(item);
    previous_end = size_t{offsets[i].last} + 1;
  }

  MRope result;
  MMCPP_ASSIGN(result.position_ids,
               Tensor::Allocate(DType::kI64, {3, static_cast<int64_t>(length)}));
  PositionWriter writer(result.position_ids.As<int64_t>().data(), length);
  for (const MergedItem& item : items) {
    writer.WriteTextUntil(item.first);
    writer.WriteItem(item);
  }
  writer.WriteTextUntil(length);
  result.delta = writer.next() - static_cast<int64_t>(length);
  return result;
}

}  // namespace

Result<MRope> MropePositions(size_t length, Span<const TokenRange> offsets,
                             Span<const GridThw> grids, uint32_t merge_size) {
  return CatchOutOfMemory([&] { return Compute(length, offsets, grids, merge_size); });
}

}  // namespace mmcpp
