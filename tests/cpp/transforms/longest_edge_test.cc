// Sizes that transformers 5.24 gives.
#include "transforms/longest_edge.h"

#include <gtest/gtest.h>

namespace mmcpp::transforms {
namespace {

struct Case {
  int height, width, edge, other, resized_height, resized_width;
};

TEST(LongestEdge, EvenThenTilesEqualIdefics3) {
  const Case cases[] = {
      {1, 1, 364, 91, 364, 364},         {480, 640, 1456, 364, 1092, 1456},
      {640, 480, 1456, 364, 1456, 1092}, {1, 3000, 364, 91, 91, 364},
      {3000, 7, 364, 91, 364, 91},       {333, 77, 155, 100, 200, 100},
      {200, 199, 155, 100, 200, 200},
  };
  for (const Case& c : cases) {
    const auto first = EvenLongestEdge(c.height, c.width, c.edge);
    ASSERT_TRUE(first.ok());
    const auto size = CeilToTiles(*first, c.other);
    ASSERT_TRUE(size.ok()) << size.error().message;
    EXPECT_EQ(size->height, c.resized_height) << c.height << "x" << c.width;
    EXPECT_EQ(size->width, c.resized_width) << c.height << "x" << c.width;
  }
}

TEST(LongestEdge, RoundedMayVanish) {
  EXPECT_EQ(RoundLongestEdge(1, 3000, 384, 0).error().message,
            "resize: 1x3000 vanishes in a square of 384");
  EXPECT_EQ(RoundLongestEdge(1, 500, 384, 0)->height, 1);
  EXPECT_FALSE(RoundLongestEdge(1, 500, 384, -1).ok());
}

TEST(LongestEdge, RoundedEqualsJanus) {
  const Case cases[] = {
      {1, 1, 384, 14, 384, 384},       {480, 640, 384, 14, 288, 384}, {640, 481, 384, 14, 384, 289},
      {1, 3000, 384, 14, 14, 384},     {5, 768, 384, 1, 2, 384},      {11, 256, 384, 14, 16, 384},
      {3000, 2999, 384, 14, 384, 384},
  };
  for (const Case& c : cases) {
    const auto size = RoundLongestEdge(c.height, c.width, c.edge, c.other);
    ASSERT_TRUE(size.ok()) << size.error().message;
    EXPECT_EQ(size->height, c.resized_height) << c.height << "x" << c.width;
    EXPECT_EQ(size->width, c.resized_width) << c.height << "x" << c.width;
  }
}

TEST(LongestEdge, Refusals) {
  EXPECT_EQ(EvenLongestEdge(0, 5, 10).error().message, "empty image");
  EXPECT_EQ(EvenLongestEdge(5, 5, 4097).error().message,
            "longest_edge: 4097 is not within 1 to 4096");
  EXPECT_EQ(CeilToTiles({49, 1}, 49).error().message, "tiles: 49x1 vanishes in tiles of 49");
  EXPECT_FALSE(RoundLongestEdge(5, 5, 0, 14).ok());
  EXPECT_FALSE(RoundLongestEdge(5, 0, 384, 14).ok());
}

}  // namespace
}  // namespace mmcpp::transforms
