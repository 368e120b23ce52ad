// transforms/background.cc: facts by hand; against torch in tests/python/test_kimi_k3.py.
#include "transforms/background.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace mmcpp::transforms {
namespace {

using Pattern = BackgroundPattern;
using Pixels = std::vector<uint8_t>;

Pixels Laid(const Pixels& rgba, int height, int width, const Background& background) {
  Pixels rgb(static_cast<size_t>(height * width * 3));
  const Status status =
      LayOver({rgba.data(), height, width, static_cast<size_t>(4 * width), 4}, background,
              {rgb.data(), height, width, static_cast<size_t>(3 * width)});
  EXPECT_TRUE(status.ok());
  return rgb;
}

TEST(Background, IsSeenThroughWhatIsTransparent) {
  const Pixels rgba = {10, 20, 30, 0, 10, 20, 30, 255, 10, 20, 30, 128};
  const auto over = [&](Pattern pattern) { return Laid(rgba, 1, 3, {pattern}); };
  EXPECT_EQ(over(Pattern::kNone), (Pixels{10, 20, 30, 10, 20, 30, 10, 20, 30}));
  // Cut off, not rounded: 128/255 of 10 is 5.02, and 127/255 of 255 is 127.
  EXPECT_EQ(over(Pattern::kBlack), (Pixels{0, 0, 0, 10, 20, 30, 5, 10, 15}));
  EXPECT_EQ(over(Pattern::kWhite), (Pixels{255, 255, 255, 10, 20, 30, 132, 137, 142}));
  EXPECT_EQ(over(Pattern::kGray), (Pixels{128, 128, 128, 10, 20, 30, 68, 73, 78}));
}

TEST(Background, Chessboard) {
  const Pixels clear(4 * 3 * 5);
  const auto gray = [&](bool on_top_left) {
    const Pixels rgb = Laid(clear, 3, 5, {Pattern::kChessboard, 2, on_top_left, 9, 1});
    Pixels first;
    for (size_t i = 0; i < rgb.size(); i += 3) first.push_back(rgb[i]);
    return first;
  };
  EXPECT_EQ(gray(true), (Pixels{9, 9, 1, 1, 9, 9, 9, 1, 1, 9, 1, 1, 9, 9, 1}));
  EXPECT_EQ(gray(false), (Pixels{1, 1, 9, 9, 1, 1, 1, 9, 9, 1, 9, 9, 1, 1, 9}));
}

TEST(Background, GoesOnWhereRowsGoOn) {
  const Pixels clear(4 * 5 * 6);
  const Background board = {Pattern::kChessboard, 2, true, 9, 1};
  Pixels rgb(5 * 6 * 3);
  for (const auto& [first, rows] : {std::pair{0, 1}, {1, 3}, {4, 1}}) {
    ASSERT_TRUE(LayOver({clear.data(), rows, 6, 24, 4}, board,
                        {rgb.data() + first * 18, rows, 6, 18}, first)
                    .ok());
  }
  EXPECT_EQ(rgb, Laid(clear, 5, 6, board));
}

TEST(Background, Refusals) {
  Pixels pixels(12);
  const auto refused = [&](int channels, int width, int square) {
    return LayOver({pixels.data(), 1, 3, 12, channels}, {Pattern::kChessboard, square},
                   {pixels.data(), 1, width, 9})
        .error()
        .message;
  };
  EXPECT_EQ(refused(3, 3, 1), "background: 1x3 of 3 channels over 1x3, squares of 1");
  EXPECT_EQ(refused(4, 2, 1), "background: 1x3 of 4 channels over 1x2, squares of 1");
  EXPECT_EQ(refused(4, 3, 0), "background: 1x3 of 4 channels over 1x3, squares of 0");
}

}  // namespace
}  // namespace mmcpp::transforms
