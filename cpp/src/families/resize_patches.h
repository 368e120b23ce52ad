// Resize, normalise and patchify in one pass over a picture.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/normalize.h"
#include "transforms/padded_sizes.h"
#include "transforms/patchify.h"

namespace mmcpp::families {

/// What PatchifyBlocks(Resize(image, height, width, filter, convention), layout, table, out) gives,
/// without a resized picture in between: band by band, each while it is in cache.
Status ResizeToPatches(const ImageView& image, int height, int width, Filter filter,
                       Convention convention, const transforms::BlockPatches& layout,
                       const transforms::NormTable& table, TensorView out);

/// The same of rows as they come. An error of reading them leaves `out` half written.
Status ResizeToPatches(RowSource* rows, int height, int width, Filter filter, Convention convention,
                       const transforms::BlockPatches& layout, const transforms::NormTable& table,
                       TensorView out);

/// The same of a picture that is resized to `content` and then padded with black, below and to the
/// right, to `canvas`.
Status ResizeToPaddedPatches(const ImageView& image, const transforms::PaddedSize& size,
                             Filter filter, Convention convention,
                             const transforms::BlockPatches& layout,
                             const transforms::NormTable& table, TensorView out);

}  // namespace mmcpp::families
