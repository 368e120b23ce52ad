// Resize, normalise and split into channel planes in one pass over a picture.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "families/spec.h"
#include "mmcpp/image.h"
#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/normalize.h"
#include "transforms/planes.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {

/// How bytes are resized and normalised: what the keys resample, pillow_generation, filter,
/// image_mean and image_std stand for; do_normalize false leaves values in [0, 1].
struct PixelRules {
  Filter filter = Filter::kBicubic;
  Convention convention = Convention::kAtenU8;
  transforms::NormTable table;

  /// Reads those keys, of which filter, image_mean and image_std are headed by `prefix`; `filter`
  /// is the one that holds when the key is absent, `aten_rule` that of torchvision's arithmetic.
  static PixelRules Read(SpecReader* spec, Filter filter = Filter::kBicubic,
                         transforms::NormRule aten_rule = transforms::NormRule::kFused,
                         const std::string& prefix = "");
};

/// Resizes `image` to `size` and puts it on the canvas of `tiles` with its corner at `top`, `left`;
/// negative ones cut it, as does a canvas that ends before it. Pixels of the canvas that are left
/// over are those of `color`. Equals Resize, crop and pad of the whole picture, then the table.
/// Errors as Resize and PlaneWriter::Make, and kInvalidArgument when nothing of it is on the
/// canvas.
Status ResizeToPlanes(const ImageView& image, transforms::Size size, const PixelRules& rules,
                      const transforms::PlaneTiles& tiles, TensorView out, int top = 0,
                      int left = 0, const std::array<uint8_t, 3>& color = {0, 0, 0});

/// The same of rows as they come, over the whole canvas. Errors as those, and those of reading,
/// which leave `out` half written.
Status ResizeToPlanes(RowSource* rows, const PixelRules& rules, const transforms::PlaneTiles& tiles,
                      TensorView out);

}  // namespace mmcpp::families
