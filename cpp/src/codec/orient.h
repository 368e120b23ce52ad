// Turning a picture as an EXIF orientation says.
#pragma once

#include "mmcpp/image.h"

namespace mmcpp::codec {

/// `image` turned and mirrored as Pillow 13's ImageOps.exif_transpose does for `orientation` 1..8.
/// 1 to 4 work in place; 5 to 8 exchange the sides, which takes a second picture's memory.
Result<Image> ApplyOrientation(Image image, int orientation);

}  // namespace mmcpp::codec
