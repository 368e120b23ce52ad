// Windows of a resize are parts of the whole.
#include "resample/window.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/isa_fixture.h"
#include "support/pictures.h"

namespace mmcpp::resample {
namespace {

class WindowTest : public test::IsaTest {};

TEST_P(WindowTest, IsAPartOfTheWhole) {
  kernels();
  const struct {
    int in_height, in_width, out_height, out_width;
    Window window;
    Convention convention;
  } cases[] = {
      {90, 120, 56, 84, {0, 0, 56, 84}, Convention::kPillow13},
      {90, 120, 130, 184, {17, 33, 101, 50}, Convention::kPillow13},
      {300, 40, 31, 77, {30, 76, 1, 1}, Convention::kPillow13},  // vertical first
      {90, 40, 31, 77, {5, 0, 20, 77}, Convention::kAtenU8},
      {90, 40, 90, 77, {50, 3, 40, 9}, Convention::kAtenU8},  // one pass
      {90, 40, 31, 40, {5, 3, 20, 30}, Convention::kPillow12},
      {90, 40, 90, 40, {7, 11, 80, 20}, Convention::kPillow13},  // a copy
      {3, 50, 100, 3000, {20, 1200, 64, 64}, Convention::kPillow13},
  };
  for (const auto& c : cases) {
    const test::Picture picture(c.in_height, c.in_width);
    const auto whole =
        Resize(picture.view(), c.out_height, c.out_width, Filter::kBicubic, c.convention);
    ASSERT_TRUE(whole.ok());
    const size_t row = static_cast<size_t>(c.window.width) * 3;
    std::vector<uint8_t> part(row * static_cast<size_t>(c.window.height));
    const Status status =
        ResizeWindow(picture.view(), c.out_height, c.out_width, Filter::kBicubic, c.convention,
                     c.window, [&](const Tile& tile) {
                       for (int i = 0; i < tile.height; ++i) {
                         std::memcpy(part.data() + static_cast<size_t>(tile.y + i) * row +
                                         static_cast<size_t>(tile.x) * 3,
                                     tile.rows + static_cast<size_t>(i) * tile.row_bytes,
                                     static_cast<size_t>(tile.width) * 3);
                       }
                     });
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (int y = 0; y < c.window.height; ++y) {
      const uint8_t* expected = whole->row(c.window.y + y) + static_cast<size_t>(c.window.x) * 3;
      ASSERT_EQ(std::memcmp(part.data() + static_cast<size_t>(y) * row, expected, row), 0)
          << "row " << y << " of a window in " << c.out_height << "x" << c.out_width;
    }
  }
}

MMCPP_INSTANTIATE_ISA_TEST(WindowTest);

TEST(Window, OutsideOfThePictureIsRefused) {
  const test::Picture picture(9, 9);
  const Window windows[] = {{0, 0, 0, 5},  {0, 0, 5, 0},  {-1, 0, 5, 5}, {0, -1, 5, 5},
                            {0, 0, 21, 5}, {0, 1, 5, 30}, {20, 0, 1, 1}};
  for (const Window& window : windows) {
    const Status status = ResizeWindow(picture.view(), 20, 30, Filter::kBicubic,
                                       Convention::kPillow13, window, [](const Tile&) { FAIL(); });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace mmcpp::resample
