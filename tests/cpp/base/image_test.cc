// Image: sides, rows, hand-over.
#include "mmcpp/image.h"

#include <gtest/gtest.h>

#include <climits>
#include <utility>

namespace mmcpp {
namespace {

TEST(Image, RowsFollowEachOther) {
  auto image = Image::Allocate(4, 5);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->height(), 4);
  EXPECT_EQ(image->width(), 5);
  EXPECT_EQ(image->row_bytes(), 15u);
  EXPECT_EQ(image->row(3), image->data() + 45);
  const ImageView view = *image;
  EXPECT_EQ(view.row(2), image->row(2));
  EXPECT_EQ(view.height, 4);
  EXPECT_EQ(view.width, 5);
  const uint8_t* data = image->data();
  const Buffer buffer = (*std::move(image)).Release();
  EXPECT_EQ(buffer.data(), data);
  EXPECT_EQ(buffer.size(), 60u);
}

TEST(Image, SidesMustBePositiveAndFitMemory) {
  for (const auto& [height, width] : {std::pair{0, 3}, {3, 0}, {-1, 3}, {3, INT_MIN}}) {
    EXPECT_EQ(Image::Allocate(height, width).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(Image::Allocate(INT_MAX, INT_MAX).error().code, ErrorCode::kOutOfMemory);
}

}  // namespace
}  // namespace mmcpp
