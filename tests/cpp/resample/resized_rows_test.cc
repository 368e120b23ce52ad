// resample/resized_rows.cc: however many rows are read at a time, they are those of Resize.
#include "resample/resized_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "support/isa_fixture.h"
#include "support/pictures.h"
#include "support/rows.h"

namespace mmcpp::resample {
namespace {

class ResizedRowsTest : public test::IsaTest {
 protected:
  static void Check(int in_height, int in_width, int out_height, int out_width,
                    Convention convention, int most) {
    SCOPED_TRACE(std::to_string(in_height) + "x" + std::to_string(in_width) + " to " +
                 std::to_string(out_height) + "x" + std::to_string(out_width));
    const test::Picture picture(in_height, in_width);
    const auto whole =
        Resize(picture.view(), out_height, out_width, Filter::kBicubic, convention).value();
    test::OneByOne rows(picture.view());
    const auto resized =
        ResizedRows::Make(&rows, out_height, out_width, Filter::kBicubic, convention);
    ASSERT_TRUE(resized.ok()) << resized.error().message;
    auto read = Image::Allocate(out_height, out_width).value();
    std::mt19937 random(3);
    for (int y = 0; y < out_height;) {
      const int n = std::min(std::uniform_int_distribution(1, most)(random), out_height - y);
      ASSERT_TRUE((*resized)->Read(n, read.row(y), read.row_bytes()).ok());
      y += n;
    }
    EXPECT_EQ(
        std::memcmp(read.data(), whole.data(), whole.row_bytes() * static_cast<size_t>(out_height)),
        0);
    EXPECT_EQ(rows.left(), 0);
  }
};

TEST_P(ResizedRowsTest, AreThoseOfResize) {
  kernels();
  std::mt19937 random(7);
  const auto side = [&random](int most) {
    const double log = std::uniform_real_distribution<>(0, std::log(most))(random);
    return static_cast<int>(std::exp(log));
  };
  const Convention conventions[] = {Convention::kPillow13, Convention::kPillow12,
                                    Convention::kAtenU8};
  for (int round = 0; round < 40; ++round) {
    const int in_height = side(3000), in_width = side(60);
    Check(in_height, in_width, round % 5 == 0 ? in_height : side(300),
          round % 7 == 0 ? in_width : side(400), conventions[round % 3], side(100));
  }
  Check(4000, 3, 5, 20000, Convention::kPillow13, 2);  // a window longer than a strip
  Check(700, 900, 300, 400, Convention::kPillow12, 300);
}

MMCPP_INSTANTIATE_ISA_TEST(ResizedRowsTest);

TEST(ResizedRows, GiveErrorsOfReadingOn) {
  const test::Picture picture(500, 900);
  for (const int readable : {0, 100, 499}) {
    test::OneByOne rows(picture.view(), readable);
    const auto resized =
        ResizedRows::Make(&rows, 20, 30, Filter::kBicubic, Convention::kPillow13).value();
    auto out = Image::Allocate(20, 30).value();
    EXPECT_EQ(resized->Read(20, out.data(), 90).error().message,
              "rows: end at " + std::to_string(readable));
  }
  test::OneByOne rows(picture.view());
  EXPECT_EQ(ResizedRows::Make(&rows, 0, 4, Filter::kBicubic, Convention::kPillow13).error().message,
            "resize: output size must be positive, got 0x4");
}

}  // namespace
}  // namespace mmcpp::resample
