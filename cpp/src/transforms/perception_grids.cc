// Grids in the order of a dictionary of ratios, in double as Python computes.
#include "transforms/perception_grids.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mmcpp::transforms {
namespace {

double RatioOf(const Grid& grid) { return static_cast<double>(grid.columns) / grid.rows; }

// The shorter side of the picture when it is fitted into a canvas of the grid.
double ShorterSide(int height, int width, int tile, const Grid& grid) {
  const double ratio = static_cast<double>(width) / height;
  const double along_width = static_cast<double>(int64_t{grid.columns} * tile) / width;
  const double along_height = static_cast<double>(int64_t{grid.rows} * tile) / height;
  const double scale = std::min(along_width, along_height);
  if (ratio > 1) return std::floor(scale * width / ratio);
  const double fitted = scale * height;
  return ratio < 1 ? std::floor(fitted * ratio) : fitted;
}

// Wide: the largest ratio that is no larger; else the smallest that is larger.
Grid Closest(double ratio, const std::vector<Grid>& grids) {
  const bool wide = ratio >= 1;
  double best_ratio = 1;
  Grid best;
  for (const Grid& grid : grids) {
    const double own = RatioOf(grid);
    const bool allowed = wide ? own <= ratio : own > ratio;
    const bool closer = allowed && (wide ? own > best_ratio : own < best_ratio);
    const bool more = own == best_ratio && grid.count() > best.count();
    if (closer || more) {
      best_ratio = own;
      best = grid;
    }
  }
  return best;
}

}  // namespace

std::vector<Grid> PerceptionGrids(int max_tiles) {
  std::vector<std::vector<Grid>> by_ratio;
  for (int count = max_tiles; count >= 1; --count) {
    for (int columns = 1; columns <= count; ++columns) {
      if (count % columns != 0) continue;
      const Grid grid = {count / columns, columns};
      const auto same = std::find_if(by_ratio.begin(), by_ratio.end(), [&](const auto& group) {
        return RatioOf(group[0]) == RatioOf(grid);
      });
      if (same == by_ratio.end()) {
        by_ratio.push_back({grid});
      } else {
        same->push_back(grid);
      }
    }
  }
  std::vector<Grid> grids;
  for (const auto& group : by_ratio) grids.insert(grids.end(), group.begin(), group.end());
  return grids;
}

Grid PerceptionGrid(int height, int width, int tile, const std::vector<Grid>& grids) {
  Grid best;
  double longest = -1;
  for (const Grid& grid : grids) {
    if (int64_t{grid.columns} * tile < width || int64_t{grid.rows} * tile < height) continue;
    const double shorter = ShorterSide(height, width, tile, grid);
    if (shorter >= longest) {
      longest = shorter;
      best = grid;
    }
  }
  return longest >= 0 ? best : Closest(static_cast<double>(width) / height, grids);
}

}  // namespace mmcpp::transforms
