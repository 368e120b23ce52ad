// Inputs of the benchmarks, made here so that nothing has to be downloaded; see bench/data.md.
#pragma once

#include <cmath>
#include <cstdint>

#include "mmcpp/image.h"

namespace mmcpp::bench {

/// Smooth shapes with fine noise on top, as a photograph has: compresses and filters like one.
inline Image Photo(int height, int width) {
  Image image = *Image::Allocate(height, width);
  uint32_t noise = 1;
  for (int y = 0; y < height; ++y) {
    uint8_t* row = image.row(y);
    for (int x = 0; x < width; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        noise = noise * 1664525 + 1013904223;
        const double wave = std::sin(x * 0.011 * (channel + 1)) + std::cos(y * 0.017 + channel);
        row[3 * x + channel] = static_cast<uint8_t>(124 + 55 * wave + (noise >> 24) / 16.0);
      }
    }
  }
  return image;
}

}  // namespace mmcpp::bench
