// Pure size arithmetic: which size a picture is resized to.
#pragma once

#include <cstdint>

#include "mmcpp/status.h"

namespace mmcpp::transforms {

struct Size {
  int height = 0;
  int width = 0;
};

/// smart_resize of transformers 5.24's Qwen2VL image processor: both sides become multiples of
/// `factor`, the area stays within [min_pixels, max_pixels] and the aspect ratio is kept as far as
/// that allows. kInvalidArgument for an empty picture, a ratio over 200, or a side that would
/// vanish.
Result<Size> SmartResize(int height, int width, int factor, uint64_t min_pixels,
                         uint64_t max_pixels);

}  // namespace mmcpp::transforms
