// From pixels to patches whose channels stand last: normalise, convert and reorder in one pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/normalize.h"
#include "transforms/patchify.h"

namespace mmcpp::transforms {

/// A canvas cut into tiles, row by row, and each into patches, row by row; inside a patch (y, x,
/// channel). Tile `first` of a tensor is the canvas' upper left.
struct PixelPatches {
  int patch_size = 16;        ///< in pixels
  int height = 0, width = 0;  ///< of one tile, in patches
  int rows = 1, columns = 1;  ///< of the canvas, in tiles
  int first = 0;
};

/// Writes a canvas into a tensor [tiles, patches, 3 * patch_size^2], any band of patches at any
/// time.
class PixelPatchWriter {
 public:
  /// `out` is f32, bf16, f16 (through the table) or u8 (the bytes as they are). It may have more
  /// patches than a tile, which ClearRest sets to zero. kInvalidArgument unless the tiles fit and
  /// the dtype and the alignment are right.
  static Result<PixelPatchWriter> Make(const PixelPatches& layout, const NormTable& table,
                                       TensorView out);

  /// The canvas' pixels [y, y + patch_size) x [x, x + columns), all multiples of patch_size, from
  /// rows of RGB8. Different pixels may be written from different threads.
  void Write(int y, int x, int columns, const uint8_t* rows, size_t row_bytes) const;

  /// Zero for every patch behind those of a tile.
  void ClearRest() const;

 private:
  PixelPatches layout_;
  PixelMap map_;
  uint8_t* out_ = nullptr;
  size_t patch_bytes_ = 0;
  size_t tile_bytes_ = 0;
};

}  // namespace mmcpp::transforms
