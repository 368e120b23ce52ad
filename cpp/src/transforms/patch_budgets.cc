// Budgets of patches, in double as their references compute.
#include "transforms/patch_budgets.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

std::string SizeText(int64_t height, int64_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

Status CheckBudget(int height, int width, int64_t patch, int max_patches) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (patch <= 0 || patch > kMaxPatchBudget || max_patches <= 0 || max_patches > kMaxPatchBudget) {
    return InvalidArgument("patches: at most " + std::to_string(max_patches) + " of " +
                           std::to_string(patch) + " pixels cannot be");
  }
  return Ok{};
}

}  // namespace

Result<Size> FitPatchCount(int height, int width, int patch, int max_patches) {
  MMCPP_TRY(CheckBudget(height, width, patch, max_patches));
  const auto patches_along = [patch](double scale, int side) {
    return std::max(1.0, std::ceil(side * scale / patch));
  };
  constexpr double kEpsilon = 1e-5;
  double low = kEpsilon / 10;
  double high = 100;
  while (high - low >= kEpsilon) {
    const double scale = (low + high) / 2;
    const bool fits = patches_along(scale, height) * patches_along(scale, width) <= max_patches;
    (fits ? low : high) = scale;
  }
  const double rows = patches_along(low, height);
  const double columns = patches_along(low, width);
  if (rows * columns > max_patches) {
    return InvalidArgument("patches: " + SizeText(height, width) + " cannot be reduced to " +
                           std::to_string(max_patches));
  }
  return Size{static_cast<int>(rows) * patch, static_cast<int>(columns) * patch};
}

Result<Size> FitPatchArea(int height, int width, int patch, int pool, int max_patches) {
  MMCPP_TRY(CheckBudget(height, width, patch, max_patches));
  const int64_t multiple = int64_t{patch} * pool;
  MMCPP_TRY(CheckBudget(height, width, multiple, max_patches));
  const double most_pixels = static_cast<double>(int64_t{max_patches} * patch * patch);
  const double pixels = static_cast<double>(int64_t{height} * width);
  const double factor = std::sqrt(most_pixels / pixels);
  const auto along = [&](int side) {
    return static_cast<int64_t>(std::floor(factor * side / static_cast<double>(multiple)));
  };
  int64_t rows = along(height);
  int64_t columns = along(width);
  if (rows == 0 && columns == 0) {
    return InvalidArgument("patches: " + SizeText(height, width) + " vanishes in a budget of " +
                           std::to_string(max_patches));
  }
  const int64_t longest = max_patches / (int64_t{pool} * pool);
  const auto of_ratio = [longest](double ratio) {
    return std::min(static_cast<int64_t>(std::floor(ratio)), longest);
  };
  if (rows == 0) {
    rows = 1;
    columns = of_ratio(static_cast<double>(width) / height);
  } else if (columns == 0) {
    columns = 1;
    rows = of_ratio(static_cast<double>(height) / width);
  }
  const int64_t used = rows * columns * pool * pool;
  if (used > max_patches || rows == 0 || columns == 0) {
    return InvalidArgument("patches: " + SizeText(height, width) + " needs " +
                           SizeText(rows * multiple, columns * multiple) +
                           ", which is not within " + std::to_string(max_patches) + " patches");
  }
  return Size{static_cast<int>(rows * multiple), static_cast<int>(columns * multiple)};
}

}  // namespace mmcpp::transforms
