// Resize a picture onto a canvas of one colour, normalise and patchify.
#pragma once

#include <array>
#include <cstdint>

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/normalize.h"
#include "transforms/patchify.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {

/// Where a resized picture lies on its canvas, in pixels.
struct Placement {
  transforms::Size canvas;
  transforms::Size picture;  ///< after the resize
  int top = 0, left = 0;
  std::array<uint8_t, 3> color = {0, 0, 0};  ///< of the canvas around it
};

/// Equals Resize, paste on the canvas, PatchifyBlocks; bicubic. Errors as those, and
/// kInvalidArgument for a picture that is not within its canvas.
Status ResizeToCanvasPatches(const ImageView& image, const Placement& placement,
                             Convention convention, const transforms::BlockPatches& layout,
                             const transforms::NormTable& table, TensorView out);

}  // namespace mmcpp::families
