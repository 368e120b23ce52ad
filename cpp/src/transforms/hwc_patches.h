// From pixels to square patches that keep their channels interleaved, padded at the lower and the
// right edge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/normalize.h"
#include "transforms/patchify.h"

namespace mmcpp::transforms {

/// Patches row by row, inside a patch (copy, y, x, channel). There is always a column of patches
/// beyond the last whole one, even if it has padding alone: the rule of Inkling.
struct HwcPatches {
  int patch_size = 40;
  int copies = 1;  ///< identical temporal copies of a still picture

  int rows(int height) const {
    return static_cast<int>((int64_t{height} + patch_size - 1) / patch_size);
  }
  int columns(int width) const { return width / patch_size + 1; }
};

/// Writes a picture's patches into a tensor, any tile at any time.
class HwcPatchWriter {
 public:
  /// `out` is f32, bf16 or f16 [rows * columns, copies, patch_size, patch_size, 3]. Where the
  /// picture ends, elements are `padding` of their channel. kInvalidArgument unless the sizes are
  /// positive and out's shape, dtype and alignment fit.
  static Result<HwcPatchWriter> Make(int height, int width, const HwcPatches& layout,
                                     const NormTable& table, const std::array<float, 3>& padding,
                                     TensorView out);

  /// The picture's pixels [y, y + rows) x [x, x + columns). y and x are multiples of patch_size, a
  /// tile is as high as a patch and whole patches wide unless it ends where the picture does.
  /// Different tiles may be written from different threads.
  void Write(int y, int x, int rows, int columns, const uint8_t* pixels, size_t row_bytes) const;

 private:
  void Pad(size_t pixels, uint8_t* dst) const;

  HwcPatches layout_;
  PixelMap map_;
  std::array<uint32_t, 3> padding_ = {};  // bits of an element
  int width_ = 0;
  uint8_t* out_ = nullptr;
};

}  // namespace mmcpp::transforms
