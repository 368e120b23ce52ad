// Resampling of RGB8 pictures, bit for bit as a named reference does it.
#pragma once

#include <cstdint>

#include "mmcpp/export.h"
#include "mmcpp/image.h"
#include "mmcpp/status.h"

namespace mmcpp {

enum class Filter : uint8_t { kBox, kBilinear, kHamming, kBicubic, kLanczos };

/// Whose arithmetic a resize equals.
enum class Convention : uint8_t {
  kPillow13,  ///< Pillow 13.0.0 Image.resize: 22-bit weights; vertical pass first where that is
              ///< much cheaper
  kPillow12,  ///< Pillow up to 12.2.0: the same weights, horizontal pass first always
  kAtenU8,  ///< torch 2.13.0 interpolate(uint8, antialias=True) on CPU: 16-bit weights, horizontal
            ///< first
};

/// Parses "box", "bilinear", "hamming", "bicubic", "lanczos".
MMCPP_EXPORT Result<Filter> FilterFromName(const std::string& name);
/// Parses "pillow", "pillow12", "aten_u8".
MMCPP_EXPORT Result<Convention> ConventionFromName(const std::string& name);

/// Resamples to out_height x out_width; the same size gives a copy.
/// Errors: kInvalidArgument (an empty image or output, four channels, a filter the convention does
/// not have), kLimitExceeded (an output of more than 2^31 - 1 bytes per row or a weight table too
/// large), kOutOfMemory.
MMCPP_EXPORT Result<Image> Resize(const ImageView& image, int out_height, int out_width,
                                  Filter filter, Convention convention = Convention::kPillow13);

/// Resize into the caller's memory, whose sides are those of the result. It must not overlap the
/// image. After an error its contents are unspecified.
/// Errors: as Resize, and kInvalidArgument for memory without room.
MMCPP_EXPORT Status ResizeInto(const ImageView& image, const ImageSpan& out, Filter filter,
                               Convention convention = Convention::kPillow13);

}  // namespace mmcpp
