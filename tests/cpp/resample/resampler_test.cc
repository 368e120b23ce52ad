// However a resize is cut into blocks of columns and bands of rows, its bytes are the same.
#include "resample/resampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/golden.h"
#include "support/isa_fixture.h"

namespace mmcpp::resample {
namespace {

struct Case {
  int in_height, in_width, out_height, out_width;
  Convention convention;
};

// Both passes in either order, each alone, and none.
const Case kCases[] = {
    {60, 80, 45, 33, Convention::kPillow13}, {90, 40, 31, 77, Convention::kPillow13},
    {90, 40, 31, 77, Convention::kPillow12}, {20, 30, 130, 95, Convention::kPillow13},
    {50, 60, 50, 23, Convention::kPillow13}, {50, 60, 23, 60, Convention::kPillow13},
    {50, 60, 50, 60, Convention::kPillow13}, {300, 31, 3, 30, Convention::kAtenU8},
    {1, 1, 40, 50, Convention::kPillow13},
};

class ResamplerTest : public test::IsaTest {};

TEST_P(ResamplerTest, EveryCutGivesTheSameBytes) {
  kernels();
  std::mt19937 random(1);
  for (const Case& c : kCases) {
    const auto pixels = test::GoldenPixels(c.in_height, c.in_width);
    const ImageView image = {pixels.data(), c.in_height, c.in_width,
                             static_cast<size_t>(c.in_width) * 3};
    const auto resampler = Resampler::Make(c.in_height, c.in_width, c.out_height, c.out_width,
                                           Filter::kBicubic, c.convention);
    ASSERT_TRUE(resampler.ok());
    const size_t row_bytes = static_cast<size_t>(c.out_width) * 3;
    std::vector<uint8_t> whole(static_cast<size_t>(c.out_height) * row_bytes);
    auto all = BlockResampler::Make(*resampler, image, 0, c.out_width, 0);
    ASSERT_TRUE(all.ok());
    all->Next(c.out_height, whole.data(), row_bytes);

    for (int round = 0; round < 20; ++round) {
      const auto between = [&random](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
      };
      const int x_begin = between(0, c.out_width - 1), x_end = between(x_begin + 1, c.out_width);
      const int y_begin = between(0, c.out_height - 1);
      auto block = BlockResampler::Make(*resampler, image, x_begin, x_end, y_begin);
      ASSERT_TRUE(block.ok());
      const size_t bytes = static_cast<size_t>(x_end - x_begin) * 3;
      std::vector<uint8_t> rows(40 * bytes);
      for (int y = y_begin; y < c.out_height;) {
        const int n = between(1, std::min(40, c.out_height - y));
        block->Next(n, rows.data(), bytes);
        for (int i = 0; i < n; ++i, ++y) {
          ASSERT_TRUE(std::equal(
              rows.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(i) * bytes),
              rows.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(i + 1) * bytes),
              whole.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(y) * row_bytes +
                                                          static_cast<size_t>(x_begin) * 3)))
              << c.in_height << "x" << c.in_width << " -> " << c.out_height << "x" << c.out_width
              << " row " << y << " columns " << x_begin << ".." << x_end;
        }
      }
    }
  }
}

MMCPP_INSTANTIATE_ISA_TEST(ResamplerTest);

TEST(Resampler, BlocksAreWholeUnitsAndKeepTheRowsBetweenThePassesSmall) {
  const auto width = [](int in_height, int in_width, int out_height, int out_width) {
    const auto resampler = Resampler::Make(in_height, in_width, out_height, out_width,
                                           Filter::kBicubic, Convention::kPillow13);
    return resampler.ok() ? resampler->BlockWidth(28, 28) : -1;
  };
  for (const int columns : {width(3000, 40000, 1000, 10000), width(60000, 9000, 600, 9001)}) {
    EXPECT_EQ(columns % 28, 0);
    EXPECT_GE(columns, 28);
    EXPECT_LT(columns, 5000);
  }
  // Never less than one unit, however tall the window; never more than the picture.
  EXPECT_EQ(width(60000, 70000, 2, 10000), 28);
  EXPECT_EQ(width(100, 100, 50, 55), 55);
}

}  // namespace
}  // namespace mmcpp::resample
