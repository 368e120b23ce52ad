// How a PNG's pixel stream is laid out: passes of rows, each row a filter byte and packed pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/png_chunks.h"

namespace mmcpp::codec {

inline size_t PngBitsPerPixel(const PngHeader& header) {
  constexpr uint8_t kChannels[] = {1, 0, 3, 1, 2, 0, 4};  // by colour type
  return static_cast<size_t>(header.depth) * kChannels[static_cast<size_t>(header.color)];
}

/// Rows that follow each other in the stream; pixel (y, x) of the pass is pixel
/// (y0 + y * dy, x0 + x * dx) of the picture.
struct PngPass {
  size_t y0 = 0, x0 = 0, dy = 1, dx = 1;
  size_t height = 0, width = 0;
  size_t row_bytes = 0;  ///< without the filter byte
};

/// The passes that have pixels, at most seven (Adam7), in stream order. An animation's first frame
/// has its own place, except interlaced, where Pillow 13 puts it into the top left corner.
inline std::vector<PngPass> PngPasses(const PngHeader& header) {
  const PngRegion region = header.region.value_or(PngRegion{0, 0, header.height, header.width});
  const size_t bits = PngBitsPerPixel(header);
  const auto bytes = [&](size_t pixels) { return (pixels * bits + 7) / 8; };
  if (!header.interlaced) {
    return {{region.y, region.x, 1, 1, region.height, region.width, bytes(region.width)}};
  }
  constexpr uint8_t kAdam7[7][4] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                    {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
  std::vector<PngPass> passes;
  for (const auto& [y0, x0, dy, dx] : kAdam7) {
    if (region.height <= y0 || region.width <= x0) continue;
    const size_t height = (region.height - y0 + dy - 1) / dy;
    const size_t width = (region.width - x0 + dx - 1) / dx;
    passes.push_back({y0, x0, dy, dx, height, width, bytes(width)});
  }
  return passes;
}

}  // namespace mmcpp::codec
