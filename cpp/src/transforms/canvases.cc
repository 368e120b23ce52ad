// Canvases, in the precision of the rule they are named after.
#include "transforms/canvases.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr int kMaxTile = 8192;

// The scale at which the picture touches two sides of the canvas.
double ScaleOf(int height, int width, int tile, Grid grid, CanvasRule rule) {
  const int canvas_height = grid.rows * tile;
  const int canvas_width = grid.columns * tile;
  if (rule == CanvasRule::kLlama4) {
    const float along_height = static_cast<float>(canvas_height) / static_cast<float>(height);
    const float along_width = static_cast<float>(canvas_width) / static_cast<float>(width);
    return static_cast<double>(std::min(along_height, along_width));
  }
  return std::min(static_cast<double>(canvas_height) / height,
                  static_cast<double>(canvas_width) / width);
}

// One side's way to the canvas. Where Llama 4 takes the canvas' side, that is a tensor, and so is
// the scale.
struct Side {
  int length = 0;
  int target = 0;
  bool is_float = false;

  double scale() const {
    if (!is_float) return static_cast<double>(target) / length;
    return static_cast<double>(static_cast<float>(target) / static_cast<float>(length));
  }
  int at(const Side& other) const {
    const double scale = other.scale();
    const float in_float = static_cast<float>(length) * static_cast<float>(scale);
    const double exact = other.is_float ? static_cast<double>(in_float) : length * scale;
    return std::max(static_cast<int>(std::min(std::floor(exact), static_cast<double>(target))), 1);
  }
};

Side SideOf(int length, int tile, int canvas, CanvasRule rule) {
  const int wanted = std::max(length, tile);
  return {length, std::min(wanted, canvas), rule == CanvasRule::kLlama4 && canvas < wanted};
}

}  // namespace

Result<Grid> CanvasGrid(int height, int width, int tile, int max_tiles, CanvasRule rule) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (tile <= 0 || tile > kMaxTile || max_tiles < 1 || max_tiles > kMaxGridTiles) {
    return InvalidArgument("tiles: up to " + std::to_string(max_tiles) + " of " +
                           std::to_string(tile) + " pixels cannot be chosen from");
  }
  Grid best;
  double best_scale = 0;
  for (int count = 1; count <= max_tiles; ++count) {
    for (int divisor = 1; divisor <= count; ++divisor) {
      if (count % divisor != 0) continue;
      const Grid grid = rule == CanvasRule::kCohere2 ? Grid{count / divisor, divisor}
                                                     : Grid{divisor, count / divisor};
      const double scale = ScaleOf(height, width, tile, grid, rule);
      const bool better = best_scale >= 1 ? scale >= 1 && scale < best_scale : scale > best_scale;
      if (better) {
        best = grid;
        best_scale = scale;
      }
    }
  }
  return best;
}

Size FitCanvas(int height, int width, int tile, Grid grid, CanvasRule rule) {
  const Side high = SideOf(height, tile, grid.rows * tile, rule);
  const Side wide = SideOf(width, tile, grid.columns * tile, rule);
  const bool in_float = high.is_float || wide.is_float;
  const bool by_width = in_float
                            ? static_cast<float>(wide.scale()) < static_cast<float>(high.scale())
                            : wide.scale() < high.scale();
  return by_width ? Size{high.at(wide), wide.target} : Size{high.target, wide.at(high)};
}

}  // namespace mmcpp::transforms
