// resample/strips.cc: the rows that a resize still needs are there, and few others.
#include "resample/strips.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "support/pictures.h"
#include "support/rows.h"

namespace mmcpp::resample {
namespace {

void Check(int in_height, int in_width, int out_height, int out_width) {
  SCOPED_TRACE(in_height);
  const test::Picture picture(in_height, in_width);
  const auto resampler = Resampler::Make(in_height, in_width, out_height, out_width,
                                         Filter::kLanczos, Convention::kPillow13)
                             .value();
  test::OneByOne rows(picture.view());
  auto strips = Strips::Make(resampler, &rows).value();
  EXPECT_EQ(strips.strip() % simd::kResampleRows, 0);
  EXPECT_LE(strips.input().kept, resampler.WindowRows() + 2 * strips.strip());
  for (int read = 0; read < in_height;) {
    const int before = read;
    read = strips.Read().value();
    ASSERT_EQ(read, std::min(before + strips.strip(), in_height));
    for (int y = std::max(0, before - resampler.WindowRows() + 1); y < read; ++y) {
      ASSERT_EQ(std::memcmp(strips.input().row(y), picture.view().row(y),
                            static_cast<size_t>(in_width) * 3),
                0)
          << "row " << y << " of " << read;
    }
  }
  EXPECT_EQ(rows.left(), 0);
}

TEST(Strips, KeepWhatAWindowLooksBackFor) {
  Check(1000, 700, 37, 90);
  Check(500, 40, 3, 1000);   // the vertical pass first, windows of most of the picture
  Check(2000, 3, 2000, 5);   // no vertical pass
  Check(40, 30'000, 11, 3);  // strips of the least height
  Check(5, 5, 9, 9);         // less than a strip
}

TEST(Strips, GiveErrorsOfReadingOn) {
  const test::Picture picture(500, 900);
  const auto resampler =
      Resampler::Make(500, 900, 20, 30, Filter::kBicubic, Convention::kPillow13).value();
  test::OneByOne rows(picture.view(), 100);
  auto strips = Strips::Make(resampler, &rows).value();
  EXPECT_TRUE(strips.Read().ok());
  EXPECT_EQ(strips.Read().error().message, "rows: end at 100");
}

}  // namespace
}  // namespace mmcpp::resample
