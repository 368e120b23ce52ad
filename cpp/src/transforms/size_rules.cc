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
              SmartResizeRule rule, uint64_t copies) {
  const bool reference = rule == SmartResizeRule::kReference;
  const double early_floor = reference || rule == SmartResizeRule::kLfm2 ? factor : 0;
  const bool lifted =
      !reference && rule != SmartResizeRule::kKeye && rule != SmartResizeRule::kMimo;
  const double late_floor = lifted ? factor : 0;
  const Sides rounded = {std::max(early_floor, RoundTo(height, factor)),
                         std::max(early_floor, RoundTo(width, factor))};
  // Below 1.5 * 2^31 each, so the product fits.
  const uint64_t area =
      static_cast<uint64_t>(rounded.height) * static_cast<uint64_t>(rounded.width);
  const double all_pixels = static_cast<double>(copies) * height * width;
  if (area > max_pixels / copies) {  // as area * copies > max_pixels
    const double beta = std::sqrt(all_pixels / static_cast<double>(max_pixels));
    return {std::max(late_floor, std::floor(height / beta / factor) * factor),
            std::max(late_floor, std::floor(width / beta / factor) * factor)};
  }
  if (area < min_pixels / copies + (min_pixels % copies == 0 ? 0 : 1)) {
    const double beta = std::sqrt(static_cast<double>(min_pixels) / all_pixels);
    return {std::ceil(height * beta / factor) * factor, std::ceil(width * beta / factor) * factor};
  }
  return rounded;
}

// A picture smaller than `factor` along a side, enlarged as the rule says.
Sides Enlarge(Sides sides, double factor, SmartResizeRule rule) {
  if (rule == SmartResizeRule::kGlm && (sides.height < factor || sides.width < factor)) {
    const double scale = std::max(factor / sides.height, factor / sides.width);
    return {std::floor(sides.height * scale), std::floor(sides.width * scale)};
  }
  if (rule == SmartResizeRule::kMimo && std::min(sides.height, sides.width) < factor) {
    const double scale = factor / std::min(sides.height, sides.width);
    return {std::nearbyint(sides.height * scale), std::nearbyint(sides.width * scale)};
  }
  if (rule == SmartResizeRule::kPaddleOcr || rule == SmartResizeRule::kKeye) {
    if (sides.height < factor) {
      sides = {factor, std::nearbyint(sides.width * factor / sides.height)};
    }
    if (sides.width < factor) {
      sides = {std::nearbyint(sides.height * factor / sides.width), factor};
    }
  }
  return sides;
}

}  // namespace

Result<Size> SmartResize(int height, int width, int factor, uint64_t min_pixels,
                         uint64_t max_pixels, SmartResizeRule rule, int copies) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (factor <= 0) {
    return InvalidArgument("smart_resize: factor must be positive, got " + std::to_string(factor));
  }
  if (copies <= 0 || (copies != 1 && rule != SmartResizeRule::kGlm)) {
    return InvalidArgument("smart_resize: copies " + std::to_string(copies));
  }
  if (max_pixels == 0 && rule != SmartResizeRule::kReference) {
    return InvalidArgument("smart_resize: max_pixels must be positive");  // ZeroDivisionError there
  }
  const Sides given =
      Enlarge({static_cast<double>(height), static_cast<double>(width)}, factor, rule);
  const double ratio = std::max(given.height, given.width) / std::min(given.height, given.width);
  const bool any_ratio =
      rule == SmartResizeRule::kLfm2 ||
      (rule == SmartResizeRule::kMimo && std::min(height, width) < factor);  // it was enlarged
  if (ratio > kMaxRatio && !any_ratio) {
    return InvalidArgument("absolute aspect ratio must be smaller than 200, got " +
                           ShortestDecimal(ratio));
  }
  const double area = given.height * given.width * copies;
  if (area > static_cast<double>(uint64_t{1} << 53)) {
    return Error{ErrorCode::kLimitExceeded,
                 "smart_resize: " + SizeText(height, width) + " is more than 2^53 pixels"};
  }
  const Sides sides = FitArea(given.height, given.width, factor, min_pixels, max_pixels, rule,
                              static_cast<uint64_t>(copies));
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

Result<Size> FitShortestEdge(int height, int width, int edge) {
  if (height <= 0 || width <= 0 || edge <= 0) return InvalidArgument("empty image");
  const int64_t shorter = std::min(height, width);
  const int64_t longer = std::max(height, width);
  constexpr int64_t kMaxLonger = 1 << 20;
  const int64_t resized = edge * longer / shorter;
  if (resized > kMaxLonger) {
    return Error{ErrorCode::kLimitExceeded, "shortest_edge: " + SizeText(height, width) + " at " +
                                                std::to_string(edge) + " needs a side of " +
                                                std::to_string(resized)};
  }
  const int other = static_cast<int>(resized);
  return height <= width ? Size{edge, other} : Size{other, edge};
}

Result<Size> FitLongestEdge(int height, int width, int edge, int multiple) {
  if (height <= 0 || width <= 0 || edge <= 0 || multiple <= 0) {
    return InvalidArgument("empty image");
  }
  const double ratio =
      std::max(static_cast<double>(height) / edge, static_cast<double>(width) / edge);
  const auto fit = [&](int side) -> int64_t {
    const int64_t reduced = ratio > 1 ? static_cast<int64_t>(std::floor(side / ratio)) : side;
    return (reduced + multiple - 1) / multiple * multiple;
  };
  const int64_t fitted_height = fit(height);
  const int64_t fitted_width = fit(width);
  constexpr int64_t kMaxSide = 1 << 20;
  if (fitted_height == 0 || fitted_width == 0 || std::max(fitted_height, fitted_width) > kMaxSide) {
    return InvalidArgument("longest_edge: " + SizeText(height, width) + " at " +
                           std::to_string(edge) + " degenerates to " +
                           SizeText(fitted_height, fitted_width));
  }
  return Size{static_cast<int>(fitted_height), static_cast<int>(fitted_width)};
}

Result<Size> ScaleLongestEdge(int height, int width, double fraction, std::optional<int64_t> cap) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  if (std::isnan(fraction)) return InvalidArgument("rescale: the fraction is no number");
  const double longest = std::max(height, width);
  double target = longest * fraction;
  if (cap) target = std::min(target, std::max(static_cast<double>(*cap), longest));
  const double ratio = target / longest;
  if (ratio == 1) return Size{height, width};
  const auto scale = [&](int side) { return std::max(1.0, std::floor(side * ratio + 0.5)); };
  const Sides scaled = {scale(height), scale(width)};
  constexpr double kMaxSide = std::numeric_limits<int>::max();
  if (!(scaled.height <= kMaxSide && scaled.width <= kMaxSide)) {
    return LimitExceeded("rescale: " + SizeText(height, width) + " by " + std::to_string(fraction) +
                         " needs a side over 2147483647");
  }
  return Size{static_cast<int>(scaled.height), static_cast<int>(scaled.width)};
}

}  // namespace mmcpp::transforms
