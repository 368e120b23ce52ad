// The one pass against the steps it is made of, byte for byte.
#include "families/resize_patches.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "mmcpp/hash.h"
#include "support/golden.h"
#include "support/isa_fixture.h"
#include "support/pasted.h"
#include "support/patchified.h"
#include "support/pictures.h"
#include "support/rows.h"
#include "support/schedules.h"

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
    int margin = 0;  // of the canvas that the picture does not cover, on every side
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
      {333, 500, 5, 8, {14, 2, 2}, DType::kF32, Convention::kPillow13, 13},
      {102, 102, 4, 4, {14, 2, 2}, DType::kU8, Convention::kPillow13, 5},  // size unchanged
      {40, 30, 6, 5, {16, 2, 1}, DType::kBf16, Convention::kAtenU8, 40},   // more than a block
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
    const Canvas canvas = {height,
                           width,
                           {c.margin, c.margin, height - 2 * c.margin, width - 2 * c.margin},
                           {7, 8, 9}};
    const Image pasted = test::Pasted(image, canvas, Filter::kBicubic, c.convention);
    ASSERT_TRUE(test::Patchify(pasted, c.layout, table, steps->view()).ok());
    const auto status = ResizeToPatches(image, canvas, Filter::kBicubic, c.convention, c.layout,
                                        table, pass->view());
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(std::memcmp(steps->data(), pass->data(), steps->byte_count()), 0)
        << c.in_height << "x" << c.in_width << " -> " << height << "x" << width;
    std::memset(pass->data(), 0xa5, pass->byte_count());
    test::OneByOne rows(image);
    ASSERT_TRUE(ResizeToPatches(&rows, canvas, Filter::kBicubic, c.convention, c.layout, table,
                                pass->view())
                    .ok());
    EXPECT_EQ(std::memcmp(steps->data(), pass->data(), steps->byte_count()), 0)
        << "rows of " << c.in_height << "x" << c.in_width << " -> " << height << "x" << width;
  }
}

MMCPP_INSTANTIATE_ISA_TEST(ResizePatchesTest);

// DeepSeek-V4.1's, in bfloat16 on gray.
TEST(ResizePatches, ReferenceVectorsOnACanvas) {
  const std::array<float, 3> half = {0.5f, 0.5f, 0.5f};
  const auto table = MakeNormTable(NormRule::kPil, half, half);
  int cases = 0;
  for (const auto& golden : test::ReferenceCrate().at("cases")) {
    if (golden.at("op") != "dsv41.resize_patchify") continue;
    const test::Picture picture(golden.at("h"), golden.at("w"));
    const auto pair = [&](const char* key) { return golden.at(key).get<std::array<int, 2>>(); };
    const auto output = pair("output"), size = pair("resize"), start = pair("pad");
    const int side = golden.at("patch_size");
    const Canvas canvas = {
        output[0], output[1], {start[0], start[1], size[0], size[1]}, {127, 127, 127}};
    test::ForEachSchedule(3, [&] {
      auto out = Tensor::Allocate(DType::kBf16,
                                  {int64_t{output[0] / side} * (output[1] / side), 3, side, side});
      ASSERT_TRUE(out.ok());
      const Status status =
          ResizeToPatches(picture.view(), canvas, Filter::kBicubic, Convention::kPillow12,
                          {side, 1, 1}, table, out->view());
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(test::Hex(ContentHash({out->data(), out->byte_count()})),
                golden.at("hash").get<std::string>());
    });
    ++cases;
  }
  EXPECT_EQ(cases, 2);
}

TEST(ResizePatches, Errors) {
  const auto pixels = test::GoldenPixels(30, 30);
  const ImageView image = {pixels.data(), 30, 30, 90};
  const auto table = MakeNormTable(NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  auto out = Tensor::Allocate(DType::kF32, {16, 1176});
  ASSERT_TRUE(out.ok());
  const auto code = [&](const ImageView& view, int height, Filter filter) {
    const auto status = ResizeToPatches(view, {height, 56}, filter, Convention::kAtenU8, {14, 2, 2},
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
