// Grids that transformers 5.24 chooses; tests/python/test_hf_internvl.py compares thousands.
#include "transforms/tile_grids.h"

#include <gtest/gtest.h>

namespace mmcpp::transforms {
namespace {

TEST(ClosestRatioGrid, EqualsTransformers) {
  const struct {
    int height, width, min_tiles, max_tiles, rows, columns;
  } cases[] = {
      {480, 640, 1, 12, 3, 4},   {100, 100, 1, 12, 1, 1}, {900, 900, 1, 12, 2, 2},
      {2000, 2000, 1, 12, 3, 3},  // while it has more than half of the grid's pixels
      {1, 60, 1, 12, 1, 12},     {60, 1, 1, 6, 6, 1},     {300, 200, 2, 6, 3, 2},
  };
  for (const auto& c : cases) {
    const auto grid = ClosestRatioGrid(c.height, c.width, {448, 448}, c.min_tiles, c.max_tiles);
    ASSERT_TRUE(grid.ok());
    EXPECT_EQ(grid->rows, c.rows) << c.height << "x" << c.width;
    EXPECT_EQ(grid->columns, c.columns) << c.height << "x" << c.width;
  }
}

TEST(ClosestRatioGrid, BoundsThatCannotBeAreRefused) {
  EXPECT_FALSE(ClosestRatioGrid(0, 5, {448, 448}, 1, 12).ok());
  EXPECT_FALSE(ClosestRatioGrid(5, 5, {0, 448}, 1, 12).ok());
  EXPECT_FALSE(ClosestRatioGrid(5, 5, {448, 448}, 0, 12).ok());
  EXPECT_FALSE(ClosestRatioGrid(5, 5, {448, 448}, 3, 2).ok());
  EXPECT_FALSE(ClosestRatioGrid(5, 5, {448, 448}, 1, kMaxGridTiles + 1).ok());
}

}  // namespace
}  // namespace mmcpp::transforms
