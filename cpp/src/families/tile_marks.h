// Marks that stand between the tokens of tiles in the prompts of Idefics 3 and what came of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// None of them by default: `fake` before every tile's tokens and at the end, `row_column` of a
/// tile's place behind it, `global` in its place for the picture as a whole; ends of rows.
struct TileMarks {
  std::vector<int64_t> fake, global, row_column, row_end, last_row_end;
  int columns = 1;  ///< of row_column

  /// Keys: fake_token_ids, global_token_ids, row_column_token_ids, mark_columns for each row,
  /// row_end_token_ids and, behind the last row, last_row_end_token_ids.
  static TileMarks Read(SpecReader* spec);

  /// kInvalidArgument where the grid has more tiles than there are marks.
  Status Check(const TileGrid& grid) const;
  /// The mark of a tile's place; none if there are none.
  std::vector<int64_t> At(size_t row, size_t column) const;
  /// Tokens of all marks of the grid's tiles, each with its row's end.
  uint64_t CountOf(const TileGrid& grid) const;
};

}  // namespace mmcpp::families
