// Order of passes, blocks and bands of a resize. Which pass goes first decides the bits; everything
// else here only decides when they are computed.
#include "resample/resampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/ensure.h"
#include "simd/dispatch.h"

namespace mmcpp::resample {
namespace {

constexpr size_t kChannels = 3;
constexpr double kBlockBytes = 512 << 10;
constexpr size_t kGrainBytes = size_t{64} << 10;

Status Prepare(int in_size, int out_size, Filter filter, Convention convention,
               size_t (*packed_bytes)(const simd::ResampleAxis*),
               void (*pack)(const simd::ResampleAxis*, void*), PreparedAxis* axis) {
  axis->needed = in_size != out_size;
  if (!axis->needed) return Ok{};
  MMCPP_ASSIGN(axis->weights, MakeAxisWeights(in_size, out_size, filter, convention));
  if (packed_bytes == nullptr) return Ok{};
  const simd::ResampleAxis view = axis->weights.View();
  MMCPP_ASSIGN(axis->packed, Buffer::Allocate(packed_bytes(&view)));
  pack(&view, axis->packed.data());
  return Ok{};
}

// Pillow 13.0.0 (ImagingResample): the vertical pass goes first where it saves more than the
// horizontal one.
bool VerticalFirst(int in_height, int in_width, int out_height, int out_width) {
  const int64_t fewer_rows = int64_t{in_height} - out_height;
  const int64_t fewer_columns = int64_t{in_width} - out_width;
  return fewer_rows > 0 && fewer_rows > 2 * fewer_columns;
}

Status CheckFilter(Filter filter, Convention convention) {
  if (convention == Convention::kAtenU8 && (filter == Filter::kBox || filter == Filter::kHamming)) {
    return InvalidArgument("resize: aten_u8 has the filters bilinear, bicubic and lanczos only");
  }
  return Ok{};
}

Status CheckSizes(int in_height, int in_width, int out_height, int out_width) {
  if (in_height <= 0 || in_width <= 0) {
    return InvalidArgument("resize: empty image of " + std::to_string(in_height) + "x" +
                           std::to_string(in_width));
  }
  if (out_height <= 0 || out_width <= 0) {
    return InvalidArgument("resize: output size must be positive, got " +
                           std::to_string(out_height) + "x" + std::to_string(out_width));
  }
  const int widest = std::numeric_limits<int>::max() / static_cast<int>(kChannels);
  if (in_width > widest || out_width > widest) {
    return Error{ErrorCode::kLimitExceeded, "resize: rows of " +
                                                std::to_string(std::max(in_width, out_width)) +
                                                " pixels are more than 2^31 - 1 bytes"};
  }
  return Ok{};
}

}  // namespace

simd::ResampleAxis PreparedAxis::View() const {
  simd::ResampleAxis view = weights.View();
  view.packed = packed.data();
  return view;
}

Result<Resampler> Resampler::Make(const ImageView& image, int out_height, int out_width,
                                  Filter filter, Convention convention) {
  if (image.channels != static_cast<int>(kChannels)) {
    return InvalidArgument("resize: expected 3 channels, got " + std::to_string(image.channels));
  }
  return Make(image.height, image.width, out_height, out_width, filter, convention);
}

Result<Resampler> Resampler::Make(int in_height, int in_width, int out_height, int out_width,
                                  Filter filter, Convention convention) {
  MMCPP_TRY(CheckFilter(filter, convention));
  MMCPP_TRY(CheckSizes(in_height, in_width, out_height, out_width));
  Resampler r;
  MMCPP_ASSIGN(r.kernels_, simd::ActiveKernels());
  r.in_height_ = in_height;
  r.in_width_ = in_width;
  r.out_height_ = out_height;
  r.out_width_ = out_width;
  MMCPP_TRY(Prepare(in_width, out_width, filter, convention, r.kernels_->packed_horizontal_bytes,
                    r.kernels_->pack_horizontal, &r.horizontal_));
  MMCPP_TRY(Prepare(in_height, out_height, filter, convention, r.kernels_->packed_vertical_bytes,
                    r.kernels_->pack_vertical, &r.vertical_));
  r.vertical_first_ = convention == Convention::kPillow13 && r.horizontal_.needed &&
                      r.vertical_.needed &&
                      VerticalFirst(in_height, in_width, out_height, out_width);
  return r;
}

int Resampler::BlockWidth(int unit, int extra_rows) const {
  double rows = extra_rows;  // of output pixels' width
  if (horizontal_.needed && vertical_.needed) {
    rows += vertical_first_ ? simd::kResampleRows * static_cast<double>(in_width_) / out_width_
                            : vertical_.weights.max_count + simd::kResampleRows;
  }
  if (rows == 0) return out_width_;
  const double units = std::floor(kBlockBytes / (rows * kChannels * unit));
  return static_cast<int>(std::min<double>(std::max(units, 1.0) * unit, out_width_));
}

size_t Resampler::GrainRows() const {
  const size_t row_bytes = static_cast<size_t>(out_width_) * kChannels;
  size_t rows = std::max<size_t>(kGrainBytes / row_bytes, simd::kResampleRows);
  // A window spans at most 7 output rows' worth of input (lanczos), so 64 rows cost about 10 %.
  if (horizontal_.needed && vertical_.needed && !vertical_first_) rows = std::max<size_t>(rows, 64);
  return rows;
}

int Resampler::WindowRows() const {
  return vertical_.needed && !HorizontalFirst() ? vertical_.weights.max_count : 1;
}

int Resampler::ReadyEnd(int y, int in_rows) const {
  if (!vertical_.needed) return in_rows;
  const simd::ResampleAxis axis = vertical_.View();
  while (y < out_height_ && axis.first[y] + axis.count[y] <= in_rows) ++y;
  return y;
}

Result<BlockResampler> BlockResampler::Make(const Resampler& resampler, const InputRows& input,
                                            int x_begin, int x_end, int y_begin) {
  MMCPP_ASSIGN(auto block, Make(resampler, input, x_begin, x_end, y_begin, simd::kResampleRows));
  block.in_rows_ = input.image.height;
  return block;
}

Result<BlockResampler> BlockResampler::MakeForStrips(const Resampler& resampler,
                                                     const InputRows& input, int x_begin, int x_end,
                                                     int strip) {
  return Make(resampler, input, x_begin, x_end, 0, strip);
}

Result<BlockResampler> BlockResampler::Make(const Resampler& resampler, const InputRows& input,
                                            int x_begin, int x_end, int y_begin, int strip) {
  MMCPP_ENSURE(input.image.height == resampler.in_height_ &&
               input.image.width == resampler.in_width_);
  const bool both = resampler.horizontal_.needed && resampler.vertical_.needed;
  BlockResampler block(input);
  block.resampler_ = &resampler;
  block.y_ = y_begin;
  block.span_ = {x_begin, x_end, x_begin, x_end};
  if (resampler.horizontal_.needed) {
    block.horizontal_ = resampler.horizontal_.View();
    const int32_t* first = block.horizontal_.first;
    block.span_.in_begin = first[x_begin];
    block.span_.in_end = first[x_end - 1] + block.horizontal_.count[x_end - 1];
  }
  if (resampler.vertical_.needed) {
    block.vertical_ = resampler.vertical_.View();
    block.in_row_ = block.vertical_.first[y_begin];
    block.window_.resize(static_cast<size_t>(block.vertical_.max_count));
  }
  if (!both) return block;
  const int columns =
      resampler.vertical_first_ ? block.span_.in_end - block.span_.in_begin : x_end - x_begin;
  block.between_row_bytes_ = (static_cast<size_t>(columns) * kChannels + 63) / 64 * 64;
  block.between_rows_ = simd::kResampleRows;
  // A window's rows stay while the rows that complete it come in, a strip at a time.
  if (resampler.HorizontalFirst()) {
    block.between_rows_ = block.window_.size() + static_cast<size_t>(strip);
  }
  size_t bytes;
  if (!CheckedMul(block.between_rows_, block.between_row_bytes_, &bytes)) {
    return Error{ErrorCode::kOutOfMemory, "resize: rows between the passes overflow memory"};
  }
  MMCPP_ASSIGN(block.between_, Buffer::Allocate(bytes));
  return block;
}

void BlockResampler::Take(int in_end) {
  in_rows_ = in_end;
  if (resampler_->HorizontalFirst()) FillRing(in_end);
}

void BlockResampler::Next(int rows, uint8_t* dst, size_t dst_row_bytes) {
  const bool horizontal = resampler_->horizontal_.needed, vertical = resampler_->vertical_.needed;
  if (horizontal && vertical) {
    resampler_->vertical_first_ ? VerticalFirst(rows, dst, dst_row_bytes)
                                : HorizontalFirst(rows, dst, dst_row_bytes);
  } else if (horizontal) {
    HorizontalOnly(rows, dst, dst_row_bytes);
  } else {
    for (int row = 0; row < rows; ++row, dst += dst_row_bytes) {
      if (vertical) {
        VerticalFromInput(y_ + row, dst);
      } else {
        std::memcpy(dst, input_.row(y_ + row) + static_cast<size_t>(span_.in_begin) * kChannels,
                    static_cast<size_t>(span_.in_end - span_.in_begin) * kChannels);
      }
    }
  }
  y_ += rows;
}

void BlockResampler::VerticalFromInput(int y, uint8_t* dst) {
  const size_t offset = static_cast<size_t>(span_.in_begin) * kChannels;
  const int count = vertical_.count[y];
  for (int k = 0; k < count; ++k) {
    window_[static_cast<size_t>(k)] = input_.row(vertical_.first[y] + k) + offset;
  }
  resampler_->kernels_->resample_vertical_u8(
      &vertical_, y, static_cast<size_t>(span_.in_end - span_.in_begin) * kChannels, window_.data(),
      dst);
}

void BlockResampler::VerticalFirst(int rows, uint8_t* dst, size_t dst_row_bytes) {
  const uint8_t* src_rows[simd::kResampleRows];
  uint8_t* dst_rows[simd::kResampleRows];
  for (int begin = 0; begin < rows; begin += simd::kResampleRows) {
    const int n = std::min<int>(simd::kResampleRows, rows - begin);
    for (int i = 0; i < n; ++i) {
      uint8_t* row = BetweenRow(static_cast<size_t>(i));
      VerticalFromInput(y_ + begin + i, row);
      src_rows[i] = row;
      dst_rows[i] = dst + static_cast<size_t>(begin + i) * dst_row_bytes;
    }
    resampler_->kernels_->resample_horizontal_rgb8(&horizontal_, &span_, static_cast<size_t>(n),
                                                   src_rows, dst_rows);
  }
}

void BlockResampler::HorizontalOnly(int rows, uint8_t* dst, size_t dst_row_bytes) {
  const uint8_t* src_rows[simd::kResampleRows];
  uint8_t* dst_rows[simd::kResampleRows];
  const size_t offset = static_cast<size_t>(span_.in_begin) * kChannels;
  for (int begin = 0; begin < rows; begin += simd::kResampleRows) {
    const int n = std::min<int>(simd::kResampleRows, rows - begin);
    for (int i = 0; i < n; ++i) {
      src_rows[i] = input_.row(y_ + begin + i) + offset;
      dst_rows[i] = dst + static_cast<size_t>(begin + i) * dst_row_bytes;
    }
    resampler_->kernels_->resample_horizontal_rgb8(&horizontal_, &span_, static_cast<size_t>(n),
                                                   src_rows, dst_rows);
  }
}

// Brings the input rows before `in_end` through the horizontal pass into the ring, and as many more
// as make the kernel's favourite number.
void BlockResampler::FillRing(int in_end) {
  const uint8_t* src_rows[simd::kResampleRows];
  uint8_t* dst_rows[simd::kResampleRows];
  const size_t offset = static_cast<size_t>(span_.in_begin) * kChannels;
  while (in_row_ < in_end) {
    const int n = std::min<int>(simd::kResampleRows, in_rows_ - in_row_);
    for (int i = 0; i < n; ++i) {
      src_rows[i] = input_.row(in_row_ + i) + offset;
      dst_rows[i] = BetweenRow(static_cast<size_t>(in_row_ + i) % between_rows_);
    }
    resampler_->kernels_->resample_horizontal_rgb8(&horizontal_, &span_, static_cast<size_t>(n),
                                                   src_rows, dst_rows);
    in_row_ += n;
  }
}

void BlockResampler::HorizontalFirst(int rows, uint8_t* dst, size_t dst_row_bytes) {
  const size_t bytes = static_cast<size_t>(span_.out_end - span_.out_begin) * kChannels;
  for (int row = 0; row < rows; ++row, dst += dst_row_bytes) {
    const int y = y_ + row;
    const int first = vertical_.first[y], count = vertical_.count[y];
    in_row_ = std::max(in_row_, first);  // rows between two windows are nobody's
    FillRing(first + count);
    for (int k = 0; k < count; ++k) {
      window_[static_cast<size_t>(k)] = BetweenRow(static_cast<size_t>(first + k) % between_rows_);
    }
    resampler_->kernels_->resample_vertical_u8(&vertical_, y, bytes, window_.data(), dst);
  }
}

}  // namespace mmcpp::resample
