// From a codec's native pixels to RGB8, with transparency as DecodeOptions asks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mmcpp/image.h"

namespace mmcpp::codec {

/// Channels of the pixels that a decoder writes for a picture with alpha.
inline int ChannelsOf(const DecodeOptions& options) {
  return options.alpha == AlphaMode::kKeep ? 4 : 3;
}

/// Writes `count` RGBA pixels by options.alpha and options.background: as RGB, or as they are if
/// alpha is kept. rgb == rgba is allowed.
void RgbaRowToRgb(const uint8_t* rgba, size_t count, const DecodeOptions& options, uint8_t* rgb);

/// Writes `count` gray pixels as RGB. The gray row may lie at the end of the RGB row.
void GrayRowToRgb(const uint8_t* gray, size_t count, uint8_t* rgb);

/// Writes `count` pixels of inverted CMYK (0 is full ink, as Adobe stores it and libjpeg gives it)
/// as RGB, by the rule of Pillow 13's convert().
void InvertedCmykRowToRgb(const uint8_t* cmyk, size_t count, uint8_t* rgb);

/// A colour with alpha, as one pixel: for palettes and transparent colours.
inline void RgbaToRgb(const uint8_t rgba[4], const DecodeOptions& options, uint8_t rgb[3]) {
  RgbaRowToRgb(rgba, 1, options, rgb);
}

}  // namespace mmcpp::codec
