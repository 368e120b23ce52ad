// Interleaved patches: each row of a patch goes through the tables straight to its place.
#include "transforms/hwc_patches.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/ensure.h"
#include "base/half.h"

namespace mmcpp::transforms {
namespace {

constexpr size_t kChannels = 3;

Status CheckOut(int height, int width, const HwcPatches& layout, const TensorView& out) {
  if (height <= 0 || width <= 0 || layout.patch_size <= 0 || layout.copies <= 0) {
    return InvalidArgument("patchify: sizes must be positive, got " + std::to_string(height) + "x" +
                           std::to_string(width) + ", patch_size " +
                           std::to_string(layout.patch_size) + ", copies " +
                           std::to_string(layout.copies));
  }
  const std::array<int64_t, 5> shape = {int64_t{layout.rows(height)} * layout.columns(width),
                                        layout.copies, layout.patch_size, layout.patch_size, 3};
  if (!std::equal(shape.begin(), shape.end(), out.shape.begin(), out.shape.end())) {
    return InvalidArgument("patchify: the output must be " + std::to_string(shape[0]) +
                           " patches of " + std::to_string(layout.copies) + "x" +
                           std::to_string(layout.patch_size) + "x" +
                           std::to_string(layout.patch_size) + "x3");
  }
  if (out.dtype == DType::kU8) {
    return Unsupported("patchify: uint8 features have no value for padding");
  }
  if (reinterpret_cast<uintptr_t>(out.data) % DTypeSize(out.dtype) != 0) {
    return InvalidArgument("patchify: the output is not aligned to its elements");
  }
  return Ok{};
}

template <class Element>
void Fill(const std::array<uint32_t, kChannels>& bits, size_t pixels, uint8_t* dst) {
  auto* elements = reinterpret_cast<Element*>(dst);
  for (size_t i = 0; i < pixels * kChannels; ++i) {
    elements[i] = static_cast<Element>(bits[i % kChannels]);
  }
}

}  // namespace

Result<HwcPatchWriter> HwcPatchWriter::Make(int height, int width, const HwcPatches& layout,
                                            const NormTable& table,
                                            const std::array<float, 3>& padding, TensorView out) {
  MMCPP_TRY(CheckOut(height, width, layout, out));
  HwcPatchWriter writer;
  MMCPP_ASSIGN(writer.map_, PixelMap::Make(table, out.dtype));
  for (size_t channel = 0; channel < kChannels; ++channel) {
    writer.padding_[channel] = ElementBits(padding[channel], out.dtype);
  }
  writer.layout_ = layout;
  writer.width_ = width;
  writer.out_ = static_cast<uint8_t*>(out.data);
  return writer;
}

void HwcPatchWriter::Pad(size_t pixels, uint8_t* dst) const {
  if (map_.dtype() == DType::kF32) {
    Fill<uint32_t>(padding_, pixels, dst);
  } else {
    Fill<uint16_t>(padding_, pixels, dst);
  }
}

void HwcPatchWriter::Write(int y, int x, int rows, int columns, const uint8_t* pixels,
                           size_t row_bytes) const {
  const size_t side = static_cast<size_t>(layout_.patch_size);
  const size_t pixel_bytes = kChannels * DTypeSize(map_.dtype());
  const size_t copy_bytes = side * side * pixel_bytes;
  const size_t copies = static_cast<size_t>(layout_.copies);
  const size_t patches_across = static_cast<size_t>(layout_.columns(width_));
  const size_t first = static_cast<size_t>(x) / side;
  const size_t tile_width = static_cast<size_t>(columns);
  const size_t end = x + columns == width_ ? patches_across : first + tile_width / side;
  for (size_t j = first; j < end; ++j) {
    const size_t left = (j - first) * side;
    const size_t filled = left < tile_width ? std::min(side, tile_width - left) : 0;
    uint8_t* patch =
        out_ + (static_cast<size_t>(y) / side * patches_across + j) * copies * copy_bytes;
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      uint8_t* dst = patch + row * side * pixel_bytes;
      map_.ApplyRgb(pixels + row * row_bytes + left * kChannels, filled, dst);
      Pad(side - filled, dst + filled * pixel_bytes);
    }
    Pad((side - static_cast<size_t>(rows)) * side,
        patch + static_cast<size_t>(rows) * side * pixel_bytes);
    for (size_t copy = 1; copy < copies; ++copy) {
      std::memcpy(patch + copy * copy_bytes, patch, copy_bytes);
    }
  }
}

}  // namespace mmcpp::transforms
