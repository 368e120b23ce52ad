// The covering grid, summed as Python up to 3.11 sums floats, without a correction.
#include "transforms/covering_grid.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr double kEnough = 0.9;

// Of a part of the picture, the pixels that are left when it is reduced to fit `side`.
double ShownPixels(int height, int width, int side) {
  const double longer = std::max(height, width);
  const double shorter = std::min(height, width);
  return longer > side ? side * (shorter / longer * side) : longer * shorter;
}

// The share of the picture's pixels that a grid shows. Parts are of one size but for the last ones
// along each side.
double ShownShare(int height, int width, const Grid& grid, int side) {
  const int row_height = height / grid.rows;
  const int column_width = width / grid.columns;
  double shown = 0;
  for (int row = 1; row <= grid.rows; ++row) {
    const int part_height = row < grid.rows ? row_height : height - (row - 1) * row_height;
    for (int column = 1; column <= grid.columns; ++column) {
      const int part_width =
          column < grid.columns ? column_width : width - (column - 1) * column_width;
      shown += ShownPixels(part_height, part_width, side);
    }
  }
  return shown / (static_cast<double>(height) * width);
}

}  // namespace

Result<Grid> CoveringGrid(int height, int width, int side, int max_tiles) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (side <= 0 || max_tiles < 1 || max_tiles > kMaxGridTiles) {
    return InvalidArgument("tiles: up to " + std::to_string(max_tiles) + " of " +
                           std::to_string(side) + " cannot be chosen from");
  }
  Grid best;
  double most = -1;
  for (int count = 1; count <= max_tiles && most <= kEnough; ++count) {
    for (int rows = 1; rows <= count; ++rows) {
      if (count % rows != 0) continue;
      const Grid grid = {rows, count / rows};
      const double share = ShownShare(height, width, grid, side);
      if (share > most) {
        most = share;
        best = grid;
      }
    }
  }
  return Grid{best.columns, best.rows};
}

}  // namespace mmcpp::transforms
