// Checks beyond presence and type.
#include "families/spec_parts.h"

#include <string>

#include "transforms/tile_grids.h"

namespace mmcpp::families {

std::array<uint8_t, 3> ReadColor(SpecReader* spec, const char* key) {
  std::array<uint8_t, 3> color = {};
  const std::vector<int64_t> values = spec->Ints(key);
  if (values.empty()) return color;
  for (size_t i = 0; i < color.size(); ++i) {
    if (values.size() != color.size() || values[i] < 0 || values[i] > 255) {
      spec->Fail(std::string(key) + ": expected three numbers from 0 to 255");
      break;
    }
    color[i] = static_cast<uint8_t>(values[i]);
  }
  return color;
}

std::vector<transforms::Size> ReadResolutions(SpecReader* spec, const char* key, int tile) {
  std::vector<transforms::Size> resolutions;
  for (const auto& [height, width] : spec->Pairs(key)) {
    const bool fits = height > 0 && width > 0 && height <= transforms::kMaxCanvasSide &&
                      width <= transforms::kMaxCanvasSide && height % tile == 0 &&
                      width % tile == 0;
    if (!fits) {
      spec->Fail(std::string(key) + ": " + std::to_string(height) + "x" + std::to_string(width) +
                 " cannot be cut into tiles of " + std::to_string(tile));
    }
    resolutions.push_back({static_cast<int>(height), static_cast<int>(width)});
  }
  if (resolutions.empty()) spec->Fail(std::string(key) + ": expected one at least");
  return resolutions;
}

}  // namespace mmcpp::families
