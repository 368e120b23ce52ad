// Sizes that transformers 5.24 gives, and what it raises for.
#include "transforms/patch_budgets.h"

#include <gtest/gtest.h>

#include <climits>

namespace mmcpp::transforms {
namespace {

struct Case {
  int height, width, patch, most, resized_height, resized_width;
};

TEST(FitPatchCount, EqualsTransformers) {
  const Case cases[] = {
      {1, 1, 16, 256, 112, 112},  {480, 640, 16, 256, 224, 288},    {1, 4000, 16, 256, 16, 4096},
      {333, 77, 14, 70, 238, 56}, {5000, 3000, 16, 1024, 640, 384}, {3, 3, 8, 1, 8, 8},
  };
  for (const Case& c : cases) {
    const auto size = FitPatchCount(c.height, c.width, c.patch, c.most);
    ASSERT_TRUE(size.ok()) << size.error().message;
    EXPECT_EQ(size->height, c.resized_height) << c.height << "x" << c.width;
    EXPECT_EQ(size->width, c.resized_width) << c.height << "x" << c.width;
  }
}

TEST(FitPatchArea, EqualsTransformers) {
  const Case cases[] = {
      {480, 640, 16, 2520, 672, 912}, {1, 5, 16, 630, 144, 864},
      {5000, 1, 16, 630, 3360, 48},   {48, 3360, 16, 630, 48, 3360},
      {333, 77, 16, 2520, 1632, 384}, {4000, 3000, 16, 10080, 1824, 1344},
  };
  for (const Case& c : cases) {
    const auto size = FitPatchArea(c.height, c.width, c.patch, 3, c.most);
    ASSERT_TRUE(size.ok()) << size.error().message;
    EXPECT_EQ(size->height, c.resized_height) << c.height << "x" << c.width;
    EXPECT_EQ(size->width, c.resized_width) << c.height << "x" << c.width;
  }
}

TEST(PatchBudgets, Refusals) {
  EXPECT_EQ(FitPatchCount(0, 5, 16, 256).error().message, "empty image");
  EXPECT_EQ(FitPatchCount(5, 5, 0, 256).error().message,
            "patches: at most 256 of 0 pixels cannot be");
  EXPECT_FALSE(FitPatchCount(5, 5, 16, 0).ok());
  EXPECT_FALSE(FitPatchCount(5, 5, 16, kMaxPatchBudget + 1).ok());
  EXPECT_EQ(FitPatchCount(INT_MAX, INT_MAX, 1, 9).error().message,
            "patches: 2147483647x2147483647 cannot be reduced to 9");
  EXPECT_EQ(FitPatchArea(500, 500, 16, 3, 8).error().message,
            "patches: 500x500 vanishes in a budget of 8");
  EXPECT_EQ(FitPatchArea(1, 5, 16, 3, 8).error().message,
            "patches: 1x5 needs 48x0, which is not within 8 patches");
  EXPECT_FALSE(FitPatchArea(5, 5, 16, 0, 630).ok());
  EXPECT_FALSE(FitPatchArea(5, -1, 16, 3, 630).ok());
  EXPECT_TRUE(FitPatchArea(INT_MAX, INT_MAX, 16, 3, 630).ok());
}

}  // namespace
}  // namespace mmcpp::transforms
