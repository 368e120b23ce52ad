// Canvases and sizes that transformers 5.24 gives.
#include "transforms/canvases.h"

#include <gtest/gtest.h>

namespace mmcpp::transforms {
namespace {

struct Case {
  int height, width, tile, most, rows, columns, fitted_height, fitted_width;
};

void Check(const Case& c, CanvasRule rule) {
  const auto grid = CanvasGrid(c.height, c.width, c.tile, c.most, rule);
  ASSERT_TRUE(grid.ok()) << grid.error().message;
  EXPECT_EQ(grid->rows, c.rows) << c.height << "x" << c.width;
  EXPECT_EQ(grid->columns, c.columns) << c.height << "x" << c.width;
  if (rule == CanvasRule::kCohere2) return;
  const Size size = FitCanvas(c.height, c.width, c.tile, *grid, rule);
  EXPECT_EQ(size.height, c.fitted_height) << c.height << "x" << c.width;
  EXPECT_EQ(size.width, c.fitted_width) << c.height << "x" << c.width;
}

TEST(Canvases, EqualMllama) {
  const Case cases[] = {
      {1, 1, 112, 4, 1, 1, 112, 112},       {480, 640, 112, 4, 2, 2, 168, 224},
      {1000, 1000, 112, 4, 2, 2, 224, 224}, {1, 5000, 112, 4, 1, 4, 1, 448},
      {112, 112, 112, 4, 1, 1, 112, 112},
  };
  for (const Case& c : cases) Check(c, CanvasRule::kMllama);
}

TEST(Canvases, EqualLlama4) {
  const Case cases[] = {
      {480, 640, 112, 16, 3, 4, 336, 448},
      {100, 100, 112, 16, 1, 1, 112, 112},
      {150, 100, 112, 16, 2, 1, 150, 100},
  };
  for (const Case& c : cases) Check(c, CanvasRule::kLlama4);
}

TEST(Canvases, EqualCohere2) {
  const Case cases[] = {
      {480, 640, 112, 12, 3, 4, 0, 0},
      {100, 100, 112, 12, 1, 1, 0, 0},
      {150, 100, 112, 12, 2, 1, 0, 0},
      {1, 5000, 112, 12, 1, 12, 0, 0},
  };
  for (const Case& c : cases) Check(c, CanvasRule::kCohere2);
}

TEST(Canvases, Refusals) {
  EXPECT_EQ(CanvasGrid(0, 5, 10, 4, CanvasRule::kMllama).error().message, "empty image");
  EXPECT_EQ(CanvasGrid(5, 5, 0, 4, CanvasRule::kMllama).error().message,
            "tiles: up to 4 of 0 pixels cannot be chosen from");
  EXPECT_FALSE(CanvasGrid(5, 5, 9, 0, CanvasRule::kLlama4).ok());
  EXPECT_FALSE(CanvasGrid(5, 5, 9, kMaxGridTiles + 1, CanvasRule::kLlama4).ok());
}

}  // namespace
}  // namespace mmcpp::transforms
