// transforms/nearest_grid.cc: sizes that smart_resize of transformers 5.24 (Muse) gave under
// CPython 3.11; many more in tests/python/test_hf_patch_grids.py.
#include "transforms/nearest_grid.h"

#include <gtest/gtest.h>

#include <utility>

namespace mmcpp::transforms {
namespace {

std::pair<int, int> SizeOf(int height, int width, int block, uint64_t most) {
  const auto size = NearestGridSize(height, width, block, most);
  EXPECT_TRUE(size.ok());
  return size.ok() ? std::pair{size->height, size->width} : std::pair{0, 0};
}

TEST(NearestGridSize, EqualsTransformers) {
  EXPECT_EQ(SizeOf(1, 1, 28, 4096), (std::pair{28, 28}));
  EXPECT_EQ(SizeOf(28, 56, 28, 4096), (std::pair{28, 56}));
  EXPECT_EQ(SizeOf(100, 100, 28, 4096), (std::pair{112, 112}));
  EXPECT_EQ(SizeOf(450, 450, 28, 4096), (std::pair{476, 476}));
  EXPECT_EQ(SizeOf(430, 430, 28, 4096), (std::pair{448, 448}));
  EXPECT_EQ(SizeOf(777, 777, 28, 4096), (std::pair{784, 784}));
  EXPECT_EQ(SizeOf(300, 500, 28, 4096), (std::pair{308, 504}));
  EXPECT_EQ(SizeOf(1080, 1920, 28, 4096), (std::pair{1092, 1932}));
  EXPECT_EQ(SizeOf(4000, 3000, 28, 1000), (std::pair{1008, 756}));
  EXPECT_EQ(SizeOf(1, 9000, 28, 100), (std::pair{28, 8988}));
  EXPECT_EQ(SizeOf(3, 20000, 28, 100), (std::pair{28, 19992}));
  EXPECT_EQ(SizeOf(9000, 9000, 28, 4096), (std::pair{1792, 1792}));
  // Two of the four candidates, both square, want the same slot of the set.
  EXPECT_EQ(SizeOf(703, 703, 28, 4096), (std::pair{700, 700}));
}

TEST(NearestGridSize, HasOneBlockAtLeast) {
  EXPECT_EQ(SizeOf(500, 900, 28, 0), (std::pair{28, 28}));
}

TEST(NearestGridSize, Refusals) {
  EXPECT_EQ(NearestGridSize(0, 5, 28, 10).error().message, "empty image");
  EXPECT_EQ(NearestGridSize(INT32_MAX, 1, 1, uint64_t{1} << 40).error().code,
            ErrorCode::kLimitExceeded);
}

}  // namespace
}  // namespace mmcpp::transforms
