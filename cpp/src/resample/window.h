// A part of a resized picture, in tiles as tiles.h has them for the whole; what lies outside is not
// computed.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "resample/tiles.h"

namespace mmcpp::resample {

/// Resizes `image` to out_height x out_width as Resize does and calls `fn` for tiles that together
/// are `window` of the result, each pixel once; a tile's y and x count from the window's corner.
/// Tiles are of any size. Errors as Resize, and kInvalidArgument for a window that is empty or not
/// inside; then some tiles may have been handed out.
Status ResizeWindow(const ImageView& image, int out_height, int out_width, Filter filter,
                    Convention convention, const Window& window, TileFn fn);

}  // namespace mmcpp::resample
