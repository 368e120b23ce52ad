// Resize, normalise and patchify in one pass over a picture.
#pragma once

#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "resample/canvas.h"
#include "transforms/normalize.h"
#include "transforms/patchify.h"

namespace mmcpp::families {

using resample::Canvas;

/// The patches of a canvas that Resize's result was pasted on, as BlockPatchWriter writes them,
/// without either of them in between: band by band, each while it is in cache. Errors as theirs,
/// and kInvalidArgument for a picture that is not within its canvas.
Status ResizeToPatches(const ImageView& image, const Canvas& canvas, Filter filter,
                       Convention convention, const transforms::BlockPatches& layout,
                       const transforms::NormTable& table, TensorView out);

/// The same of rows as they come. An error of reading them leaves `out` half written.
Status ResizeToPatches(RowSource* rows, const Canvas& canvas, Filter filter, Convention convention,
                       const transforms::BlockPatches& layout, const transforms::NormTable& table,
                       TensorView out);

}  // namespace mmcpp::families
