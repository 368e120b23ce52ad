// Resampling of RGBA8 pictures.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"

namespace mmcpp::resample {

/// As Pillow 12 or 13 (by `convention`) resizes a picture of mode RGBA: colours are multiplied by
/// their alpha before and divided by it afterwards; the same size gives a copy. Four channels.
/// Errors as Resize, and kInvalidArgument for three channels.
Result<Image> ResizeRgba(const ImageView& image, int out_height, int out_width, Filter filter,
                         Convention convention);

}  // namespace mmcpp::resample
