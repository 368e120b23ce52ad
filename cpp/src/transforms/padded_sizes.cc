// Padded sizes, with the roundings of the references they are named after.
#include "transforms/padded_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr double kMaxSide = std::numeric_limits<int>::max();

std::string SizeText(int height, int width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Status CheckBudget(int height, int width, const PatchBudget& budget) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  const int64_t side = int64_t{budget.patch_size} * budget.merge_size;
  if (budget.patch_size <= 0 || budget.merge_size <= 0 || budget.max_patches == 0 ||
      budget.max_side <= 0 || side * budget.max_side > (int64_t{1} << 30)) {
    return InvalidArgument(
        "padded size: patch, merge and bounds must be positive and their sides "
        "at most 2^30 pixels");
  }
  return Ok{};
}

PaddedSize PadTo(int64_t height, int64_t width, int64_t factor) {
  return {{static_cast<int>(height), static_cast<int>(width)},
          {static_cast<int>(RoundUp(height, factor)), static_cast<int>(RoundUp(width, factor))}};
}

// The largest sides of whole blocks within the budget that a picture of these proportions reaches
// when its height is looked for by halving.
Size LargestWithin(int64_t height, int64_t width, int64_t factor, uint64_t blocks) {
  Size best = {static_cast<int>(factor), static_cast<int>(factor)};
  int64_t low = 1, high = height;
  while (low <= high) {
    const int64_t content_height = (low + high) / 2;
    // Python divides whole numbers to the nearest double.
    const double ideal = static_cast<double>(width * content_height) / static_cast<double>(height);
    const auto content_width = std::max<int64_t>(1, static_cast<int64_t>(std::floor(ideal)));
    const int64_t rows = RoundUp(content_height, factor) / factor;
    const int64_t columns = RoundUp(content_width, factor) / factor;
    if (static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns) <= blocks) {
      best = {static_cast<int>(rows * factor), static_cast<int>(columns * factor)};
      low = content_height + 1;
    } else {
      high = content_height - 1;
    }
  }
  return best;
}

}  // namespace

Result<PaddedSize> NavitSize(int height, int width, const PatchBudget& budget) {
  MMCPP_TRY(CheckBudget(height, width, budget));
  const int patch = budget.patch_size;
  const int rows = std::max(1, height / patch);
  const int columns = std::max(1, width / patch);
  const double patches = static_cast<double>(rows) * columns;
  const double longest = static_cast<double>(budget.max_side) * patch;
  const double scale = std::min({1.0, std::sqrt(static_cast<double>(budget.max_patches) / patches),
                                 longest / height, longest / width});
  const auto fit = [&](int side) {
    const auto scaled = static_cast<int64_t>(side * scale);
    return std::min(std::max<int64_t>(1, scaled), static_cast<int64_t>(longest));
  };
  return PadTo(fit(height), fit(width), int64_t{patch} * budget.merge_size);
}

Result<PaddedSize> KimiVlSize(int height, int width, const PatchBudget& budget) {
  MMCPP_TRY(CheckBudget(height, width, budget));
  const int patch = budget.patch_size;
  const uint64_t patches =
      static_cast<uint64_t>(height / patch) * static_cast<uint64_t>(width / patch);
  int64_t fitted_height = height, fitted_width = width;
  if (patches > budget.max_patches) {
    const double scale =
        std::sqrt(static_cast<double>(budget.max_patches) / static_cast<double>(patches));
    fitted_height = static_cast<int64_t>(height * scale);
    fitted_width = static_cast<int64_t>(width * scale);
  }
  const int64_t factor = int64_t{patch} * budget.merge_size;
  const int64_t longest = RoundUp(std::max(fitted_height, fitted_width), factor);
  if (fitted_height == 0 || fitted_width == 0 || longest / patch >= budget.max_side) {
    return InvalidArgument("padded size: " + SizeText(height, width) +
                           " becomes a side of 0 or of " + std::to_string(budget.max_side) +
                           " patches and more");
  }
  return PadTo(fitted_height, fitted_width, factor);
}

Result<PaddedSize> Glm5NextSize(int height, int width, int factor, int frames, uint64_t min_pixels,
                                uint64_t max_pixels) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (factor <= 0 || frames <= 0) return InvalidArgument("padded size: factor and frames of 0");
  const double pixels = static_cast<double>(height) * width * frames;
  if (pixels > static_cast<double>(uint64_t{1} << 50)) {
    return Error{ErrorCode::kLimitExceeded,
                 "padded size: " + SizeText(height, width) + " is more than 2^50 pixels"};
  }
  const uint64_t block =
      static_cast<uint64_t>(factor) * static_cast<uint64_t>(factor) * static_cast<uint64_t>(frames);
  const auto blocks = [&](int64_t h, int64_t w) {
    return static_cast<uint64_t>(h / factor) * static_cast<uint64_t>(w / factor);
  };
  int64_t target_height = RoundUp(height, factor), target_width = RoundUp(width, factor);
  const uint64_t least = min_pixels / block + (min_pixels % block == 0 ? 0 : 1);
  if (blocks(target_height, target_width) < least) {
    const double scale = std::sqrt(static_cast<double>(min_pixels) / pixels);
    const double enlarged_height = std::ceil(height * scale);
    const double enlarged_width = std::ceil(width * scale);
    if (!(std::max(enlarged_height, enlarged_width) < kMaxSide - factor)) {
      return Error{ErrorCode::kLimitExceeded,
                   "padded size: " + SizeText(height, width) + " needs a side over 2147483647"};
    }
    target_height = RoundUp(std::max<int64_t>(1, static_cast<int64_t>(enlarged_height)), factor);
    target_width = RoundUp(std::max<int64_t>(1, static_cast<int64_t>(enlarged_width)), factor);
  }
  const uint64_t most = max_pixels / block;
  if (blocks(target_height, target_width) > most) {
    if (most == 0) {
      return InvalidArgument("padded size: max_pixels " + std::to_string(max_pixels) +
                             " is below one block of " + std::to_string(block));
    }
    const Size largest = LargestWithin(height, width, factor, most);
    target_height = largest.height;
    target_width = largest.width;
  }
  double scale = std::min(static_cast<double>(target_height) / height,
                          static_cast<double>(target_width) / width);
  if (pixels >= static_cast<double>(min_pixels)) scale = std::min(1.0, scale);
  const auto fit = [&](int side, int64_t target) {
    const auto scaled = static_cast<int64_t>(std::floor(side * scale));
    return static_cast<int>(std::max<int64_t>(1, std::min(target, scaled)));
  };
  return PaddedSize{{fit(height, target_height), fit(width, target_width)},
                    {static_cast<int>(target_height), static_cast<int>(target_width)}};
}

Result<Size> ContainSize(int height, int width, Size canvas) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  // Python's round() is half to even, and so is nearbyint in the default rounding mode.
  const double ratio = static_cast<double>(width) / height;
  const double wanted = static_cast<double>(canvas.width) / canvas.height;
  Size size = canvas;
  if (ratio > wanted) {
    size.height =
        static_cast<int>(std::nearbyint(static_cast<double>(height) / width * canvas.width));
  } else if (ratio < wanted) {
    size.width = static_cast<int>(std::nearbyint(ratio * canvas.height));
  }
  if (size.height >= 1 && size.width >= 1) return size;
  return InvalidArgument("resize: " + SizeText(height, width) + " vanishes on a canvas of " +
                         SizeText(canvas.height, canvas.width));
}

}  // namespace mmcpp::transforms
