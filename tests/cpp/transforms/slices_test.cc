// Slices: values of transformers 5.24, and what is refused. tests/python/test_hf_minicpmv.py
// compares many more.
#include "transforms/slices.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace mmcpp::transforms {
namespace {

std::vector<int> Values(int height, int width, const SliceRule& rule) {
  const auto size = SlicePicture(height, width, rule);
  if (!size.ok()) return {};
  return {size->source.height, size->source.width, size->grid.rows,
          size->grid.columns,  size->slice.height, size->slice.width};
}

TEST(SlicePicture, WholePicturesAreEnlarged) {
  EXPECT_EQ(Values(448, 448, {448, 9, 56}), (std::vector<int>{448, 448, 0, 0, 0, 0}));
  EXPECT_EQ(Values(1, 1, {448, 9, 56}), (std::vector<int>{448, 448, 0, 0, 0, 0}));
  EXPECT_EQ(Values(1, 5, {448, 9, 56}), (std::vector<int>{224, 1008, 0, 0, 0, 0}));
  EXPECT_EQ(Values(900, 900, {448, 1, 56}), (std::vector<int>{448, 448, 0, 0, 0, 0}));
}

TEST(SlicePicture, TheGridOfTheClosestRatio) {
  EXPECT_EQ(Values(900, 900, {448, 9, 14}), (std::vector<int>{448, 448, 2, 2, 448, 448}));
  EXPECT_EQ(Values(600, 1200, {448, 9, 14}), (std::vector<int>{322, 630, 1, 3, 546, 364}));
  EXPECT_EQ(Values(1200, 600, {448, 9, 14}), (std::vector<int>{630, 322, 3, 1, 364, 546}));
}

TEST(SlicePicture, Refuses) {
  EXPECT_FALSE(SlicePicture(0, 5, {}).ok());
  EXPECT_FALSE(SlicePicture(5, 5, {0, 9, 14}).ok());
  EXPECT_FALSE(SlicePicture(5, 5, {448, 0, 14}).ok());
  EXPECT_FALSE(SlicePicture(5, 5, {448, 9, 0}).ok());
  EXPECT_FALSE(SlicePicture(5, 5, {448, 2000, 14}).ok());
  constexpr int kIntMax = std::numeric_limits<int>::max();
  EXPECT_EQ(Values(1, kIntMax, {448, 9, 14})[0], 14);
}

}  // namespace
}  // namespace mmcpp::transforms
