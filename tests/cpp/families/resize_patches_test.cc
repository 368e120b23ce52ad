// The one pass against the steps it is made of, byte for byte.
#include "families/resize_patches.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/golden.h"
#include "support/isa_fixture.h"
#include "support/rows.h"

namespace mmcpp::families {
namespace {

using transforms::BlockPatches;
using transforms::MakeNormTable;
using transforms::NormRule;

class ResizePatchesTest : public test::IsaTest {};

TEST_P(ResizePatchesTest, EqualsResizeThenPatchify) {
  kernels();
  const auto table = MakeNormTable(NormRule::kFused, {0.48f, 0.45f, 0.4f}, {0.26f, 0.25f, 0.27f});
  const struct {
    int in_height, in_width, blocks_high, blocks_wide;
    BlockPatches layout;
    DType dtype;
    Convention convention;
  } cases[] = {
      {333, 500, 5, 8, {14, 2, 2}, DType::kF32, Convention::kPillow13},
      {333, 500, 5, 8, {14, 2, 2}, DType::kBf16, Convention::kAtenU8},
      {333, 200, 4, 9, {16, 2, 2}, DType::kF16, Convention::kPillow13},  // vertical first
      {40, 30, 6, 5, {16, 2, 1}, DType::kU8, Convention::kAtenU8},
      {112, 112, 4, 4, {14, 2, 2}, DType::kF32, Convention::kPillow13},  // size unchanged
      {112, 500, 4, 4, {14, 2, 2}, DType::kF32, Convention::kAtenU8},    // one pass
      {500, 112, 4, 4, {14, 2, 2}, DType::kF32, Convention::kAtenU8},
      {1, 1, 2, 3, {8, 1, 2}, DType::kBf16, Convention::kPillow13},
      {2500, 30, 1, 20, {14, 2, 2}, DType::kF32, Convention::kPillow12},  // blocks of columns
  };
  for (const auto& c : cases) {
    const auto pixels = test::GoldenPixels(c.in_height, c.in_width);
    const ImageView image = {pixels.data(), c.in_height, c.in_width,
                             static_cast<size_t>(c.in_width) * 3};
    const int unit = c.layout.unit();
    const int height = c.blocks_high * unit, width = c.blocks_wide * unit;
    const int64_t patch = int64_t{c.layout.patch_size} * c.layout.patch_size;
    const std::vector<int64_t> shape = {int64_t{height} * width / patch,
                                        3 * c.layout.copies * patch};
    auto steps = Tensor::Allocate(c.dtype, shape), pass = Tensor::Allocate(c.dtype, shape);
    ASSERT_TRUE(steps.ok() && pass.ok());
    const auto resized = Resize(image, height, width, Filter::kBicubic, c.convention);
    ASSERT_TRUE(resized.ok());
    ASSERT_TRUE(PatchifyBlocks(*resized, c.layout, table, steps->view()).ok());
    const auto status = ResizeToPatches(image, height, width, Filter::kBicubic, c.convention,
                                        c.layout, table, pass->view());
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(std::memcmp(steps->data(), pass->data(), steps->byte_count()), 0)
        << c.in_height << "x" << c.in_width << " -> " << height << "x" << width;
    std::memset(pass->data(), 0xa5, pass->byte_count());
    test::OneByOne rows(image);
    ASSERT_TRUE(ResizeToPatches(&rows, height, width, Filter::kBicubic, c.convention, c.layout,
                                table, pass->view())
                    .ok());
    EXPECT_EQ(std::memcmp(steps->data(), pass->data(), steps->byte_count()), 0)
        << "rows of " << c.in_height << "x" << c.in_width << " -> " << height << "x" << width;
  }
}

MMCPP_INSTANTIATE_ISA_TEST(ResizePatchesTest);

TEST(ResizePatches, Errors) {
  const auto pixels = test::GoldenPixels(30, 30);
  const ImageView image = {pixels.data(), 30, 30, 90};
  const auto table = MakeNormTable(NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  auto out = Tensor::Allocate(DType::kF32, {16, 1176});
  ASSERT_TRUE(out.ok());
  const auto code = [&](const ImageView& view, int height, Filter filter) {
    const auto status = ResizeToPatches(view, height, 56, filter, Convention::kAtenU8, {14, 2, 2},
                                        table, out->view());
    EXPECT_FALSE(status.ok());
    return status.ok() ? ErrorCode::kInternal : status.error().code;
  };
  EXPECT_EQ(code(image, 84, Filter::kBicubic), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(image, 55, Filter::kBicubic), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(image, 56, Filter::kBox), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}, 56, Filter::kBicubic), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace mmcpp::families
