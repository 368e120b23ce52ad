// Where a row of a canvas is the picture's, and where it has the canvas's colour.
#include "resample/canvas.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/ensure.h"

namespace mmcpp::resample {

bool Within(const Window& window, int height, int width) {
  const auto within = [](int start, int size, int whole) {
    return start >= 0 && size > 0 && size <= whole && start <= whole - size;
  };
  return within(window.y, window.height, height) && within(window.x, window.width, width);
}

Status CheckCanvas(const Canvas& canvas) {
  const Window& picture = canvas.picture;
  if (Within(picture, canvas.height, canvas.width)) return Ok{};
  return InvalidArgument("canvas: no picture of " + std::to_string(picture.height) + "x" +
                         std::to_string(picture.width) + " at " + std::to_string(picture.y) + "," +
                         std::to_string(picture.x) + " fits on " + std::to_string(canvas.height) +
                         "x" + std::to_string(canvas.width));
}

Result<CanvasBlock> CanvasBlock::Make(const Resampler& resampler, const Canvas& canvas,
                                      const InputRows& input, int x_begin, int x_end, int y_begin) {
  CanvasBlock block(canvas, x_begin, x_end, y_begin);
  const auto [begin, end] = block.PictureColumns();
  const int y = std::max(y_begin - canvas.picture.y, 0);
  if (begin < end && y < canvas.picture.height) {
    MMCPP_ASSIGN(block.block_, BlockResampler::Make(resampler, input, begin, end, y));
  }
  return block;
}

Result<CanvasBlock> CanvasBlock::MakeForStrips(const Resampler& resampler, const Canvas& canvas,
                                               const InputRows& input, int x_begin, int x_end,
                                               int strip) {
  CanvasBlock block(canvas, x_begin, x_end, 0);
  const auto [begin, end] = block.PictureColumns();
  if (begin < end) {
    MMCPP_ASSIGN(block.block_, BlockResampler::MakeForStrips(resampler, input, begin, end, strip));
  }
  return block;
}

std::pair<int, int> CanvasBlock::PictureColumns() const {
  const Window& picture = canvas_.picture;
  return {std::max(x_begin_ - picture.x, 0), std::min(x_end_ - picture.x, picture.width)};
}

void CanvasBlock::Fill(int x, int x_end, uint8_t* row) const {
  for (; x < x_end; ++x) std::memcpy(row + static_cast<size_t>(x) * 3, canvas_.color.data(), 3);
}

void CanvasBlock::Next(int rows, uint8_t* dst, size_t dst_row_bytes) {
  const int top = std::clamp(canvas_.picture.y - y_, 0, rows);
  const int bottom =
      block_ ? std::clamp(canvas_.picture.y + canvas_.picture.height - y_, top, rows) : top;
  const auto [begin, end] = PictureColumns();
  const int left = begin + canvas_.picture.x - x_begin_, right = end + canvas_.picture.x - x_begin_;
  for (int row = 0; row < rows; ++row) {
    uint8_t* out = dst + static_cast<size_t>(row) * dst_row_bytes;
    const bool of_picture = row >= top && row < bottom;
    Fill(0, of_picture ? left : columns(), out);
    if (of_picture) Fill(right, columns(), out);
  }
  if (top < bottom) {
    block_->Next(bottom - top,
                 dst + static_cast<size_t>(top) * dst_row_bytes + static_cast<size_t>(left) * 3,
                 dst_row_bytes);
  }
  y_ += rows;
}

}  // namespace mmcpp::resample
