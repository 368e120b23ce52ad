// hash/pixel_hash.cc: the hash of the bytes that its contract spells out, whatever the row padding.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "mmcpp/hash.h"

namespace mmcpp {
namespace {

TEST(PixelHash, IsTheHashOfHeaderAndRows) {
  const int height = 3, width = 300;
  const size_t row = 900, stride = 907;
  std::vector<uint8_t> padded(height * stride, 0xee);
  std::vector<uint8_t> text = {'r', 'g', 'b', '8', 3, 0, 0, 0, 300 & 255, 300 >> 8, 0, 0};
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < row; ++x) {
      const auto value = static_cast<uint8_t>(y * 31 + x * 7);
      padded[y * stride + x] = value;
      text.push_back(value);
    }
  }
  const uint64_t expected = ContentHash(text);
  EXPECT_EQ(PixelHash({padded.data(), height, width, stride}), expected);
  EXPECT_EQ(PixelHash({text.data() + 12, height, width, row}), expected);
  EXPECT_NE(PixelHash({text.data() + 12, width, height, 9}), expected) << "the size is part of it";
}

TEST(PixelHash, OfFourChannels) {
  const std::vector<uint8_t> text = {'r', 'g', 'b', 'a', 1, 0, 0, 0, 3, 0,  0,  0,
                                     1,   2,   3,   4,   5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(PixelHash({text.data() + 12, 1, 3, 12, 4}), ContentHash(text));
  EXPECT_NE(PixelHash({text.data() + 12, 1, 4, 12}), ContentHash(text));
}

}  // namespace
}  // namespace mmcpp
