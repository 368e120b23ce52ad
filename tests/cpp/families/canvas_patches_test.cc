// families/canvas_patches.cc against resize, paste and patchify one after the other.
#include "families/canvas_patches.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "mmcpp/hash.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp::families {
namespace {

constexpr transforms::BlockPatches kLayout = {8, 1, 1};

std::vector<uint8_t> Patches(const ImageView& image, const Placement& placement) {
  const auto table = transforms::MakeNormTable(transforms::NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  const int64_t patches = int64_t{placement.canvas.height / 8} * (placement.canvas.width / 8);
  auto out = Tensor::Allocate(DType::kF32, {patches, 3, 8, 8});
  EXPECT_TRUE(out.ok());
  const Status status =
      ResizeToCanvasPatches(image, placement, Convention::kPillow13, kLayout, table, out->view());
  EXPECT_TRUE(status.ok()) << status.error().message;
  return {out->data(), out->data() + out->byte_count()};
}

TEST(CanvasPatches, EqualStepsOneAfterTheOther) {
  const test::Picture picture(30, 50);
  const Placement placement = {{40, 64}, {21, 47}, 5, 17, {1, 2, 3}};
  const auto resized = Resize(picture.view(), 21, 47, Filter::kBicubic, Convention::kPillow13);
  ASSERT_TRUE(resized.ok());
  auto canvas = Image::Allocate(40, 64);
  ASSERT_TRUE(canvas.ok());
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 64; ++x) {
      const bool inside = y >= 5 && y < 26 && x >= 17;
      for (int c = 0; c < 3; ++c) {
        canvas->row(y)[3 * x + c] =
            inside ? resized->row(y - 5)[3 * (x - 17) + c] : static_cast<uint8_t>(c + 1);
      }
    }
  }
  const Placement whole = {{40, 64}, {40, 64}};
  test::ForEachSchedule(
      3, [&] { EXPECT_EQ(Patches(picture.view(), placement), Patches(*canvas, whole)); });
}

// DeepSeek-V4.1's, in bfloat16 on gray.
TEST(CanvasPatches, ReferenceVectors) {
  const std::array<float, 3> half = {0.5f, 0.5f, 0.5f};
  const auto table = transforms::MakeNormTable(transforms::NormRule::kPil, half, half);
  int cases = 0;
  for (const auto& golden : test::ReferenceCrate().at("cases")) {
    if (golden.at("op") != "dsv41.resize_patchify") continue;
    const test::Picture picture(golden.at("h"), golden.at("w"));
    const auto pair = [&](const char* key) { return golden.at(key).get<std::array<int, 2>>(); };
    const auto canvas = pair("output"), size = pair("resize"), start = pair("pad");
    const int side = golden.at("patch_size");
    const Placement placement = {
        {canvas[0], canvas[1]}, {size[0], size[1]}, start[0], start[1], {127, 127, 127}};
    test::ForEachSchedule(3, [&] {
      auto out = Tensor::Allocate(DType::kBf16,
                                  {int64_t{canvas[0] / side} * (canvas[1] / side), 3, side, side});
      ASSERT_TRUE(out.ok());
      const Status status = ResizeToCanvasPatches(picture.view(), placement, Convention::kPillow12,
                                                  {side, 1, 1}, table, out->view());
      ASSERT_TRUE(status.ok()) << status.error().message;
      EXPECT_EQ(test::Hex(ContentHash({out->data(), out->byte_count()})),
                golden.at("hash").get<std::string>());
    });
    ++cases;
  }
  EXPECT_EQ(cases, 2);
}

TEST(CanvasPatches, RefusesWhatIsNotOnTheCanvas) {
  const test::Picture picture(4, 4);
  const auto table = transforms::MakeNormTable(transforms::NormRule::kPil, {0, 0, 0}, {1, 1, 1});
  auto out = Tensor::Allocate(DType::kF32, {1, 3, 8, 8});
  const auto message = [&](const Placement& placement) {
    return ResizeToCanvasPatches(picture.view(), placement, Convention::kPillow13, kLayout, table,
                                 out->view())
        .error()
        .message;
  };
  EXPECT_EQ(message({{8, 8}, {4, 9}}), "canvas: no picture of 4x9 at 0,0 fits on 8x8");
  EXPECT_EQ(message({{8, 8}, {4, 4}, 5, 0}), "canvas: no picture of 4x4 at 5,0 fits on 8x8");
  EXPECT_EQ(message({{8, 8}, {4, 4}, 0, -1}), "canvas: no picture of 4x4 at 0,-1 fits on 8x8");
  EXPECT_EQ(message({{8, 8}, {0, 4}}), "canvas: no picture of 0x4 at 0,0 fits on 8x8");
  EXPECT_NE(message({{16, 8}, {4, 4}}), "") << "the output is for other patches";
}

}  // namespace
}  // namespace mmcpp::families
