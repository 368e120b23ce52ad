// Slices, with Python's roundings.
#include "transforms/slices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr int kMaxSide = 8192;

// Python's max(round(length / divisor) * divisor, divisor).
double RoundTo(double length, int divisor) {
  return std::max<double>(std::nearbyint(length / divisor) * divisor, divisor);
}

Size BestSize(double height, double width, const SliceRule& rule, bool enlarges) {
  const double side = rule.scale_resolution;
  if (enlarges || height * width > side * side) {
    const double ratio = width / height;
    height = std::trunc(side / std::sqrt(ratio));
    width = std::trunc(height * ratio);
  }
  return {static_cast<int>(RoundTo(height, rule.unit)),
          static_cast<int>(RoundTo(width, rule.unit))};
}

Grid GridOf(double height, double width, const SliceRule& rule) {
  const double side = rule.scale_resolution;
  const double areas = std::ceil(width * height / (side * side));
  const int wanted = static_cast<int>(std::min<double>(areas, rule.max_slices));
  if (wanted <= 1) return {0, 0};
  const double log_ratio = std::log(width / height);
  Grid best;
  double least = std::numeric_limits<double>::infinity();
  for (int count = wanted - 1; count <= std::min(wanted + 1, rule.max_slices); ++count) {
    if (count == 1) continue;
    for (int rows = 1; rows <= count; ++rows) {
      if (count % rows != 0) continue;
      const int columns = count / rows;
      const double error = std::fabs(log_ratio - std::log(static_cast<double>(columns) / rows));
      if (error < least || (error == least && rows > best.rows)) best = {rows, columns};
      least = std::min(least, error);
    }
  }
  return best;
}

}  // namespace

Result<SlicedSize> SlicePicture(int height, int width, const SliceRule& rule) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (rule.scale_resolution < 1 || rule.scale_resolution > kMaxSide || rule.unit < 1 ||
      rule.unit > kMaxSide || rule.max_slices < 1 || rule.max_slices > kMaxGridTiles) {
    return InvalidArgument("slices: values of the rule out of range");
  }
  SlicedSize sliced;
  sliced.grid = GridOf(height, width, rule);
  const bool whole = sliced.grid.count() == 0;
  sliced.source = BestSize(height, width, rule, whole);
  if (whole) return sliced;
  const int rows = sliced.grid.rows, columns = sliced.grid.columns;
  sliced.slice =
      BestSize(RoundTo(height, rows) / rows, RoundTo(width, columns) / columns, rule, true);
  return sliced;
}

}  // namespace mmcpp::transforms
