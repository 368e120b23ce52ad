// resample/passed_rows.cc: every row is handed on once, and given as it is.
#include "resample/passed_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "support/pictures.h"
#include "support/rows.h"
#include "support/schedules.h"

namespace mmcpp::resample {
namespace {

TEST(PassedRows, AreSeenOnceAndGivenOn) {
  const test::Picture picture(101, 900);
  test::ForEachSchedule(3, [&] {
    test::OneByOne rows(picture.view());
    auto seen = Image::Allocate(101, 900).value(), given = Image::Allocate(101, 900).value();
    std::vector<int> times(101);
    std::mutex mutex;
    const auto see = [&](const Tile& tile) {
      const std::lock_guard<std::mutex> lock(mutex);
      EXPECT_EQ(tile.x, 0);
      EXPECT_EQ(tile.width, 900);
      for (int i = 0; i < tile.height; ++i) {
        ++times[static_cast<size_t>(tile.y + i)];
        std::memcpy(seen.row(tile.y + i), tile.rows + static_cast<size_t>(i) * tile.row_bytes,
                    seen.row_bytes());
      }
    };
    PassedRows passed(&rows, see);
    for (int y = 0; y < 101; y += 50) {
      ASSERT_TRUE(passed.Read(std::min(50, 101 - y), given.row(y), given.row_bytes()).ok());
    }
    EXPECT_EQ(times, std::vector<int>(101, 1));
    EXPECT_EQ(std::memcmp(seen.data(), picture.pixels.data(), picture.pixels.size()), 0);
    EXPECT_EQ(std::memcmp(given.data(), picture.pixels.data(), picture.pixels.size()), 0);
  });
}

TEST(PassedRows, GiveErrorsOfReadingOn) {
  const test::Picture picture(4, 4);
  test::OneByOne rows(picture.view(), 2);
  int seen = 0;
  const auto see = [&](const Tile& tile) { seen += tile.height; };
  PassedRows passed(&rows, see);
  std::vector<uint8_t> out(4 * 12);
  EXPECT_TRUE(passed.Read(2, out.data(), 12).ok());
  EXPECT_EQ(passed.Read(2, out.data(), 12).error().message, "rows: end at 2");
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace mmcpp::resample
