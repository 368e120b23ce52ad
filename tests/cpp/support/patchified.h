// Patches of a whole picture, band after band: what the one-pass code is compared with.
#pragma once

#include "base/ensure.h"
#include "transforms/patchify.h"

namespace mmcpp::test {

/// The patches of a picture; errors as BlockPatchWriter::Make.
inline Status Patchify(const ImageView& image, const transforms::BlockPatches& layout,
                       const transforms::NormTable& table, TensorView out) {
  MMCPP_ASSIGN(const auto writer,
               transforms::BlockPatchWriter::Make(image.height, image.width, layout, table, out));
  for (int y = 0; y < image.height; y += layout.unit()) {
    writer.Write(y, 0, image.width, image.row(y), image.row_bytes);
  }
  return Ok{};
}

}  // namespace mmcpp::test
