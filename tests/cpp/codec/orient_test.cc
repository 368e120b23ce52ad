#include "codec/orient.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace mmcpp::codec {
namespace {

/// A picture whose every pixel says where it was.
Image Marked(int height, int width, int channels) {
  Image image = Image::Allocate(height, width, channels).value();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      uint8_t* pixel = image.row(y) + channels * x;
      pixel[channels - 1] = 7;
      pixel[0] = static_cast<uint8_t>(y);
      pixel[1] = static_cast<uint8_t>(x);
      pixel[2] = static_cast<uint8_t>((y >> 8) * 16 + (x >> 8));
    }
  }
  return image;
}

// Where the pixel at (y, x) of the turned picture comes from: EXIF 2.3, table of tag 0x0112.
std::pair<int, int> Source(int orientation, int y, int x, int height, int width) {
  switch (orientation) {
    case 2:
      return {y, width - 1 - x};
    case 3:
      return {height - 1 - y, width - 1 - x};
    case 4:
      return {height - 1 - y, x};
    case 5:
      return {x, y};
    case 6:
      return {height - 1 - x, y};
    case 7:
      return {height - 1 - x, width - 1 - y};
    case 8:
      return {x, width - 1 - y};
    default:
      return {y, x};
  }
}

void CheckPlaces(int channels) {
  constexpr std::array<std::pair<int, int>, 8> kSizes = {
      {{1, 1}, {1, 9}, {9, 1}, {2, 3}, {31, 33}, {32, 64}, {70, 45}, {300, 7}}};
  for (const auto& [height, width] : kSizes) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const Image turned = ApplyOrientation(Marked(height, width, channels), orientation).value();
      const bool swapped = orientation >= 5;
      ASSERT_EQ(turned.height(), swapped ? width : height);
      ASSERT_EQ(turned.width(), swapped ? height : width);
      for (int y = 0; y < turned.height(); ++y) {
        for (int x = 0; x < turned.width(); ++x) {
          const auto [from_y, from_x] = Source(orientation, y, x, height, width);
          const uint8_t* pixel = turned.row(y) + channels * x;
          ASSERT_EQ(pixel[0], static_cast<uint8_t>(from_y)) << orientation;
          ASSERT_EQ(pixel[1], static_cast<uint8_t>(from_x)) << orientation;
          ASSERT_EQ(pixel[2], (from_y >> 8) * 16 + (from_x >> 8)) << orientation;
          ASSERT_TRUE(channels == 3 || pixel[3] == 7);
        }
      }
    }
  }
}

TEST(ApplyOrientation, MovesEveryPixelToItsPlace) { CheckPlaces(3); }
TEST(ApplyOrientation, MovesAlphaAlong) { CheckPlaces(4); }

}  // namespace
}  // namespace mmcpp::codec
