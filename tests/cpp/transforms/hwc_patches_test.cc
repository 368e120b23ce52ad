// Interleaved patches against indexing written out.
#include "transforms/hwc_patches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/half.h"
#include "support/pictures.h"

namespace mmcpp::transforms {
namespace {

constexpr std::array<float, 3> kPadding = {-1.5f, 2.25f, 7.0f};

NormTable Table() {
  return MakeNormTable(NormRule::kReciprocal, {0.4f, 0.5f, 0.6f}, {0.2f, 0.3f, 0.4f});
}

uint32_t Element(const Tensor& tensor, size_t i) {
  uint32_t bits = 0;
  const size_t size = DTypeSize(tensor.dtype());
  std::memcpy(&bits, tensor.data() + i * size, size);
  return bits;
}

void Check(int height, int width, const HwcPatches& layout, DType dtype) {
  const auto side = static_cast<size_t>(layout.patch_size);
  const auto copies = static_cast<size_t>(layout.copies);
  const auto across = static_cast<size_t>(layout.columns(width));
  auto out = Tensor::Allocate(dtype, {int64_t{layout.rows(height)} * layout.columns(width),
                                      layout.copies, layout.patch_size, layout.patch_size, 3});
  ASSERT_TRUE(out.ok());
  const NormTable table = Table();
  const auto writer = HwcPatchWriter::Make(height, width, layout, table, kPadding, out->view());
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  const test::Picture picture(height, width);
  const ImageView view = picture.view();
  // Tiles of up to two patches.
  const int step = 2 * layout.patch_size;
  for (int y = 0; y < height; y += layout.patch_size) {
    for (int x = 0; x < width; x += step) {
      writer->Write(y, x, std::min(layout.patch_size, height - y), std::min(step, width - x),
                    view.row(y) + size_t{3} * static_cast<size_t>(x), view.row_bytes);
    }
  }
  for (size_t i = 0; i < out->element_count(); ++i) {
    const size_t patch = i / (3 * side * side * copies), channel = i % 3;
    const size_t y = patch / across * side + i / (3 * side) % side;
    const size_t x = patch % across * side + i / 3 % side;
    const bool inside = y < static_cast<size_t>(height) && x < static_cast<size_t>(width);
    const float expected =
        inside ? table.value[channel][view.row(static_cast<int>(y))[3 * x + channel]]
               : kPadding[channel];
    ASSERT_EQ(Element(*out, i), ElementBits(expected, dtype)) << i;
  }
}

TEST(HwcPatches, EqualIndexing) {
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kF16}) {
    Check(20, 30, {10, 1}, dtype);  // a column of padding alone
    Check(21, 39, {10, 2}, dtype);
    Check(1, 1, {40, 3}, dtype);
    Check(7, 5, {1, 1}, dtype);
  }
}

TEST(HwcPatches, RefusesWhatDoesNotFit) {
  const auto message = [](int height, const HwcPatches& layout, DType dtype,
                          std::vector<int64_t> shape, size_t offset) {
    std::vector<uint8_t> memory(4096);
    const auto writer = HwcPatchWriter::Make(height, 5, layout, Table(), kPadding,
                                             {memory.data() + offset, dtype, shape});
    return writer.ok() ? std::string() : writer.error().message;
  };
  const std::vector<int64_t> shape = {2, 1, 4, 4, 3};
  EXPECT_EQ(message(3, {4, 1}, DType::kF32, shape, 0), "");
  EXPECT_EQ(message(3, {4, 1}, DType::kF32, shape, 1),
            "patchify: the output is not aligned to its elements");
  EXPECT_EQ(message(3, {4, 1}, DType::kU8, shape, 0),
            "patchify: uint8 features have no value for padding");
  EXPECT_EQ(message(5, {4, 1}, DType::kF32, shape, 0),
            "patchify: the output must be 4 patches of 1x4x4x3");
  EXPECT_EQ(message(0, {4, 1}, DType::kF32, shape, 0),
            "patchify: sizes must be positive, got 0x5, patch_size 4, copies 1");
  EXPECT_NE(message(3, {4, 1}, DType::kI64, shape, 0), "");
}

}  // namespace
}  // namespace mmcpp::transforms
