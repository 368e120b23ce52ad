// Planes against indexing written out.
#include "transforms/planes.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/isa_fixture.h"
#include "support/pictures.h"

namespace mmcpp::transforms {
namespace {

class PlanesTest : public test::IsaTest {};

TEST_P(PlanesTest, EqualIndexing) {
  kernels();
  const auto table = MakeNormTable(NormRule::kPil, {0.4f, 0.5f, 0.6f}, {0.2f, 0.3f, 0.4f});
  // A canvas of 2 x 3 tiles of 20 x 25, behind one tile, in planes of 24 x 30.
  const PlaneTiles tiles = {20, 25, 2, 3, 1};
  auto out = Tensor::Allocate(DType::kF32, {8, 3, 24, 30});
  ASSERT_TRUE(out.ok());
  for (float& value : out->As<float>()) value = -99;
  const auto writer = PlaneWriter::Make(tiles, table, out->view());
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  const test::Picture picture(31, 60);
  const Box box = {4, 7, 31, 60};
  writer->Write(box, picture.pixels.data(), 180);
  writer->FillAround(box, {1, 2, 3});

  const auto values = out->As<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t tile = i / (3 * 24 * 30), channel = i / (24 * 30) % 3;
    const size_t y = i / 30 % 24, x = i % 30;
    float expected = -99;
    if (tile >= 1 && tile < 7 && y < 20 && x < 25) {
      const int canvas_y = static_cast<int>((tile - 1) / 3 * 20 + y) - box.y;
      const int canvas_x = static_cast<int>((tile - 1) % 3 * 25 + x) - box.x;
      const bool inside = canvas_y >= 0 && canvas_y < 31 && canvas_x >= 0 && canvas_x < 60;
      const size_t byte =
          inside ? picture.view().row(canvas_y)[static_cast<size_t>(canvas_x) * 3 + channel]
                 : channel + 1;
      expected = table.value[channel][byte];
    }
    ASSERT_EQ(values[i], expected) << "tile " << tile << ", " << y << ", " << x;
  }
}

TEST_P(PlanesTest, RowsLongerThanAPiece) {
  kernels();
  const auto table = MakeNormTable(NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  auto out = Tensor::Allocate(DType::kU8, {1, 3, 2, 3000});
  ASSERT_TRUE(out.ok());
  const auto writer = PlaneWriter::Make({2, 3000}, table, out->view());
  ASSERT_TRUE(writer.ok());
  const test::Picture picture(1, 2500);
  writer->Write({0, 250, 1, 2500}, picture.pixels.data(), 0);
  writer->FillAround({0, 250, 1, 2500}, {7, 8, 9});
  for (size_t x = 0; x < 3000; ++x) {
    const bool inside = x >= 250 && x < 2750;
    ASSERT_EQ(out->data()[2 * 6000 + x], inside ? picture.pixels[(x - 250) * 3 + 2] : 9) << x;
    ASSERT_EQ(out->data()[6000 + 3000 + x], 8) << x;
  }
}

MMCPP_INSTANTIATE_ISA_TEST(PlanesTest);

TEST(Planes, OutputsThatDoNotFitAreRefused) {
  const auto table = MakeNormTable(NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  std::vector<uint8_t> bytes(4096);
  const auto refused = [&](std::vector<int64_t> shape, DType dtype, size_t offset = 0) {
    const auto writer = PlaneWriter::Make({5, 6, 2, 2}, table, {&bytes[offset], dtype, shape});
    return !writer.ok() && writer.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_FALSE(refused({4, 3, 5, 6}, DType::kU8));
  EXPECT_TRUE(refused({3, 3, 5, 6}, DType::kU8));
  EXPECT_TRUE(refused({4, 4, 5, 6}, DType::kU8));
  EXPECT_TRUE(refused({4, 3, 4, 6}, DType::kU8));
  EXPECT_TRUE(refused({4, 3, 5, 5}, DType::kU8));
  EXPECT_TRUE(refused({4, 3, 30}, DType::kU8));
  EXPECT_TRUE(refused({4, 3, 5, 6}, DType::kI64));
  EXPECT_TRUE(refused({4, 3, 5, 6}, DType::kBf16, 1)) << "not aligned";
}

}  // namespace
}  // namespace mmcpp::transforms
