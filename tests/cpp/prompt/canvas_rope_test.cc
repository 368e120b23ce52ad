// Canvas M-RoPE: by hand, and what is refused. tests/python/test_mrope_hf.py compares with
// transformers.
#include "prompt/canvas_rope.h"

#include <gtest/gtest.h>

#include <vector>

#include "mmcpp/prompt.h"

namespace mmcpp::prompt {
namespace {

using Ids = std::vector<int64_t>;

const Ids kMarks = {1, 2, 3, 4, 5};  // around the picture, around slices, behind rows

Ids Values(const MRope& rope) {
  const auto ids = rope.position_ids.As<int64_t>();
  return {ids.begin(), ids.end()};
}

TEST(CanvasRope, ThePictureIsSpreadOverItsSlices) {
  // Two rows of one slice of 1 x 3 tokens each; the whole is 1 x 2.
  const Ids ids = {9, 9, 1, 0, 0, 2, 3, 0, 0, 0, 4, 5, 3, 0, 0, 0, 4, 9};
  const CanvasPicture picture = {{2, 16}, {1, 2}, {1, 3}, {2, 1}};
  const auto rope = CanvasPositions(ids, {&picture, 1}, kMarks);
  ASSERT_TRUE(rope.ok()) << rope.error().message;
  EXPECT_EQ(rope->position_ids.shape(), (Ids{3, 18}));
  EXPECT_EQ(Values(*rope), (Ids{
                               0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 6,  // time
                               0, 1, 1, 2, 2, 4, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 6,  // row
                               0, 1, 1, 2, 4, 5, 2, 2, 3, 4, 4, 5, 2, 2, 3, 4, 4, 6,  // column
                           }));
  EXPECT_EQ(rope->delta, 7 - 18);
}

TEST(CanvasRope, MarksBehindAPictureAreItsOwn) {
  const Ids ids = {1, 0, 2, 5, 1, 0, 2, 5, 9};
  const std::vector<CanvasPicture> pictures = {{{0, 2}, {1, 1}, {}, {}}, {{4, 6}, {1, 1}, {}, {}}};
  const auto rope = CanvasPositions(ids, pictures, kMarks);
  ASSERT_TRUE(rope.ok()) << rope.error().message;
  EXPECT_EQ(Values(*rope), (Ids{
                               0, 0, 0, 0, 2, 2, 2, 2, 4,  // time
                               0, 0, 1, 0, 1, 2, 3, 2, 4,  // row
                               0, 0, 1, 0, 1, 2, 3, 2, 4,  // column
                           }));
  EXPECT_EQ(rope->delta, 5 - 9);
}

TEST(CanvasRope, RefusesWhatDoesNotFit) {
  const Ids ids(18);
  const auto fits = [&](const CanvasPicture& picture) {
    return CanvasPositions(ids, {&picture, 1}, kMarks).ok();
  };
  EXPECT_TRUE(fits({{2, 16}, {1, 2}, {1, 3}, {2, 1}}));
  EXPECT_FALSE(fits({{2, 15}, {1, 2}, {1, 3}, {2, 1}})) << "a token too few";
  EXPECT_FALSE(fits({{4, 18}, {1, 2}, {1, 3}, {2, 1}})) << "beyond the prompt";
  EXPECT_FALSE(fits({{2, 3}, {0, 2}, {}, {}})) << "no token at all";
  const uint32_t most = UINT32_MAX;
  EXPECT_FALSE(fits({{2, 16}, {most, most}, {1, 3}, {2, 1}}));
  EXPECT_FALSE(fits({{2, 16}, {1, 2}, {most, most}, {2, 1}}));
  EXPECT_FALSE(fits({{2, 16}, {1, 2}, {1, 3}, {most, most}}));
  EXPECT_FALSE(fits({{2, 5}, {1, 2}, {1, 3}, {most, 0}}));
  const Span<const int64_t> too_long(ids.data(), kMaxMropeTokens + 1);  // refused unread
  EXPECT_EQ(CanvasPositions(too_long, {}, kMarks).error().code, ErrorCode::kLimitExceeded);
  const auto empty = CanvasPositions({}, {}, kMarks);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->delta, 0);
}

}  // namespace
}  // namespace mmcpp::prompt
