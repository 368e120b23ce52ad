// A table of marks by rows and columns.
#include "families/tile_marks.h"

#include "base/ensure.h"

namespace mmcpp::families {
namespace {

constexpr uint64_t kMaxColumns = 4096;

}  // namespace

TileMarks TileMarks::Read(SpecReader* spec) {
  TileMarks marks;
  marks.fake = spec->Ints("fake_token_ids");
  marks.global = spec->Ints("global_token_ids");
  marks.row_column = spec->Ints("row_column_token_ids");
  marks.row_end = spec->Ints("row_end_token_ids");
  marks.last_row_end = spec->Ints("last_row_end_token_ids");
  marks.columns = static_cast<int>(spec->UIntOr("mark_columns", 1, kMaxColumns, 1));
  if (marks.row_column.size() % static_cast<size_t>(marks.columns) != 0) {
    spec->Fail("row_column_token_ids: " + std::to_string(marks.row_column.size()) +
               " are no rows of mark_columns " + std::to_string(marks.columns));
  }
  return marks;
}

Status TileMarks::Check(const TileGrid& grid) const {
  const auto along = static_cast<uint64_t>(columns);
  if (row_column.empty() || (grid.columns <= along && grid.rows <= row_column.size() / along)) {
    return Ok{};
  }
  return InvalidArgument("tiles: " + std::to_string(grid.rows) + "x" +
                         std::to_string(grid.columns) + " are more than there are marks");
}

std::vector<int64_t> TileMarks::At(size_t row, size_t column) const {
  if (row_column.empty()) return {};
  return {row_column[row * static_cast<size_t>(columns) + column]};
}

uint64_t TileMarks::CountOf(const TileGrid& grid) const {
  const uint64_t each = fake.size() + (row_column.empty() ? 0 : 1);
  return uint64_t{grid.rows} * grid.columns * each + (uint64_t{grid.rows} - 1) * row_end.size() +
         last_row_end.size();
}

}  // namespace mmcpp::families
