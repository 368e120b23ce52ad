// XD-RoPE positions: of every axis the token's place, but inside a picture's rows column, row and
// index of the picture on the last three.
#include <algorithm>
#include <string>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "mmcpp/prompt.h"

namespace mmcpp {
namespace {

constexpr uint32_t kPictureAxes = 3;

/// Rows of a picture after the merge, and where they begin in the prompt.
struct Rows {
  size_t first = 0;
  int64_t count = 0, tokens = 0;
};

Result<Rows> RowsOf(const TokenRange& range, const GridThw& grid, uint32_t merge_size,
                    size_t previous_end, size_t length) {
  if (range.first < previous_end || range.last < range.first || range.last >= length) {
    return InvalidArgument("xdrope: item range (" + std::to_string(range.first) + "," +
                           std::to_string(range.last) + ") out of order/bounds");
  }
  const uint64_t count = grid.h / merge_size;
  const uint64_t tokens = uint64_t{grid.w / merge_size} + 1;
  const uint64_t span = uint64_t{range.last} - range.first + 1;
  const uint64_t inside = count * tokens;  // both below 2^33, and so the product below 2^66:
  const bool fits = count <= span && tokens <= span && (span == inside || span == inside + 2);
  if (grid.t != 1 || !fits) return InvalidArgument("xdrope: token span does not match grid");
  const size_t first = range.first + (span == inside ? 0 : 1);
  return Rows{first, static_cast<int64_t>(count), static_cast<int64_t>(tokens)};
}

Result<MRope> Compute(size_t length, Span<const TokenRange> offsets, Span<const GridThw> grids,
                      uint32_t merge_size, uint32_t axes) {
  if (merge_size == 0) return InvalidArgument("xdrope: merge_size must be positive, got 0");
  if (axes < kPictureAxes || axes > kMaxXdropeAxes) {
    return InvalidArgument("xdrope: " + std::to_string(axes) + " axes, 3 to " +
                           std::to_string(kMaxXdropeAxes) + " there may be");
  }
  if (offsets.size() != grids.size()) {
    return InvalidArgument("xdrope: " + std::to_string(offsets.size()) + " range(s) but " +
                           std::to_string(grids.size()) + " grid(s)");
  }
  if (length > kMaxMropeTokens) {
    return Error{ErrorCode::kLimitExceeded, "xdrope: " + std::to_string(length) +
                                                " tokens, the limit is " +
                                                std::to_string(kMaxMropeTokens)};
  }
  MRope result;
  MMCPP_ASSIGN(result.position_ids,
               Tensor::Allocate(DType::kI64, {int64_t{axes}, static_cast<int64_t>(length)}));
  const Span<int64_t> ids = result.position_ids.As<int64_t>();
  for (uint32_t axis = 0; axis < axes; ++axis) {
    for (size_t i = 0; i < length; ++i) ids[axis * length + i] = static_cast<int64_t>(i);
  }
  int64_t* const column = ids.data() + (axes - kPictureAxes) * length;
  int64_t* const row = column + length;
  int64_t* const picture = row + length;
  size_t previous_end = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    MMCPP_ASSIGN(const Rows rows, RowsOf(offsets[i], grids[i], merge_size, previous_end, length));
    previous_end = size_t{offsets[i].last} + 1;
    size_t at = rows.first;
    for (int64_t y = 0; y < rows.count; ++y) {
      for (int64_t x = 0; x < rows.tokens; ++x, ++at) {
        column[at] = x;
        row[at] = y;
        picture[at] = static_cast<int64_t>(i);
      }
    }
  }
  const auto largest = std::max_element(ids.begin(), ids.end());
  result.delta = (length == 0 ? 0 : *largest + 1) - static_cast<int64_t>(length);
  return result;
}

}  // namespace

Result<MRope> XdropePositions(size_t length, Span<const TokenRange> offsets,
                              Span<const GridThw> grids, uint32_t merge_size, uint32_t axes) {
  return CatchOutOfMemory([&] { return Compute(length, offsets, grids, merge_size, axes); });
}

}  // namespace mmcpp
