// Longest edges, in double as their references compute.
#include "transforms/longest_edge.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

int CeilTo(int side, int multiple) { return (side + multiple - 1) / multiple * multiple; }

}  // namespace

Result<Size> EvenLongestEdge(int height, int width, int edge) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (edge <= 0 || edge > kMaxLongestEdge) {
    return InvalidArgument("longest_edge: " + std::to_string(edge) + " is not within 1 to " +
                           std::to_string(kMaxLongestEdge));
  }
  const double ratio = static_cast<double>(width) / height;
  const bool wide = width >= height;
  int other = static_cast<int>(wide ? edge / ratio : edge * ratio);
  other = std::max(other + other % 2, 1);
  return wide ? Size{other, edge} : Size{edge, other};
}

Result<Size> CeilToTiles(Size size, int tile) {
  const double ratio = static_cast<double>(size.width) / size.height;
  const bool wide = size.width >= size.height;
  const int longer = CeilTo(wide ? size.width : size.height, tile);
  const int other = CeilTo(static_cast<int>(wide ? longer / ratio : longer * ratio), tile);
  if (other == 0) {
    return InvalidArgument("tiles: " + std::to_string(size.height) + "x" +
                           std::to_string(size.width) + " vanishes in tiles of " +
                           std::to_string(tile));
  }
  return wide ? Size{other, longer} : Size{longer, other};
}

Result<Size> RoundLongestEdge(int height, int width, int edge, int min_side) {
  if (height <= 0 || width <= 0 || edge <= 0 || min_side < 0) {
    return InvalidArgument("empty image");
  }
  const double scale = static_cast<double>(edge) / std::max(height, width);
  const auto along = [&](int side) {
    return std::max(static_cast<int>(std::nearbyint(side * scale)), min_side);
  };
  const Size size = {along(height), along(width)};
  if (size.height >= 1 && size.width >= 1) return size;
  return InvalidArgument("resize: " + std::to_string(height) + "x" + std::to_string(width) +
                         " vanishes in a square of " + std::to_string(edge));
}

}  // namespace mmcpp::transforms
