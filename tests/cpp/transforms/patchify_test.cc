// Patch rows against the order's definition, element by element, in every dtype; and errors.
#include "transforms/patchify.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/half.h"
#include "support/golden.h"
#include "support/isa_fixture.h"
#include "support/patchified.h"

namespace mmcpp::transforms {
namespace {

NormTable Table() {
  return MakeNormTable(NormRule::kPil, {0.48145466f, 0.4578275f, 0.40821073f},
                       {0.26862954f, 0.26130258f, 0.27577711f});
}

// The bits of one output element.
uint32_t ElementBits(const Tensor& tensor, size_t i) {
  uint32_t bits = 0;
  const size_t size = DTypeSize(tensor.dtype());
  std::memcpy(&bits, tensor.data() + i * size, size);
  return bits;
}

uint32_t Expected(const NormTable& table, DType dtype, size_t channel, uint8_t byte) {
  const float value = table.value[channel][byte];
  switch (dtype) {
    case DType::kBf16:
      return ToBf16(value);
    case DType::kF16:
      return ToF16(value);
    case DType::kU8:
      return byte;
    default:
      return FloatBits(value);
  }
}

class PatchifyTest : public test::IsaTest {
 protected:
  void Check(const BlockPatches& layout, int blocks_high, int blocks_wide, DType dtype) {
    const int height = blocks_high * layout.unit(), width = blocks_wide * layout.unit();
    const auto pixels = test::GoldenPixels(height, width + 1);  // one pixel of padding a row
    const ImageView image = {pixels.data(), height, width, static_cast<size_t>(width + 1) * 3};
    const int p = layout.patch_size, m = layout.merge_size;
    const int64_t rows = int64_t{height / p} * (width / p);
    auto out = Tensor::Allocate(dtype, {rows, int64_t{3} * layout.copies * p * p});
    ASSERT_TRUE(out.ok());
    const NormTable table = Table();
    const auto status = test::Patchify(image, layout, table, out->view());
    ASSERT_TRUE(status.ok()) << status.error().message;
    size_t i = 0;
    for (int block_y = 0; block_y < blocks_high; ++block_y)
      for (int block_x = 0; block_x < blocks_wide; ++block_x)
        for (int my = 0; my < m; ++my)
          for (int mx = 0; mx < m; ++mx)
            for (int plane = 0; plane < 3 * layout.copies; ++plane)
              for (int y = 0; y < p; ++y)
                for (int x = 0; x < p; ++x, ++i) {
                  const auto c =
                      static_cast<size_t>(layout.copies_first ? plane % 3 : plane / layout.copies);
                  const int row = (block_y * m + my) * p + y, column = (block_x * m + mx) * p + x;
                  const uint8_t byte = image.row(row)[static_cast<size_t>(column) * 3 + c];
                  ASSERT_EQ(ElementBits(*out, i), Expected(table, dtype, c, byte))
                      << DTypeName(dtype) << " element " << i << " patch " << p;
                }
    EXPECT_EQ(i, out->element_count());
  }
};

TEST_P(PatchifyTest, BlockOrderInEveryDtype) {
  kernels();
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kF16, DType::kU8}) {
    Check({14, 2, 2}, 2, 3, dtype);
    Check({16, 2, 2}, 1, 2, dtype);
    Check({16, 2, 1}, 3, 1, dtype);
    Check({1, 1, 3}, 4, 5, dtype);
    Check({5, 3, 2}, 2, 2, dtype);
    Check({5, 3, 2, true}, 2, 2, dtype);
    Check({129, 1, 3, true}, 1, 1, dtype);
    Check({40, 1, 1}, 1, 2, dtype);
    Check({128, 1, 1}, 1, 1, dtype);
    Check({129, 1, 2}, 1, 1, dtype);
    Check({300, 2, 1}, 1, 1, dtype);
  }
}

MMCPP_INSTANTIATE_ISA_TEST(PatchifyTest);

TEST(Patchify, Errors) {
  const auto pixels = test::GoldenPixels(56, 56);
  const ImageView image = {pixels.data(), 56, 56, 168};
  const NormTable table = Table();
  auto out = Tensor::Allocate(DType::kF32, {16, 1176});
  ASSERT_TRUE(out.ok());
  ASSERT_TRUE(test::Patchify(image, {14, 2, 2}, table, out->view()).ok());
  const auto refused = [&](const ImageView& view, const BlockPatches& layout, TensorView to) {
    const auto status = test::Patchify(view, layout, table, to);
    EXPECT_FALSE(status.ok());
    return !status.ok() && status.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused({pixels.data(), 56, 55, 168}, {14, 2, 2}, out->view()));
  EXPECT_TRUE(refused({pixels.data(), 0, 56, 168}, {14, 2, 2}, out->view()));
  EXPECT_TRUE(refused(image, {14, 3, 2}, out->view()));
  EXPECT_TRUE(refused(image, {0, 2, 2}, out->view()));
  EXPECT_TRUE(refused(image, {14, 2, 0}, out->view()));
  EXPECT_TRUE(refused(image, {14, 2, 1}, out->view()));
  EXPECT_TRUE(refused(image, {1 << 16, 1 << 16, 1}, out->view()));
  auto wrong_dtype = Tensor::Allocate(DType::kI32, {16, 1176});
  EXPECT_TRUE(refused(image, {14, 2, 2}, wrong_dtype->view()));
  auto flat = Tensor::Allocate(DType::kF32, {16 * 1176});
  EXPECT_TRUE(refused(image, {14, 2, 2}, flat->view()));
}

}  // namespace
}  // namespace mmcpp::transforms
