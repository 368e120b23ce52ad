// Row by row: a background is a value for each pixel.
#include "transforms/background.h"

#include <cstddef>
#include <string>
#include <vector>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

float PlainValue(BackgroundPattern pattern) {
  switch (pattern) {
    case BackgroundPattern::kWhite:
      return 255;
    case BackgroundPattern::kGray:
      return 128;
    default:
      return 0;
  }
}

void FillSquares(const Background& background, int y, std::vector<float>* values) {
  const int gray_parity = background.square_on_top_left ? 1 : 0;
  for (size_t x = 0; x < values->size(); ++x) {
    const int squares = y / background.square_size + static_cast<int>(x) / background.square_size;
    (*values)[x] = squares % 2 == gray_parity ? background.gray : background.white;
  }
}

void LayRowOver(const uint8_t* rgba, const std::vector<float>& below, uint8_t* rgb) {
  for (size_t x = 0; x < below.size(); ++x, rgba += 4, rgb += 3) {
    // Every product and the sum are rounded to float on their own; none is over 255.
    const float alpha = static_cast<float>(rgba[3]) / 255.0F;
    const float rest = (1.0F - alpha) * below[x];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(alpha * static_cast<float>(rgba[c]) + rest);
    }
  }
}

void DropAlpha(const uint8_t* rgba, int width, uint8_t* rgb) {
  for (int x = 0; x < width; ++x, rgba += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) rgb[c] = rgba[c];
  }
}

}  // namespace

Status LayOver(const ImageView& rgba, const Background& background, const ImageSpan& rgb,
               int first_row) {
  if (rgba.channels != 4 || rgb.height != rgba.height || rgb.width != rgba.width ||
      background.square_size <= 0) {
    return InvalidArgument(
        "background: " + std::to_string(rgba.height) + "x" + std::to_string(rgba.width) + " of " +
        std::to_string(rgba.channels) + " channels over " + std::to_string(rgb.height) + "x" +
        std::to_string(rgb.width) + ", squares of " + std::to_string(background.square_size));
  }
  std::vector<float> below(static_cast<size_t>(rgba.width), PlainValue(background.pattern));
  for (int y = 0; y < rgba.height; ++y) {
    if (background.pattern == BackgroundPattern::kNone) {
      DropAlpha(rgba.row(y), rgba.width, rgb.row(y));
      continue;
    }
    if (background.pattern == BackgroundPattern::kChessboard)
      FillSquares(background, first_row + y, &below);
    LayRowOver(rgba.row(y), below, rgb.row(y));
  }
  return Ok{};
}

}  // namespace mmcpp::transforms
