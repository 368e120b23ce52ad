// Patch rows in block order. A patch is split into byte planes that stay in the first-level cache,
// and each plane goes through its table straight to its final place.
#include "transforms/patchify.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/half.h"
#include "par/par.h"
#include "simd/dispatch.h"

namespace mmcpp::transforms {
namespace {

constexpr size_t kChannels = 3;
constexpr size_t kGrainBytes = size_t{64} << 10;
// Patches of up to this side have their planes on the stack; no model in use comes near.
constexpr int kMaxPatchSize = 128;

uint32_t Bits(float value, DType dtype) {
  if (dtype == DType::kBf16) return ToBf16(value);
  if (dtype == DType::kF16) return ToF16(value);
  return FloatBits(value);
}

Status CheckLayout(const ImageView& image, const BlockPatches& layout) {
  if (layout.patch_size <= 0 || layout.merge_size <= 0 || layout.copies <= 0 ||
      layout.patch_size > kMaxPatchSize || layout.merge_size > kMaxPatchSize) {
    return InvalidArgument("patchify: patch_size " + std::to_string(layout.patch_size) +
                           ", merge_size " + std::to_string(layout.merge_size) + " and copies " +
                           std::to_string(layout.copies) + " must be positive, sizes at most " +
                           std::to_string(kMaxPatchSize));
  }
  const int unit = layout.unit();
  if (image.height <= 0 || image.width <= 0 || image.height % unit != 0 ||
      image.width % unit != 0) {
    return InvalidArgument("patchify: sides " + std::to_string(image.height) + "x" +
                           std::to_string(image.width) + " are not positive multiples of " +
                           std::to_string(unit));
  }
  return Ok{};
}

Status CheckOut(const ImageView& image, const BlockPatches& layout, const TensorView& out) {
  const int64_t patch = int64_t{layout.patch_size} * layout.patch_size;
  const int64_t rows = int64_t{image.height} * image.width / patch;
  int64_t values = static_cast<int64_t>(kChannels) * patch;
  const bool fits = CheckedMul<int64_t>(values, layout.copies, &values) && out.shape.size() == 2 &&
                    out.shape[0] == rows && out.shape[1] == values;
  if (!fits) {
    return InvalidArgument("patchify: the output must be " + std::to_string(rows) + " rows of " +
                           std::to_string(values) + " values");
  }
  if (reinterpret_cast<uintptr_t>(out.data) % DTypeSize(out.dtype) != 0) {
    return InvalidArgument("patchify: the output is not aligned to its elements");
  }
  return Ok{};
}

void WritePatch(const simd::Kernels& kernels, const uint8_t* src, size_t src_row_bytes,
                const BlockPatches& layout, const PixelMap& map, uint8_t* dst) {
  const size_t side = static_cast<size_t>(layout.patch_size);
  const size_t copies = static_cast<size_t>(layout.copies);
  alignas(64) uint8_t planes[kChannels * kMaxPatchSize * kMaxPatchSize];
  kernels.split_rgb8(src, src_row_bytes, side, side, planes);
  for (size_t channel = 0; channel < kChannels; ++channel) {
    dst = map.Apply(kernels, channel, planes + channel * side * side, side * side, copies, dst);
  }
}

}  // namespace

void WriteBlockBand(const simd::Kernels& kernels, const uint8_t* src, size_t src_row_bytes,
                    size_t blocks, const BlockPatches& layout, const PixelMap& map, uint8_t* dst) {
  const size_t side = static_cast<size_t>(layout.patch_size);
  const size_t merge = static_cast<size_t>(layout.merge_size);
  const size_t patch_bytes =
      kChannels * side * side * static_cast<size_t>(layout.copies) * DTypeSize(map.dtype());
  for (size_t block = 0; block < blocks; ++block) {
    for (size_t y = 0; y < merge; ++y) {
      for (size_t x = 0; x < merge; ++x, dst += patch_bytes) {
        const uint8_t* patch =
            src + y * side * src_row_bytes + (block * merge + x) * side * kChannels;
        WritePatch(kernels, patch, src_row_bytes, layout, map, dst);
      }
    }
  }
}

Result<PixelMap> PixelMap::Make(const NormTable& table, DType dtype) {
  if (dtype != DType::kF32 && dtype != DType::kBf16 && dtype != DType::kF16 &&
      dtype != DType::kU8) {
    return InvalidArgument(std::string("patchify: no ") + DTypeName(dtype) +
                           " features; float32, bfloat16, float16 and uint8 there are");
  }
  PixelMap map;
  map.dtype_ = dtype;
  if (dtype == DType::kU8) return map;
  for (size_t channel = 0; channel < kChannels; ++channel) {
    simd::ByteTable& bytes = map.tables_[channel];
    for (size_t i = 0; i < 256; ++i) {
      const uint32_t bits = Bits(table.value[channel][i], dtype);
      bytes.value[i] = bits;
      for (size_t k = 0; k < 4; ++k) bytes.plane[k][i] = static_cast<uint8_t>(bits >> (8 * k));
    }
  }
  return map;
}

uint8_t* PixelMap::Apply(const simd::Kernels& kernels, size_t channel, const uint8_t* src, size_t n,
                         size_t copies, uint8_t* dst) const {
  if (dtype_ == DType::kF32) {
    kernels.map_to_32(&tables_[channel], src, n, copies, dst);
  } else if (dtype_ == DType::kU8) {
    for (size_t copy = 0; copy < copies; ++copy) std::memcpy(dst + copy * n, src, n);
  } else {
    kernels.map_to_16(&tables_[channel], src, n, copies, dst);
  }
  return dst + n * copies * DTypeSize(dtype_);
}

Status PatchifyBlocks(const ImageView& image, const BlockPatches& layout, const NormTable& table,
                      TensorView out) {
  MMCPP_TRY(CheckLayout(image, layout));
  MMCPP_TRY(CheckOut(image, layout, out));
  MMCPP_ASSIGN(const simd::Kernels* kernels, simd::ActiveKernels());
  MMCPP_ASSIGN(const PixelMap map, PixelMap::Make(table, out.dtype));
  const size_t unit = static_cast<size_t>(layout.unit());
  const size_t band_bytes = static_cast<size_t>(image.width) * unit * kChannels *
                            static_cast<size_t>(layout.copies) * DTypeSize(out.dtype);
  const size_t bands = static_cast<size_t>(image.height) / unit;
  par::ForRange(bands, std::max<size_t>(kGrainBytes / band_bytes, 1),
                [&](size_t begin, size_t end) {
                  for (size_t band = begin; band < end; ++band) {
                    WriteBlockBand(*kernels, image.row(static_cast<int>(band * unit)),
                                   image.row_bytes, static_cast<size_t>(image.width) / unit, layout,
                                   map, static_cast<uint8_t*>(out.data) + band * band_bytes);
                  }
                });
  return Ok{};
}

}  // namespace mmcpp::transforms
