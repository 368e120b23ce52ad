// Pure size arithmetic: which size a picture is resized to.
#pragma once

#include <cstdint>

#include "mmcpp/status.h"

namespace mmcpp::transforms {

struct Size {
  int height = 0;
  int width = 0;
};

/// Whose smart_resize; they differ for thin pictures and small ones only.
enum class SmartResizeRule : uint8_t {
  kTransformers,  ///< transformers 5.24, Qwen2VL image processors: a side is lifted to `factor`
                  ///< when the picture is too large
  kReference,     ///< the crate sglang-mm 0.5.23: a side is lifted to `factor` before the area is
                  ///< looked at, and not afterwards, so that a thin picture may vanish (an error)
};

/// Both sides become multiples of `factor`, the area goes into [min_pixels, max_pixels] and the
/// aspect ratio is kept as far as that allows. All arithmetic is in double, as the references do.
/// kInvalidArgument for an empty picture, a ratio over 200, a side that would vanish;
/// kLimitExceeded for more than 2^53 pixels (where double stops being exact) or a side over 2^31
/// - 1.
Result<Size> SmartResize(int height, int width, int factor, uint64_t min_pixels,
                         uint64_t max_pixels,
                         SmartResizeRule rule = SmartResizeRule::kTransformers);

}  // namespace mmcpp::transforms
