// Resize, normalise and cut into patches with channels last, in one pass over a picture.
#pragma once

#include "families/resize_planes.h"
#include "mmcpp/image.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/pixel_patches.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {

/// Resizes `image` to `size`, that of the canvas of `layout`, and writes its patches; zeros behind
/// those of each tile. Errors as Resize and PixelPatchWriter::Make.
Status ResizeToPixelPatches(const ImageView& image, transforms::Size size, const PixelRules& rules,
                            const transforms::PixelPatches& layout, TensorView out);

/// The same of rows as they come. An error of reading them leaves `out` half written.
Status ResizeToPixelPatches(RowSource* rows, transforms::Size size, const PixelRules& rules,
                            const transforms::PixelPatches& layout, TensorView out);

}  // namespace mmcpp::families
