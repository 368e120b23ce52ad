// The one pass against the steps it is made of, byte for byte.
#include "families/resize_pixel_patches.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/isa_fixture.h"
#include "support/pictures.h"
#include "support/rows.h"

namespace mmcpp::families {
namespace {

class ResizePixelPatchesTest : public test::IsaTest {};

TEST_P(ResizePixelPatchesTest, EqualsResizeThenPatches) {
  kernels();
  PixelRules rules;
  rules.filter = Filter::kBilinear;
  rules.table = transforms::MakeNormTable(transforms::NormRule::kFused, {0.4f, 0.5f, 0.6f},
                                          {0.2f, 0.3f, 0.4f});
  const transforms::PixelPatches layout = {16, 4, 3, 2, 3};
  const transforms::Size size = {128, 144};
  for (const auto& [height, width] : {std::pair(300, 77), std::pair(128, 144), std::pair(1, 1)}) {
    const test::Picture picture(height, width);
    auto steps = Tensor::Allocate(DType::kF32, {6, 20, 768});
    auto pass = Tensor::Allocate(DType::kF32, {6, 20, 768});
    ASSERT_TRUE(steps.ok() && pass.ok());
    const auto resized =
        Resize(picture.view(), size.height, size.width, rules.filter, rules.convention);
    ASSERT_TRUE(resized.ok());
    const auto writer = transforms::PixelPatchWriter::Make(layout, rules.table, steps->view());
    ASSERT_TRUE(writer.ok());
    writer->ClearRest();
    for (int y = 0; y < size.height; y += 16) {
      writer->Write(y, 0, size.width, resized->row(y), static_cast<size_t>(size.width) * 3);
    }
    ASSERT_TRUE(ResizeToPixelPatches(picture.view(), size, rules, layout, pass->view()).ok());
    EXPECT_EQ(std::memcmp(steps->data(), pass->data(), steps->byte_count()), 0);
    std::memset(pass->data(), 0xa5, pass->byte_count());
    test::OneByOne rows(picture.view());
    ASSERT_TRUE(ResizeToPixelPatches(&rows, size, rules, layout, pass->view()).ok());
    EXPECT_EQ(std::memcmp(steps->data(), pass->data(), steps->byte_count()), 0);
  }
}

MMCPP_INSTANTIATE_ISA_TEST(ResizePixelPatchesTest);

}  // namespace
}  // namespace mmcpp::families
