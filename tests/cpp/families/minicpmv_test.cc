// families/minicpmv.cc: strips, the layout, and the bounds of the spec. What transformers gives is
// in golden_test.cc.
#include "families/minicpmv.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "mmcpp/driver.h"
#include "mmcpp/registry.h"
#include "support/golden.h"
#include "support/pictures.h"

namespace mmcpp {
namespace {

nlohmann::json Spec() {
  return {{"family", "minicpmv"},
          {"image_token_id", 9},
          {"image_start_token_ids", {1}},
          {"image_end_token_ids", {2}},
          {"slice_start_token_ids", {3}},
          {"slice_end_token_ids", {4}},
          {"row_end_token_ids", {5}},
          {"patch_size", 2},
          {"merge_size", 2},
          {"scale_resolution", 4},
          {"max_slices", 4},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

std::unique_ptr<const Family> Make(const nlohmann::json& spec) {
  auto family = FamilyFromSpec(spec.dump());
  EXPECT_TRUE(family.ok()) << family.error().message;
  return family.ok() ? *std::move(family) : nullptr;
}

TEST(MiniCpmV, PatchesStandSideBySide) {
  const auto family = Make(Spec());
  const test::Picture picture(8, 8);  // 2 x 2 slices of its own size
  const auto plan = family->PlanItem(8, 8);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (std::vector<int64_t>{1, 3, 2, 5 * 2 * 4}));
  auto feature = Tensor::Allocate(DType::kU8, plan->feature_shape);
  ASSERT_TRUE(feature.ok());
  ASSERT_TRUE(family->ProcessItem(picture.view(), *plan, feature->view()).ok());
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        const int slice = y / 4 * 2 + x / 4;
        const int column = (1 + slice) * 8 + y % 4 / 2 * 4 + x % 4;
        const int at = (channel * 2 + y % 2) * 40 + column;
        ASSERT_EQ(feature->data()[at], picture.view().row(y)[x * 3 + channel]) << y << ", " << x;
      }
    }
  }
}

TEST(MiniCpmV, BatchesAreJoinedAlongTheStrips) {
  const auto family = Make(Spec());
  const test::Picture a(8, 8), b(3, 4);
  const std::vector<MediaSource> media = {a.view(), b.view(), a.view()};
  ProcessOptions options;
  const auto batch = ProcessItems(*family, media, options);
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_EQ(batch->features.shape(), (std::vector<int64_t>{1, 3, 2, 40 + 8 + 40}));
  int64_t begin = 0;
  for (const auto& source : media) {
    const auto alone = ProcessItems(*family, {&source, 1}, options);
    ASSERT_TRUE(alone.ok());
    const int64_t columns = alone->features.shape()[3];
    for (int64_t row = 0; row < 6; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        ASSERT_EQ(batch->features.As<float>()[static_cast<size_t>(row * 88 + begin + column)],
                  alone->features.As<float>()[static_cast<size_t>(row * columns + column)]);
      }
    }
    begin += columns;
  }
  auto memory = Tensor::Allocate(DType::kF32, batch->features.shape());
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(ProcessItemsInto(*family, media, options, memory->view()).ok());
  EXPECT_EQ(std::memcmp(memory->data(), batch->features.data(), memory->byte_count()), 0);
}

TEST(MiniCpmV, LayoutAndItsNumbers) {
  nlohmann::json spec = Spec();
  spec["image_id_token_ids"] = {6, 7, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109};
  const auto family = Make(spec);
  const std::vector<int64_t> ids = {9, 8, 9};
  const std::vector<PictureSize> sizes = {{8, 8}, {4, 4}};
  const auto planned = PlanRequest(*family, ids, sizes);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(planned->input_ids, (std::vector<int64_t>{6, 100, 7, 1, 9, 2, 3, 9, 4,   3, 9, 4, 5,
                                                      3, 9,   4, 3, 9, 4, 8, 6, 101, 7, 1, 9, 2}));
  EXPECT_EQ(planned->offsets[0].first, 0u);
  EXPECT_EQ(planned->offsets[0].last, 18u);
  EXPECT_EQ(planned->items[0].tokens, 19u);
}

TEST(MiniCpmV, NumbersOfSeveralDigits) {
  nlohmann::json spec = Spec();
  spec["image_id_token_ids"] = {6, 7, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109};
  const auto family = Make(spec);
  for (const size_t count : {1, 9, 10, 11, 12, 101}) {
    const std::vector<int64_t> ids(count, 9);
    const std::vector<PictureSize> sizes(count, {4, 4});
    RequestLimits limits;
    limits.max_items = count;
    const auto planned = PlanRequest(*family, ids, sizes, limits);
    ASSERT_TRUE(planned.ok()) << planned.error().message;
    std::vector<int64_t> expected;
    for (size_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      expected.push_back(6);
      for (const char digit : number) expected.push_back(100 + (digit - '0'));
      expected.insert(expected.end(), {7, 1, 9, 2});
      EXPECT_EQ(planned->items[i].tokens, 5 + number.size()) << i;
      EXPECT_EQ(planned->offsets[i].last, expected.size() - 1) << i;
    }
    EXPECT_EQ(planned->input_ids, expected);
  }
}

TEST(MiniCpmV, PositionsOnACanvas) {
  nlohmann::json spec = Spec();
  spec["positions"] = "canvas";
  spec["image_id_token_ids"] = {6, 7, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109};
  const std::vector<int64_t> ids = {9, 8, 9};
  const std::vector<PictureSize> sizes = {{8, 8}, {4, 4}};
  const auto planned = PlanRequest(*Make(spec), ids, sizes);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  const auto& rope = std::get<MRope>(planned->positions);
  const auto positions = rope.position_ids.As<int64_t>();
  // A number, then a canvas of 2 x 2 tokens, then text and a number, then a canvas of one.
  EXPECT_EQ(std::vector<int64_t>(positions.begin(), positions.begin() + 26),
            (std::vector<int64_t>{0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3,  3,  3,
                                  3, 3, 3, 3, 3, 3, 6, 7, 8, 9, 10, 10, 10}));
  EXPECT_EQ(rope.delta, 12 - 26);
  for (const nlohmann::json& change :
       {nlohmann::json{{"row_end_token_ids", nlohmann::json::array()}},
        nlohmann::json{{"slice_end_token_ids", {4, 4}}},
        nlohmann::json{{"image_end_token_ids", {9}}}, nlohmann::json{{"tokens_per_slice", 1}}}) {
    nlohmann::json other = spec;
    other.update(change);
    EXPECT_FALSE(FamilyFromSpec(other.dump()).ok()) << change;
  }
}

TEST(MiniCpmV, RefusesSpecsOutOfRange) {
  for (const nlohmann::json& change :
       {nlohmann::json{{"patch_size", 0}}, nlohmann::json{{"merge_size", 17}},
        nlohmann::json{{"max_slices", 257}}, nlohmann::json{{"scale_resolution", 5000}},
        nlohmann::json{{"image_id_token_ids", {1, 2}}}, nlohmann::json{{"image_std", {0, 1, 1}}}}) {
    nlohmann::json spec = Spec();
    spec.update(change);
    EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok()) << change;
  }
  EXPECT_FALSE(Make(Spec())->PlanItem(0, 4).ok());
}

}  // namespace
}  // namespace mmcpp
