// smart_resize, with the roundings of the references it is named after.
#include "transforms/size_rules.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr double kMaxRatio = 200;

// The shortest decimal that reads back as `value`, never with an exponent.
std::string ShortestDecimal(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  return {text, end};
}

std::string SizeText(int64_t height, int64_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

// Sides are whole numbers of up to 2^53, held as double: exact.
struct Sides {
  double height, width;
};

// Python's round() is half to even, and so is nearbyint in the default rounding mode.
double RoundTo(double side, double factor) { return std::nearbyint(side / factor) * factor; }

Sides FitArea(double height, double width, double factor, uint64_t min_pixels, uint64_t max_pixels,
              SmartResizeRule rule) {
  const double early_floor = rule == SmartResizeRule::kReference ? factor : 0;
  const double late_floor = rule == SmartResizeRule::kTransformers ? factor : 0;
  const Sides rounded = {std::max(early_floor, RoundTo(height, factor)),
                         std::max(early_floor, RoundTo(width, factor))};
  // Below 1.5 * 2^31 each, so the product fits.
  const uint64_t area =
      static_cast<uint64_t>(rounded.height) * static_cast<uint64_t>(rounded.width);
  if (area > max_pixels) {
    const double beta = std::sqrt(height * width / static_cast<double>(max_pixels));
    return {std::max(late_floor, std::floor(height / beta / factor) * factor),
            std::max(late_floor, std::floor(width / beta / factor) * factor)};
  }
  if (area < min_pixels) {
    const double beta = std::sqrt(static_cast<double>(min_pixels) / (height * width));
    return {std::ceil(height * beta / factor) * factor, std::ceil(width * beta / factor) * factor};
  }
  return rounded;
}

}  // namespace

Result<Size> SmartResize(int height, int width, int factor, uint64_t min_pixels,
                         uint64_t max_pixels, SmartResizeRule rule) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (factor <= 0) {
    return InvalidArgument("smart_resize: factor must be positive, got " + std::to_string(factor));
  }
  if (max_pixels == 0 && rule == SmartResizeRule::kTransformers) {
    return InvalidArgument("smart_resize: max_pixels must be positive");  // ZeroDivisionError there
  }
  const double ratio =
      static_cast<double>(std::max(height, width)) / static_cast<double>(std::min(height, width));
  if (ratio > kMaxRatio) {
    return InvalidArgument("absolute aspect ratio must be smaller than 200, got " +
                           ShortestDecimal(ratio));
  }
  const double area = static_cast<double>(height) * static_cast<double>(width);
  if (area > static_cast<double>(uint64_t{1} << 53)) {
    return Error{ErrorCode::kLimitExceeded,
                 "smart_resize: " + SizeText(height, width) + " is more than 2^53 pixels"};
  }
  const Sides sides = FitArea(height, width, factor, min_pixels, max_pixels, rule);
  constexpr double kMaxSide = std::numeric_limits<int>::max();
  if (!(sides.height <= kMaxSide && sides.width <= kMaxSide)) {
    return Error{ErrorCode::kLimitExceeded, "smart_resize: " + SizeText(height, width) +
                                                " at min_pixels=" + std::to_string(min_pixels) +
                                                " needs a side over 2147483647"};
  }
  if (sides.height < 1 || sides.width < 1) {
    return InvalidArgument(
        "smart_resize: " + SizeText(height, width) + " degenerates to " +
        SizeText(static_cast<int64_t>(sides.height), static_cast<int64_t>(sides.width)) +
        " at max_pixels=" + std::to_string(max_pixels) +
        "; image is too thin for this pixel budget");
  }
  return Size{static_cast<int>(sides.height), static_cast<int>(sides.width)};
}

}  // namespace mmcpp::transforms
