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
  int copies = 2;             ///< identical temporal copies of a still picture
  bool copies_first = false;  ///< inside a patch (copy, channel, y, x)

  int unit() const { return patch_size * merge_size; }  ///< side of a block, in pixels
};

/// What bytes become in one element type: f32, bf16 or f16 through the table, u8 as they are.
class PixelMap {
 public:
  /// kInvalidArgument for another dtype. f32 entries are rounded to nearest even.
  static Result<PixelMap> Make(const NormTable& table, DType dtype);

  DType dtype() const { return dtype_; }
  /// dst[copy * n + i] = map(channel, src[i]).
  void Apply(size_t channel, const uint8_t* src, size_t n, size_t copies, uint8_t* dst) const;

  /// dst[3 * i + channel] = map(channel, src[3 * i + channel]); dst is aligned to its element.
  void ApplyRgb(const uint8_t* src, size_t pixels, uint8_t* dst) const;

  /// A tile of RGB8 rows to three planes: dst[(channel * rows + y) * columns + x].
  void Split(const uint8_t* src, size_t src_row_bytes, size_t rows, size_t columns,
             uint8_t* dst) const {
    kernels_->split_rgb8(src, src_row_bytes, rows, columns, dst);
  }

 private:
  const simd::Kernels* kernels_ = nullptr;
  DType dtype_ = DType::kU8;
  bool same_tables_ = true;
  std::array<simd::ByteTable, 3> tables_;
};

/// Writes the patch rows of a picture into a tensor, any band of blocks at any time.
class BlockPatchWriter {
 public:
  /// For a picture of height x width. `out` has grid_h*grid_w rows of 3*copies*patch_size^2 values,
  /// or of as many in [3*copies, patch_size, patch_size]
  /// (f32, bf16, f16: through the table; u8: the bytes as they are). kInvalidArgument unless the
  /// sides are positive multiples of layout.unit() and out's shape, dtype and alignment fit.
  static Result<BlockPatchWriter> Make(int height, int width, const BlockPatches& layout,
                                       const NormTable& table, TensorView out);

  /// The picture's pixels [y, y + unit) x [x, x + columns), all multiples of layout.unit().
  /// Different pixels may be written from different threads.
  void Write(int y, int x, int columns, const uint8_t* rows, size_t row_bytes) const;

 private:
  void WritePatch(const uint8_t* src, size_t src_row_bytes, uint8_t* dst) const;
  void WriteCopies(const uint8_t* src, size_t src_row_bytes, size_t copies, uint8_t* dst) const;

  BlockPatches layout_;
  PixelMap map_;
  uint8_t* out_ = nullptr;
  size_t band_bytes_ = 0;  // of output, per unit() pixel rows
  size_t block_bytes_ = 0;
  size_t patch_bytes_ = 0;
};

}  // namespace mmcpp::transforms
