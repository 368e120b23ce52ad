// Grid selectors, in double as their references compute.
#include "transforms/tile_grids.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {

Result<Grid> ClosestRatioGrid(int height, int width, Size tile, int min_tiles, int max_tiles,
                              GridTie tie, int max_side) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (tile.height <= 0 || tile.width <= 0 || min_tiles < 1 || max_tiles > kMaxGridTiles) {
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
      if (grid.rows > max_side || columns > max_side) continue;
      const double difference = std::fabs(ratio - static_cast<double>(columns) / grid.rows);
      const bool wanted = tie == GridTie::kMoreTiles || area > half_tile * columns * grid.rows;
      const bool more = difference == best_difference && wanted;
      if (difference < best_difference || more) best = grid;
      if (difference < best_difference) best_difference = difference;
    }
  }
  return best;
}

Result<Size> BestResolution(int height, int width, const std::vector<Size>& resolutions) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  const int64_t pixels = int64_t{height} * width;
  Size best;
  int64_t most = 0;
  int64_t least_waste = std::numeric_limits<int64_t>::max();
  for (const Size& size : resolutions) {
    const double scale = std::min(static_cast<double>(size.width) / width,
                                  static_cast<double>(size.height) / height);
    const auto reduced_width = static_cast<int64_t>(width * scale);
    const auto reduced_height = static_cast<int64_t>(height * scale);
    const int64_t kept = std::min(reduced_width * reduced_height, pixels);
    const int64_t waste = int64_t{size.width} * size.height - kept;
    if (kept > most || (kept == most && waste < least_waste)) {
      most = kept;
      least_waste = waste;
      best = size;
    }
  }
  if (best.height > 0) return best;
  return InvalidArgument("tiles: there are no resolutions");
}

Size FitInside(int height, int width, Size canvas) {
  const double scale_width = static_cast<double>(canvas.width) / width;
  const double scale_height = static_cast<double>(canvas.height) / height;
  if (scale_width < scale_height) {
    const double fitted = std::ceil(height * scale_width);
    return {static_cast<int>(std::min<double>(fitted, canvas.height)), canvas.width};
  }
  const double fitted = std::ceil(width * scale_height);
  return {canvas.height, static_cast<int>(std::min<double>(fitted, canvas.width))};
}

}  // namespace mmcpp::transforms
