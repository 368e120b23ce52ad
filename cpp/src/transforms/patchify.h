// From pixels to patch rows: normalise, convert and reorder in one pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mmcpp/image.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "simd/kernels.h"
#include "transforms/normalize.h"

namespace mmcpp::transforms {

/// Block order: patches by (grid_h/merge, grid_w/merge, merge, merge), inside a patch (channel,
/// copy, y, x).
struct BlockPatches {
  int patch_size = 14;
  int merge_size = 2;
  int copies = 2;  ///< identical temporal copies of a still picture

  int unit() const { return patch_size * merge_size; }  ///< side of a block, in pixels
};

/// What bytes become in one element type: f32, bf16 or f16 through the table, u8 as they are.
class PixelMap {
 public:
  /// kInvalidArgument for another dtype. f32 entries are rounded to nearest even.
  static Result<PixelMap> Make(const NormTable& table, DType dtype);

  DType dtype() const { return dtype_; }
  /// dst[copy * n + i] = map(channel, src[i]); returns the end of what was written.
  uint8_t* Apply(const simd::Kernels& kernels, size_t channel, const uint8_t* src, size_t n,
                 size_t copies, uint8_t* dst) const;

 private:
  DType dtype_ = DType::kU8;
  std::array<simd::ByteTable, 3> tables_;
};

/// The patches of `blocks` neighbouring blocks, whose layout.unit() pixel rows start at src.
void WriteBlockBand(const simd::Kernels& kernels, const uint8_t* src, size_t src_row_bytes,
                    size_t blocks, const BlockPatches& layout, const PixelMap& map, uint8_t* dst);

/// Writes grid_h*grid_w rows of 3*copies*patch_size^2 values into `out` (f32, bf16, f16: through
/// the table; u8: the bytes as they are). kInvalidArgument unless the image's sides are positive
/// multiples of patch_size*merge_size and out's shape and dtype fit.
Status PatchifyBlocks(const ImageView& image, const BlockPatches& layout, const NormTable& table,
                      TensorView out);

}  // namespace mmcpp::transforms
