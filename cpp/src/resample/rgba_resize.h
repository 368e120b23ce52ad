// Resampling of RGBA8 pictures.
#pragma once

#include <memory>

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"

namespace mmcpp::resample {

/// Rows, of four channels, as Pillow 12 or 13 (by `convention`) resizes a picture of mode RGBA:
/// colours are multiplied by their alpha before and divided by it afterwards; the same size gives
/// the picture's own. Rows that are not in memory are read first, all of them. `rows` and their
/// pixels must outlive the result. A resize asks `rows` for every strip whether it is wanted.
/// Errors as Resize, those of reading, and kInvalidArgument for three channels.
Result<std::unique_ptr<RowSource>> ResizeRgba(RowSource* rows, int out_height, int out_width,
                                              Filter filter, Convention convention);

}  // namespace mmcpp::resample
