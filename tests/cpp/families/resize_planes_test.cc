// The one pass against resize, crop and pad written out.
#include "families/resize_planes.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/pictures.h"
#include "support/rows.h"

namespace mmcpp::families {
namespace {

TEST(ResizePlanes, EqualsResizeCropAndPad) {
  PixelRules rules;
  rules.convention = Convention::kPillow13;
  rules.table = transforms::MakeNormTable(transforms::NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  const test::Picture picture(70, 90);
  const struct {
    int height, width, top, left;
  } cases[] = {{40, 50, 0, 0}, {60, 80, -11, -13}, {20, 30, 5, 17}, {90, 20, -40, 9}};
  for (const auto& c : cases) {
    auto out = Tensor::Allocate(DType::kU8, {1, 3, 40, 50});
    ASSERT_TRUE(out.ok());
    const Status status = ResizeToPlanes(picture.view(), {c.height, c.width}, rules, {40, 50},
                                         out->view(), c.top, c.left, {4, 5, 6});
    ASSERT_TRUE(status.ok()) << status.error().message;
    const auto resized = Resize(picture.view(), c.height, c.width, Filter::kBicubic);
    ASSERT_TRUE(resized.ok());
    for (int i = 0; i < 3 * 40 * 50; ++i) {
      const int channel = i / 2000, y = i / 50 % 40 - c.top, x = i % 50 - c.left;
      const bool inside = y >= 0 && y < c.height && x >= 0 && x < c.width;
      const int expected = inside ? resized->row(y)[x * 3 + channel] : 4 + channel;
      ASSERT_EQ(out->data()[i], expected) << c.height << "x" << c.width << ": " << i;
    }
  }
}

TEST(ResizePlanes, OfRowsAsTheyComeAreThoseOfThePicture) {
  PixelRules rules;
  rules.convention = Convention::kPillow13;
  rules.table = transforms::MakeNormTable(transforms::NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  const test::Picture picture(700, 600);
  const transforms::PlaneTiles tiles = {30, 50, 2, 3, 1};
  auto whole = Tensor::Allocate(DType::kF32, {7, 3, 30, 50}).value();
  auto rows = Tensor::Allocate(DType::kF32, {7, 3, 30, 50}).value();
  std::memset(whole.data(), 0xa5, whole.byte_count());
  std::memset(rows.data(), 0xa5, rows.byte_count());
  ASSERT_TRUE(ResizeToPlanes(picture.view(), {60, 150}, rules, tiles, whole.view()).ok());
  test::OneByOne source(picture.view());
  ASSERT_TRUE(ResizeToPlanes(&source, rules, tiles, rows.view()).ok());
  EXPECT_EQ(std::memcmp(whole.data(), rows.data(), whole.byte_count()), 0);
  test::OneByOne broken(picture.view(), 300);
  EXPECT_EQ(ResizeToPlanes(&broken, rules, tiles, rows.view()).error().message, "rows: end at 300");
}

TEST(ResizePlanes, APictureBesideTheCanvasIsRefused) {
  PixelRules rules;
  rules.table = transforms::MakeNormTable(transforms::NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  const test::Picture picture(9, 9);
  auto out = Tensor::Allocate(DType::kU8, {1, 3, 4, 5});
  ASSERT_TRUE(out.ok());
  EXPECT_FALSE(ResizeToPlanes(picture.view(), {4, 5}, rules, {4, 5}, out->view(), -4, 0).ok());
  EXPECT_FALSE(ResizeToPlanes(picture.view(), {4, 5}, rules, {4, 5}, out->view(), 0, 5).ok());
}

}  // namespace
}  // namespace mmcpp::families
