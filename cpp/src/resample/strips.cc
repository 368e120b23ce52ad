// How many rows a strip has and how many strips are kept.
#include "resample/strips.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/checked.h"
#include "base/ensure.h"
#include "simd/kernels.h"

namespace mmcpp::resample {
namespace {

constexpr size_t kStripBytes = size_t{256} << 10;

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Result<Strips> Strips::Make(const Resampler& resampler, RowSource* rows) {
  const auto row_bytes = [](int width) { return (static_cast<size_t>(width) * 3 + 63) / 64 * 64; };
  const int height = rows->height();
  Strips strips;
  strips.rows_ = rows;
  // Rows between the passes are kept for a strip, too.
  const size_t wider = row_bytes(std::max(rows->width(), resampler.out_width()));
  strips.strip_ = static_cast<int>(std::max<size_t>(kStripBytes / wider / simd::kResampleRows, 1) *
                                   simd::kResampleRows);
  const int64_t kept = RoundUp(resampler.WindowRows(), strips.strip_) + strips.strip_;
  strips.kept_ = static_cast<int>(std::min(kept, RoundUp(height, strips.strip_)));
  size_t bytes;
  if (!CheckedMul(row_bytes(rows->width()), static_cast<size_t>(strips.kept_), &bytes)) {
    return Error{ErrorCode::kOutOfMemory, "resize: input rows overflow memory"};
  }
  MMCPP_ASSIGN(strips.memory_, Buffer::Allocate(bytes));
  strips.view_ = {strips.memory_.data(), height, rows->width(), row_bytes(rows->width())};
  return strips;
}

Result<int> Strips::Read() {
  const int n = std::min(strip_, view_.height - read_);
  uint8_t* slot = memory_.data() + static_cast<size_t>(read_ % kept_) * view_.row_bytes;
  MMCPP_TRY(rows_->Read(n, slot, view_.row_bytes));
  return read_ += n;
}

}  // namespace mmcpp::resample
