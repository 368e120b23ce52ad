// resample/canvas.cc: any block of a canvas, any number of rows at a time, is that of a picture
// pasted on it.
#include "resample/canvas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "support/pasted.h"
#include "support/pictures.h"

namespace mmcpp::resample {
namespace {

TEST(CanvasBlock, IsPartOfThePastedPicture) {
  const test::Picture picture(40, 30);
  const Canvas canvas = {33, 50, {7, 11, 20, 25}, {1, 2, 3}};
  const Image whole = test::Pasted(picture.view(), canvas, Filter::kBicubic, Convention::kPillow13);
  const auto resampler =
      Resampler::Make(picture.view(), 20, 25, Filter::kBicubic, Convention::kPillow13).value();
  // Left of the picture, over one edge, within it, over both, right of it; from above, within,
  // below.
  const std::pair<int, int> columns[] = {{0, 11}, {3, 12}, {15, 16}, {0, 50}, {35, 40}, {36, 50}};
  for (const auto& [begin, end] : columns) {
    for (const int first : {0, 6, 7, 20, 27, 32}) {
      for (const int rows : {1, 4, 33}) {
        auto block =
            CanvasBlock::Make(resampler, canvas, picture.view(), begin, end, first).value();
        const size_t bytes = static_cast<size_t>(block.columns()) * 3;
        std::vector<uint8_t> out(bytes * 33);
        for (int y = first; y < 33; y += rows) {
          const int n = std::min(rows, 33 - y);
          EXPECT_EQ(block.y(), y);
          block.Next(n, out.data(), bytes);
          for (int i = 0; i < n; ++i) {
            ASSERT_EQ(std::memcmp(out.data() + static_cast<size_t>(i) * bytes,
                                  whole.row(y + i) + begin * 3, bytes),
                      0)
                << "row " << y + i << " of columns " << begin << " to " << end;
          }
        }
      }
    }
  }
}

TEST(Canvas, IsCoveredOrNot) {
  EXPECT_TRUE(Canvas(3, 4).covered());
  EXPECT_FALSE(Canvas(3, 4, {0, 0, 3, 3}).covered());
  EXPECT_FALSE(Canvas(3, 4, {1, 0, 2, 4}).covered());
}

TEST(Canvas, HasThePictureWithin) {
  EXPECT_TRUE(CheckCanvas(Canvas(3, 4)).ok());
  EXPECT_TRUE(Within({2, 3, 1, 1}, 3, 4));
  for (const Window& window : {Window{3, 0, 1, 1},
                               {0, 4, 1, 1},
                               {-1, 0, 1, 1},
                               {0, 0, 0, 1},
                               {0, 0, 1, 5},
                               {1, 0, 2147483647, 1}}) {
    EXPECT_FALSE(Within(window, 3, 4));
    EXPECT_EQ(CheckCanvas({3, 4, window}).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(CheckCanvas({3, 4, {1, 2, 3, 1}}).error().message,
            "canvas: no picture of 3x1 at 1,2 fits on 3x4");
}

}  // namespace
}  // namespace mmcpp::resample
