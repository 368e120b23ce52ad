// Image: sides, rows, hand-over.
#include "mmcpp/image.h"

#include <gtest/gtest.h>

#include <climits>
#include <utility>
#include <vector>

#include "base/row_source.h"
#include "support/rows.h"

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
  EXPECT_EQ(Image::Allocate(INT_MAX, INT_MAX, 4).error().code, ErrorCode::kOutOfMemory);
}

TEST(Image, MayHaveFourChannels) {
  const Image image = Image::Allocate(2, 3, 4).value();
  EXPECT_EQ(image.row_bytes(), 12u);
  const ImageView view = image;
  EXPECT_EQ(view.channels, 4);
  WholeRows rows(view);
  EXPECT_EQ(rows.channels(), 4);
  EXPECT_EQ(ReadAll(&rows)->channels(), 4);
  EXPECT_FALSE(Image::Adopt(Buffer::Allocate(23).value(), 2, 3, 4).ok());
  EXPECT_EQ(Image::Adopt(Buffer::Allocate(24).value(), 2, 3, 4)->channels(), 4);
  for (const int channels : {0, 1, 2, 5}) {
    EXPECT_EQ(Image::Allocate(2, 3, channels).error().message,
              "image: expected 3 or 4 channels, got " + std::to_string(channels));
  }
}

TEST(WholeRows, GivesRowsInOrderAndThePicture) {
  auto image = Image::Allocate(3, 2);
  ASSERT_TRUE(image.ok());
  for (uint8_t i = 0; i < 18; ++i) image->data()[i] = i;
  const uint8_t* pixels = image->data();
  WholeRows rows(*std::move(image));
  EXPECT_EQ(rows.height(), 3);
  EXPECT_EQ(rows.width(), 2);
  EXPECT_EQ(rows.whole()->data, pixels);
  uint8_t out[16] = {};
  ASSERT_TRUE(rows.Read(2, out, 7).ok());
  EXPECT_EQ(std::vector<uint8_t>(out, out + 16),
            (std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 10, 11, 0, 0, 0}));
  ASSERT_TRUE(rows.Read(1, out, 7).ok());
  EXPECT_EQ(out[0], 12);
  EXPECT_FALSE(rows.Read(1, out, 7).ok());
}

TEST(ReadAll, GathersAPictureOrGivesTheError) {
  const std::vector<uint8_t> pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const ImageView view = {pixels.data(), 2, 2, 6};
  test::OneByOne rows(view), cut(view, 1);
  const auto image = ReadAll(&rows);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(std::vector<uint8_t>(image->data(), image->data() + 12), pixels);
  EXPECT_EQ(ReadAll(&cut).error().message, "rows: end at 1");
}

}  // namespace
}  // namespace mmcpp
