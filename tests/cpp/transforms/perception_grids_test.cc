// Grids that transformers 5.24's PerceptionLMImageProcessor gives.
#include "transforms/perception_grids.h"

#include <gtest/gtest.h>

namespace mmcpp::transforms {
namespace {

TEST(PerceptionGrids, AreGroupedByRatio) {
  const std::vector<Grid> grids = PerceptionGrids(5);
  ASSERT_EQ(grids.size(), 10u);
  const int columns[] = {1, 5, 1, 2, 1, 4, 1, 3, 1, 2};
  const int rows[] = {5, 1, 4, 2, 1, 1, 3, 1, 2, 1};
  for (size_t i = 0; i < grids.size(); ++i) {
    EXPECT_EQ(grids[i].columns, columns[i]) << i;
    EXPECT_EQ(grids[i].rows, rows[i]) << i;
  }
}

TEST(PerceptionGrids, EqualTransformers) {
  struct Case {
    int height, width, rows, columns;
  };
  const std::vector<Grid> grids = PerceptionGrids(36);
  const Case cases[] = {{480, 640, 5, 7},   {1, 1, 6, 6},      {1, 5000, 1, 34},
                        {5000, 1, 34, 1},   {448, 448, 6, 6},  {3000, 3000, 6, 6},
                        {4000, 300, 18, 2}, {700, 2000, 4, 9}, {2688, 2688, 6, 6},
                        {333, 777, 4, 9}};
  for (const Case& c : cases) {
    const Grid grid = PerceptionGrid(c.height, c.width, 448, grids);
    EXPECT_EQ(grid.rows, c.rows) << c.height << "x" << c.width;
    EXPECT_EQ(grid.columns, c.columns) << c.height << "x" << c.width;
  }
}

}  // namespace
}  // namespace mmcpp::transforms
