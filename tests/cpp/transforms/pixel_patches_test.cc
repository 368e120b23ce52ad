// Patches with channels last against indexing written out.
#include "transforms/pixel_patches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/half.h"
#include "support/isa_fixture.h"
#include "support/pictures.h"

namespace mmcpp::transforms {
namespace {

class PixelPatchesTest : public test::IsaTest {};

// A canvas of 2 x 2 tiles of 3 x 2 patches of 5 pixels behind one tile, in tiles of 9 patches.
constexpr PixelPatches kLayout = {5, 3, 2, 2, 2, 1};

void Check(const NormTable& table, DType dtype) {
  auto out = Tensor::Allocate(dtype, {5, 9, 75});
  ASSERT_TRUE(out.ok());
  std::memset(out->data(), 0xa5, out->byte_count());
  const auto writer = PixelPatchWriter::Make(kLayout, table, out->view());
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  const test::Picture picture(30, 20);
  writer->ClearRest();
  for (int y = 0; y < 30; y += 5) {
    writer->Write(y, 0, 5, picture.view().row(y), picture.view().row_bytes);
    writer->Write(y, 5, 15, picture.view().row(y) + 15, picture.view().row_bytes);
  }
  for (int i = 0; i < 5 * 9 * 75; ++i) {
    const int tile = i / 675 - 1, patch = i / 75 % 9, channel = i % 3;
    const int y = tile / 2 * 15 + patch / 2 * 5 + i % 75 / 15;
    const int x = (tile % 2 * 10 + patch % 2 * 5) + i % 15 / 3;
    const bool given = tile >= 0 && patch < 6;
    const uint8_t byte = given ? picture.view().row(y)[x * 3 + channel] : 0;
    const float value = given ? table.value[static_cast<size_t>(channel)][byte] : 0;
    const uint32_t rest = tile < 0 ? 0xa5a5a5a5u : 0;
    const uint32_t bits = dtype == DType::kU8     ? byte
                          : dtype == DType::kBf16 ? ToBf16(value)
                                                  : FloatBits(value);
    const uint32_t expected = given ? bits
                                    : rest & (dtype == DType::kU8     ? 0xffu
                                              : dtype == DType::kBf16 ? 0xffffu
                                                                      : 0xffffffffu);
    uint32_t actual = 0;
    std::memcpy(&actual, out->data() + static_cast<size_t>(i) * DTypeSize(dtype), DTypeSize(dtype));
    ASSERT_EQ(actual, expected) << "tile " << tile << ", patch " << patch << ", value " << i % 75;
  }
}

TEST_P(PixelPatchesTest, EqualIndexing) {
  kernels();
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kU8}) {
    Check(MakeNormTable(NormRule::kPil, {0.4f, 0.5f, 0.6f}, {0.2f, 0.3f, 0.4f}), dtype);
    Check(MakeNormTable(NormRule::kFused, {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}), dtype);
  }
}

MMCPP_INSTANTIATE_ISA_TEST(PixelPatchesTest);

TEST(PixelPatches, OutputsThatDoNotFitAreRefused) {
  const auto table = MakeNormTable(NormRule::kReciprocal, {0, 0, 0}, {1, 1, 1});
  std::vector<float> memory(5 * 9 * 75 + 1);
  const auto make = [&](std::vector<int64_t> shape, PixelPatches layout = kLayout, int offset = 0) {
    auto* data = reinterpret_cast<uint8_t*>(memory.data()) + offset;
    return PixelPatchWriter::Make(layout, table, {data, DType::kF32, shape}).ok();
  };
  EXPECT_TRUE(make({5, 6, 75}));
  EXPECT_FALSE(make({4, 6, 75}));
  EXPECT_FALSE(make({5, 5, 75}));
  EXPECT_FALSE(make({5, 6, 74}));
  EXPECT_FALSE(make({5, 6, 75, 1}));
  EXPECT_FALSE(make({5, 6, 75}, kLayout, 1));
  EXPECT_FALSE(make({5, 6, 75}, {5, 0, 2, 2, 2, 1}));
}

}  // namespace
}  // namespace mmcpp::transforms
