// From pixels to patch rows: normalise, convert and reorder in one pass.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/normalize.h"

namespace mmcpp::transforms {

/// Block order: patches by (grid_h/merge, grid_w/merge, merge, merge), inside a patch (channel,
/// copy, y, x).
struct BlockPatches {
  int patch_size = 14;
  int merge_size = 2;
  int copies = 2;  ///< identical temporal copies of a still picture
};

/// Writes grid_h*grid_w rows of 3*copies*patch_size^2 values into `out` (f32, bf16, f16: through
/// the table; u8: the bytes as they are). kInvalidArgument unless the image's sides are positive
/// multiples of patch_size*merge_size and out's shape and dtype fit.
Status PatchifyBlocks(const ImageView& image, const BlockPatches& layout, const NormTable& table,
                      TensorView out);

}  // namespace mmcpp::transforms
