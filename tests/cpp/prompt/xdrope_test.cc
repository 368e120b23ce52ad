// XD-RoPE positions: by hand, and what is refused. tests/python/test_mrope_hf.py compares with
// transformers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mmcpp/prompt.h"

namespace mmcpp {
namespace {

std::vector<int64_t> Values(const MRope& rope) {
  const auto ids = rope.position_ids.As<int64_t>();
  return {ids.begin(), ids.end()};
}

TEST(Xdrope, RowsTakeTheLastThreeAxes) {
  const std::vector<TokenRange> offsets = {{1, 4}, {6, 10}};
  const std::vector<GridThw> grids = {{1, 4, 2}, {1, 2, 4}};  // 2 x 1 and 1 x 2 after the merge
  const auto rope = XdropePositions(12, offsets, grids, 2, 4);
  ASSERT_TRUE(rope.ok()) << rope.error().message;
  EXPECT_EQ(rope->position_ids.shape(), (std::vector<int64_t>{4, 12}));
  EXPECT_EQ(Values(*rope), (std::vector<int64_t>{
                               0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,  // place
                               0, 0, 1, 0, 1, 5, 6, 0, 1, 2, 10, 11,  // column
                               0, 0, 0, 1, 1, 5, 6, 0, 0, 0, 10, 11,  // row
                               0, 0, 0, 0, 0, 5, 6, 1, 1, 1, 10, 11,  // picture
                           }));
  EXPECT_EQ(rope->delta, 0);
}

TEST(Xdrope, APictureAtTheEndLowersTheLargestPosition) {
  const std::vector<TokenRange> offsets = {{2, 7}};
  const std::vector<GridThw> grids = {{1, 2, 2}};
  const auto rope = XdropePositions(8, offsets, grids, 1, 3);
  ASSERT_TRUE(rope.ok()) << rope.error().message;
  EXPECT_EQ(rope->delta, 3 - 8);
}

TEST(Xdrope, RefusesWhatDoesNotFit) {
  const std::vector<TokenRange> offsets = {{2, 7}};
  const std::vector<GridThw> grids = {{1, 2, 2}};
  EXPECT_FALSE(XdropePositions(8, offsets, grids, 0, 4).ok());
  EXPECT_FALSE(XdropePositions(8, offsets, grids, 1, 2).ok());
  EXPECT_FALSE(XdropePositions(8, offsets, grids, 1, 9).ok());
  EXPECT_FALSE(XdropePositions(7, offsets, grids, 1, 4).ok());
  EXPECT_FALSE(XdropePositions(8, offsets, {}, 1, 4).ok());
  EXPECT_FALSE(XdropePositions(kMaxMropeTokens + 1, {}, {}, 1, 4).ok());
  const std::vector<GridThw> others = {{1, 2, 3}};
  EXPECT_FALSE(XdropePositions(8, offsets, others, 1, 4).ok());
  const std::vector<GridThw> huge = {{1, 0xffffffff, 0xffffffff}};
  EXPECT_FALSE(XdropePositions(8, offsets, huge, 1, 4).ok());
  const auto empty = XdropePositions(0, {}, {}, 1, 4);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->delta, 0);
}

}  // namespace
}  // namespace mmcpp
