// Grid selectors, in double as their references compute.
#include "transforms/tile_grids.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {

Result<Grid> ClosestRatioGrid(int height, int width, Size tile, int min_tiles, int max_tiles) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (tile.height <= 0 || tile.width <= 0 || min_tiles < 1 || max_tiles > kMaxGridTiles ||
      min_tiles > max_tiles) {
    return InvalidArgument("tiles: " + std::to_string(min_tiles) + " to " +
                           std::to_string(max_tiles) + " of " + std::to_string(tile.height) + "x" +
                           std::to_string(tile.width) + " cannot be chosen from");
  }
  const double ratio = static_cast<double>(width) / height;
  const double area = static_cast<double>(width) * height;
  const double half_tile = 0.5 * tile.height * tile.width;
  Grid best;
  double best_difference = std::numeric_limits<double>::infinity();
  for (int count = min_tiles; count <= max_tiles; ++count) {
    for (int columns = 1; columns <= count; ++columns) {
      if (count % columns != 0) continue;
      const Grid grid = {count / columns, columns};
      const double difference = std::fabs(ratio - static_cast<double>(columns) / grid.rows);
      const bool more = difference == best_difference && area > half_tile * columns * grid.rows;
      if (difference < best_difference || more) best = grid;
      if (difference < best_difference) best_difference = difference;
    }
  }
  return best;
}

}  // namespace mmcpp::transforms
