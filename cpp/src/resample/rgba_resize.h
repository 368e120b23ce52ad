// Resampling of RGBA8 pictures.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"

namespace mmcpp::resample {

/// As Pillow 12 or 13 (by `convention`) resizes a picture of mode RGBA: colours are multiplied by
/// their alpha before and divided by it afterwards; the same size gives a copy. Four channels.
/// All rows are read; those that are in memory are asked for every strip whether they are wanted.
/// Errors as Resize, those of reading, and kInvalidArgument for three channels.
Result<Image> ResizeRgba(RowSource* rows, int out_height, int out_width, Filter filter,
                         Convention convention);

}  // namespace mmcpp::resample
