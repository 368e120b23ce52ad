// Pure size arithmetic: which size a picture is resized to.
#pragma once

#include <cstdint>
#include <optional>

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
  kGlm,        ///< transformers 5.24, Glm4v and Glm46V image processors: a small picture is first
               ///< enlarged until both sides reach `factor`; the bounds are on area times copies
  kPaddleOcr,  ///< transformers 5.24, PaddleOCRVL image processors: so enlarged side by side,
               ///< with rounding
  kKeye,       ///< Keye-VL's own code, as vLLM 0.33 has it: enlarged like kPaddleOcr, but a side of
               ///< a picture that is too large is not lifted to `factor`
  kMimo,       ///< sglang 0.5.23, MiMo-V2: a picture with a side under `factor` is first enlarged
               ///< until it has none, whatever its ratio; no side is lifted to `factor` afterwards
  kLfm2,       ///< transformers 5.24, Lfm2Vl image processors: a side is lifted to `factor` before
               ///< the area is looked at and where that is too large; any ratio
};

/// Both sides become multiples of `factor`, the area goes into [min_pixels, max_pixels] and the
/// aspect ratio is kept as far as that allows. All arithmetic is in double, as the references do.
/// kInvalidArgument for an empty picture, a ratio over 200, a side that would vanish;
/// kLimitExceeded for more than 2^53 pixels (where double stops being exact) or a side over 2^31
/// - 1. `copies` is for kGlm alone.
Result<Size> SmartResize(int height, int width, int factor, uint64_t min_pixels,
                         uint64_t max_pixels, SmartResizeRule rule = SmartResizeRule::kTransformers,
                         int copies = 1);

/// The shorter side becomes `edge`, the longer int(edge * longer / shorter). Equals the size rule
/// {"shortest_edge": edge} of transformers 5.24 (CLIP, DINOv2). kInvalidArgument for an empty
/// picture, kLimitExceeded for a result of more than 2^20 pixels along a side.
Result<Size> FitShortestEdge(int height, int width, int edge);

/// The picture reduced until no side is over `edge`, rounding down, then both sides rounded up to
/// multiples of `multiple`. Equals get_resize_output_image_size of transformers 5.24's Pixtral.
/// kInvalidArgument for an empty picture or one so thin that a side vanishes.
Result<Size> FitLongestEdge(int height, int width, int edge, int multiple);

/// Both sides scaled by `fraction`, halves rounded up, at least 1. `cap` limits how far the longer
/// side grows and never shrinks it. Equals scaled_dims of the crate sglang-mm 0.5.23 and
/// _scaled_image_dimensions of sglang 0.5.23's Inkling. kInvalidArgument for an empty picture or
/// NaN, kLimitExceeded for a side over 2^31 - 1.
Result<Size> ScaleLongestEdge(int height, int width, double fraction, std::optional<int64_t> cap);

}  // namespace mmcpp::transforms
