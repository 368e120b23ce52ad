// Grids that transformers 5.24 chooses; tests/python/test_hf_internvl.py compares thousands.
#include "transforms/tile_grids.h"

#include <gtest/gtest.h>

#include <utility>

namespace mmcpp::transforms {
namespace {

TEST(ClosestRatioGrid, EqualsTransformers) {
  const struct {
    int height, width, min_tiles, max_tiles, rows, columns;
  } cases[] = {
      {480, 640, 1, 12, 3, 4},   {100, 100, 1, 12, 1, 1},  {900, 900, 1, 12, 2, 2},
      {2000, 2000, 1, 12, 3, 3},  // while it has more than half of the grid's pixels
      {1, 60, 1, 12, 1, 12},     {60, 1, 1, 6, 6, 1},      {300, 200, 2, 6, 3, 2},
      {633, 633, 1, 12, 1, 1},   {634, 634, 1, 12, 2, 2},  {950, 950, 1, 12, 2, 2},
      {951, 951, 1, 12, 3, 3},   {634, 1266, 1, 12, 1, 2}, {634, 1268, 1, 12, 2, 4},
      {300, 2000, 3, 2, 1, 1},  // bounds without a grid between them
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
  EXPECT_FALSE(ClosestRatioGrid(5, 5, {448, 448}, 1, kMaxGridTiles + 1).ok());
}

// Values of transformers 5.24; tests/python/test_hf_llava_next.py compares thousands.
TEST(BestResolution, EqualsTransformers) {
  const std::vector<Size> list = {{336, 672}, {672, 336}, {672, 672}, {1008, 336}, {336, 1008}};
  const auto best = [&](int height, int width) {
    const Size size = *BestResolution(height, width, list);
    return std::make_pair(size.height, size.width);
  };
  EXPECT_EQ(best(480, 640), std::make_pair(672, 672));
  EXPECT_EQ(best(100, 100),
            std::make_pair(336, 672));  // all keep it whole: the first of the smallest
  EXPECT_EQ(best(2000, 500), std::make_pair(1008, 336));
  EXPECT_EQ(best(300, 900), std::make_pair(336, 1008));
  EXPECT_EQ(best(1, 2000), std::make_pair(336, 672));  // none keeps anything
  EXPECT_FALSE(BestResolution(1, 1, {}).ok());
  EXPECT_FALSE(BestResolution(0, 1, list).ok());
}

TEST(FitInside, RoundsUpWithinTheCanvas) {
  const auto fit = [](int height, int width) {
    const Size size = FitInside(height, width, {672, 672});
    return std::make_pair(size.height, size.width);
  };
  EXPECT_EQ(fit(480, 640), std::make_pair(504, 672));
  EXPECT_EQ(fit(3, 1000), std::make_pair(3, 672));  // 2.016
  EXPECT_EQ(fit(1000, 999), std::make_pair(672, 672));
}

}  // namespace
}  // namespace mmcpp::transforms
