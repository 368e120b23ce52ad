// Padded sizes: values of the references, and what is refused. tests/python/test_hf_patch_grids.py
// compares many more.
#include "transforms/padded_sizes.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace mmcpp::transforms {
namespace {

constexpr int kIntMax = std::numeric_limits<int>::max();

std::vector<int> Values(const Result<PaddedSize>& size) {
  if (!size.ok()) return {};
  return {size->content.height, size->content.width, size->canvas.height, size->canvas.width};
}

TEST(NavitSize, EqualsTransformers) {
  const PatchBudget budget = {14, 2, 1024, 64};
  EXPECT_EQ(Values(NavitSize(100, 200, budget)), (std::vector<int>{100, 200, 112, 224}));
  EXPECT_EQ(Values(NavitSize(1, 5, budget)), (std::vector<int>{1, 5, 28, 28}));
  EXPECT_EQ(Values(NavitSize(14, 9000, budget)), (std::vector<int>{1, 896, 28, 896}));
  EXPECT_EQ(Values(NavitSize(900, 1200, budget)), (std::vector<int>{390, 520, 392, 532}));
  EXPECT_EQ(Values(NavitSize(1, kIntMax, budget)), (std::vector<int>{1, 896, 28, 896}));
}

TEST(NavitSize, Refuses) {
  EXPECT_FALSE(NavitSize(0, 5, {14, 2, 1024, 64}).ok());
  EXPECT_FALSE(NavitSize(5, 5, {14, 2, 0, 64}).ok());
  EXPECT_FALSE(NavitSize(5, 5, {14, 2, 1024, 0}).ok());
  EXPECT_FALSE(NavitSize(5, 5, {1 << 20, 1 << 5, 1024, 64}).ok());
}

TEST(KimiVlSize, ReducesByPatchesAlone) {
  const PatchBudget budget = {14, 2, 4096, 512};
  EXPECT_EQ(Values(KimiVlSize(100, 200, budget)), (std::vector<int>{100, 200, 112, 224}));
  EXPECT_EQ(Values(KimiVlSize(1200, 1600, budget)), (std::vector<int>{780, 1040, 784, 1064}));
  EXPECT_FALSE(KimiVlSize(13, 7168, budget).ok());  // 512 patches
  EXPECT_EQ(Values(KimiVlSize(13, 7140, budget)), (std::vector<int>{13, 7140, 28, 7140}));
  EXPECT_FALSE(KimiVlSize(14, kIntMax, budget).ok());  // vanishes
}

TEST(Glm5NextSize, StaysWithinItsBudget) {
  EXPECT_EQ(Values(Glm5NextSize(100, 200, 28, 2, 25088, 12544000)),
            (std::vector<int>{100, 200, 112, 224}));
  EXPECT_FALSE(Glm5NextSize(100, 200, 28, 2, 0, 1000).ok());
  EXPECT_FALSE(Glm5NextSize(0, 200, 28, 2, 0, 100000).ok());
  EXPECT_FALSE(Glm5NextSize(kIntMax, kIntMax, 28, 2, 0, 100000).ok());
  EXPECT_FALSE(Glm5NextSize(1, kIntMax, 28, 2, uint64_t{1} << 40, uint64_t{1} << 41).ok());
}

TEST(ContainSize, EqualsPillow) {
  struct Case {
    int height, width, canvas_height, canvas_width, fitted_height, fitted_width;
  };
  const Case cases[] = {
      {384, 384, 384, 384, 384, 384},  {100, 37, 384, 384, 384, 142},
      {37, 100, 384, 384, 142, 384},   {1, 768, 384, 384, 0, 384},
      {3, 1024, 384, 384, 1, 384},     {480, 640, 384, 1152, 384, 512},
      {480, 640, 1152, 384, 288, 384}, {5, 2000, 200, 1000, 2, 1000},
      {7, 2000, 200, 1000, 4, 1000},
  };
  for (const Case& c : cases) {
    const auto size = ContainSize(c.height, c.width, {c.canvas_height, c.canvas_width});
    ASSERT_EQ(size.ok(), c.fitted_height > 0) << c.height << "x" << c.width;
    if (!size.ok()) continue;
    EXPECT_EQ(size->height, c.fitted_height) << c.height << "x" << c.width;
    EXPECT_EQ(size->width, c.fitted_width) << c.height << "x" << c.width;
  }
  EXPECT_FALSE(ContainSize(0, 5, {384, 384}).ok());
}

}  // namespace
}  // namespace mmcpp::transforms
