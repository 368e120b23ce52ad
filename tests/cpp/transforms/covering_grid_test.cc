// transforms/covering_grid.cc: values of transformers 5.24, and what is refused.
// tests/python/test_hf_ovis2.py compares many more.
#include "transforms/covering_grid.h"

#include <gtest/gtest.h>

#include <utility>

namespace mmcpp::transforms {
namespace {

TEST(CoveringGrid, EqualsTransformers) {
  const auto grid = [](int height, int width, int most) {
    const auto found = CoveringGrid(height, width, 448, most);
    return found.ok() ? std::make_pair(found->rows, found->columns) : std::make_pair(0, 0);
  };
  EXPECT_EQ(grid(448, 448, 9), std::make_pair(1, 1));
  EXPECT_EQ(grid(500, 1200, 9), std::make_pair(3, 2));  // as it is read there
  EXPECT_EQ(grid(1200, 500, 9), std::make_pair(2, 3));
  EXPECT_EQ(grid(3000, 100, 9), std::make_pair(1, 7));
  EXPECT_EQ(grid(2000, 2100, 6), std::make_pair(3, 2));  // none covers enough
  EXPECT_EQ(grid(1, 5, 9), std::make_pair(1, 1));
  EXPECT_EQ(grid(0, 5, 9), std::make_pair(0, 0));
  EXPECT_FALSE(CoveringGrid(5, 5, 0, 9).ok());
  EXPECT_FALSE(CoveringGrid(5, 5, 448, 0).ok());
  EXPECT_FALSE(CoveringGrid(5, 5, 448, kMaxGridTiles + 1).ok());
}

}  // namespace
}  // namespace mmcpp::transforms
