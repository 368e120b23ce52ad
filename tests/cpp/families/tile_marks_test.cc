// families/tile_marks.cc: counts, places and refusals.
#include "families/tile_marks.h"

#include <gtest/gtest.h>

#include <string>

namespace mmcpp::families {
namespace {

using Ids = std::vector<int64_t>;

SpecReader Reader(const std::string& keys) {
  return *SpecReader::Parse("{\"family\": \"x\"" + keys + "}", UnknownKeys::kError);
}

TEST(TileMarks, PlacesAndCounts) {
  SpecReader spec = Reader(
      ", \"fake_token_ids\": [1], \"row_column_token_ids\": [11, 12, 21, 22], "
      "\"mark_columns\": 2, \"row_end_token_ids\": [3], \"last_row_end_token_ids\": [4, 5]");
  const TileMarks marks = TileMarks::Read(&spec);
  ASSERT_TRUE(spec.Finish().ok());
  EXPECT_EQ(marks.At(1, 0), (Ids{21}));
  EXPECT_EQ(marks.CountOf({2, 2, true}), 4u * 2 + 1 + 2);
  EXPECT_TRUE(marks.Check({2, 2, true}).ok());
  EXPECT_EQ(marks.Check({3, 2, true}).error().message, "tiles: 3x2 are more than there are marks");
  EXPECT_FALSE(marks.Check({1, 3, true}).ok());
}

TEST(TileMarks, MayBeNone) {
  SpecReader spec = Reader("");
  const TileMarks marks = TileMarks::Read(&spec);
  ASSERT_TRUE(spec.Finish().ok());
  EXPECT_TRUE(marks.At(5, 5).empty());
  EXPECT_EQ(marks.CountOf({2, 3, true}), 0u);
  EXPECT_TRUE(marks.Check({100, 100, true}).ok());
}

TEST(TileMarks, RowsAreWhole) {
  SpecReader spec = Reader(", \"row_column_token_ids\": [1, 2, 3], \"mark_columns\": 2");
  TileMarks::Read(&spec);
  EXPECT_EQ(spec.Finish().error().message,
            "x spec: row_column_token_ids: 3 are no rows of mark_columns 2");
}

}  // namespace
}  // namespace mmcpp::families
