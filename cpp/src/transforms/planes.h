// From pixels to channel planes: normalise, convert and split into tiles in one pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mmcpp/status.h"
#include "mmcpp/tensor.h"
#include "transforms/normalize.h"
#include "transforms/patchify.h"

namespace mmcpp::transforms {

/// A canvas cut into tiles, row-major: tile `first` of a tensor is its upper left. As strips all
/// tiles stand in one tensor of `strip_height` rows: bands of so many rows of a tile side by side,
/// and tile after tile, from column `strip_begin` on.
struct PlaneTiles {
  int height = 0, width = 0;  ///< of one tile, in pixels
  int rows = 1, columns = 1;  ///< of the canvas, in tiles
  int first = 0;
  int strip_height = 0;  ///< divides the height of a tile; 0: no strips
  int64_t strip_begin = 0;

  int64_t canvas_height() const { return int64_t{height} * rows; }
  int64_t canvas_width() const { return int64_t{width} * columns; }
  /// Columns that a tile takes as a strip.
  int64_t strip_width() const { return int64_t{height} / strip_height * width; }
};

/// A rectangle of a canvas, in pixels.
struct Box {
  int y = 0, x = 0;
  int height = 0, width = 0;
};

/// Writes a canvas into a tensor [n, 3, height, width], any part at any time.
class PlaneWriter {
 public:
  /// `out` is f32, bf16, f16 (through the table) or u8 (the bytes as they are). Its planes may be
  /// larger than a tile, which then stands at their upper left and leaves the rest as it is.
  /// kInvalidArgument unless the tiles fit and the dtype and the alignment are right.
  static Result<PlaneWriter> Make(const PlaneTiles& tiles, const NormTable& table, TensorView out);

  /// The canvas' pixels of `box` from rows of RGB8. Different pixels may be written from different
  /// threads. The box must be inside.
  void Write(const Box& box, const uint8_t* rows, size_t row_bytes) const;

  /// Every pixel of the canvas that is not in `box`, as if its bytes were `color`.
  void FillAround(const Box& box, const std::array<uint8_t, 3>& color) const;

 private:
  size_t OffsetOf(int y, int x) const;
  void WriteRow(int y, int x, int columns, const uint8_t* pixels) const;
  void FillRow(int y, int x, int columns, const std::array<uint8_t, 3>& color) const;

  PlaneTiles tiles_;
  PixelMap map_;
  uint8_t* out_ = nullptr;
  size_t row_bytes_ = 0;    // of a plane of the tensor
  size_t plane_bytes_ = 0;  // of the tensor
};

}  // namespace mmcpp::transforms
