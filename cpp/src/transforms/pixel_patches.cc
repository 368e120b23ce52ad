// Patches with their channels last. A patch's rows are as they are in the picture, so each goes
// through the table as a whole.
#include "transforms/pixel_patches.h"

#include <cstring>
#include <string>

#include "base/ensure.h"

namespace mmcpp::transforms {
namespace {

constexpr int64_t kChannels = 3;
constexpr int kMaxPatchSize = 4096;

}  // namespace

Result<PixelPatchWriter> PixelPatchWriter::Make(const PixelPatches& layout, const NormTable& table,
                                                TensorView out) {
  const auto& shape = out.shape;
  const int64_t tiles = int64_t{layout.rows} * layout.columns + layout.first;
  const int64_t patches = int64_t{layout.height} * layout.width;
  const int64_t values = kChannels * layout.patch_size * layout.patch_size;
  const bool fits = layout.patch_size > 0 && layout.patch_size <= kMaxPatchSize &&
                    layout.height > 0 && layout.width > 0 && layout.rows > 0 &&
                    layout.columns > 0 && layout.first >= 0 && shape.size() == 3 &&
                    shape[0] >= tiles && shape[1] >= patches && shape[2] == values;
  if (!fits) {
    return InvalidArgument("pixel patches: the output must have " + std::to_string(tiles) +
                           " tiles of " + std::to_string(patches) + " patches of " +
                           std::to_string(values) + " values");
  }
  if (reinterpret_cast<uintptr_t>(out.data) % DTypeSize(out.dtype) != 0) {
    return InvalidArgument("pixel patches: the output is not aligned to its elements");
  }
  PixelPatchWriter writer;
  MMCPP_ASSIGN(writer.map_, PixelMap::Make(table, out.dtype));
  writer.layout_ = layout;
  writer.out_ = static_cast<uint8_t*>(out.data);
  writer.patch_bytes_ = static_cast<size_t>(values) * DTypeSize(out.dtype);
  writer.tile_bytes_ = static_cast<size_t>(shape[1]) * writer.patch_bytes_;
  return writer;
}

void PixelPatchWriter::Write(int y, int x, int columns, const uint8_t* rows,
                             size_t row_bytes) const {
  const auto side = static_cast<size_t>(layout_.patch_size);
  const auto high = static_cast<size_t>(layout_.height);
  const auto wide = static_cast<size_t>(layout_.width);
  const size_t patch_row = static_cast<size_t>(y) / side;
  const size_t first_of_row =
      static_cast<size_t>(layout_.first) + patch_row / high * static_cast<size_t>(layout_.columns);
  const size_t first_column = static_cast<size_t>(x) / side;
  for (size_t i = 0; i < static_cast<size_t>(columns) / side; ++i) {
    const size_t column = first_column + i;
    const size_t tile = first_of_row + column / wide;
    const size_t patch = patch_row % high * wide + column % wide;
    uint8_t* dst = out_ + tile * tile_bytes_ + patch * patch_bytes_;
    const uint8_t* src = rows + i * side * static_cast<size_t>(kChannels);
    for (size_t k = 0; k < side; ++k, src += row_bytes, dst += patch_bytes_ / side) {
      map_.ApplyRgb(src, side, dst);
    }
  }
}

void PixelPatchWriter::ClearRest() const {
  const size_t used =
      static_cast<size_t>(layout_.height) * static_cast<size_t>(layout_.width) * patch_bytes_;
  const size_t tiles = static_cast<size_t>(layout_.rows) * static_cast<size_t>(layout_.columns);
  for (size_t tile = 0; tile < tiles; ++tile) {
    uint8_t* data = out_ + (static_cast<size_t>(layout_.first) + tile) * tile_bytes_;
    std::memset(data + used, 0, tile_bytes_ - used);
  }
}

}  // namespace mmcpp::transforms
