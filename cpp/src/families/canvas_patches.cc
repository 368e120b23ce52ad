// Pictures on a canvas. The canvas exists as a whole, because its picture starts anywhere in a
// patch.
#include "families/canvas_patches.h"

#include <algorithm>
#include <string>

#include "base/ensure.h"
#include "families/resize_patches.h"

namespace mmcpp::families {
namespace {

Status CheckPlacement(const Placement& placement) {
  const auto fits = [](int start, int size, int canvas) {
    return start >= 0 && size > 0 && size <= canvas && start <= canvas - size;
  };
  if (fits(placement.top, placement.picture.height, placement.canvas.height) &&
      fits(placement.left, placement.picture.width, placement.canvas.width)) {
    return Ok{};
  }
  return InvalidArgument("canvas: no picture of " + std::to_string(placement.picture.height) + "x" +
                         std::to_string(placement.picture.width) + " at " +
                         std::to_string(placement.top) + "," + std::to_string(placement.left) +
                         " fits on " + std::to_string(placement.canvas.height) + "x" +
                         std::to_string(placement.canvas.width));
}

void Fill(const std::array<uint8_t, 3>& color, Image* canvas) {
  const size_t row_bytes = canvas->row_bytes();
  uint8_t* first = canvas->row(0);
  for (size_t i = 0; i < row_bytes; ++i) first[i] = color[i % 3];
  for (int y = 1; y < canvas->height(); ++y) std::copy_n(first, row_bytes, canvas->row(y));
}

}  // namespace

Status ResizeToCanvasPatches(const ImageView& image, const Placement& placement,
                             Convention convention, const transforms::BlockPatches& layout,
                             const transforms::NormTable& table, TensorView out) {
  MMCPP_TRY(CheckPlacement(placement));
  const transforms::Size& size = placement.picture;
  if (size.height == placement.canvas.height && size.width == placement.canvas.width) {
    return ResizeToPatches(image, size.height, size.width, Filter::kBicubic, convention, layout,
                           table, out);
  }
  MMCPP_ASSIGN(Image canvas, Image::Allocate(placement.canvas.height, placement.canvas.width));
  Fill(placement.color, &canvas);
  uint8_t* corner = canvas.row(placement.top) + static_cast<size_t>(placement.left) * 3;
  MMCPP_TRY(ResizeInto(image, {corner, size.height, size.width, canvas.row_bytes()},
                       Filter::kBicubic, convention));
  return transforms::PatchifyBlocks(canvas, layout, table, out);
}

}  // namespace mmcpp::families
