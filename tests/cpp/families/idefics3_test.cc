// families/idefics3.cc: plans, masks, marks in the prompt and refusals; golden_test.cc has its
// features.
#include "families/idefics3.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "idefics3"},
          {"image_token_id", 5},
          {"tokens_per_tile", 2},
          {"longest_edge", 64},
          {"tile_size", 32},
          {"fake_token_ids", {6}},
          {"global_token_ids", {7}},
          {"row_column_token_ids", {11, 12, 21, 22}},
          {"mark_columns", 2},
          {"row_end_token_ids", {8}},
          {"last_row_end_token_ids", {9}},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

Ids Expand(const Family& family, int height, int width) {
  const std::vector<ItemPlan> plans = {*family.PlanItem(height, width)};
  const Ids ids = {1, 5};
  const auto layout = family.Layout(ids, plans);
  Ids expanded = ApplyLayout(ids, *layout, 1, 100)->input_ids;
  EXPECT_EQ(expanded.size(), plans[0].tokens + 1);
  return expanded;
}

TEST(Idefics3, MarksOfTiles) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(30, 30);
  EXPECT_EQ(plan->feature_shape, (Ids{1, 5, 3, 32, 32}));
  EXPECT_EQ(Expand(**family, 30, 30),
            (Ids{1, 6, 11, 5, 5, 6, 12, 5, 5, 8, 6, 21, 5, 5, 6, 22, 5, 5, 9, 6, 7, 5, 5, 6}));
  EXPECT_EQ(Expand(**family, 10, 30), (Ids{1, 6, 11, 5, 5, 6, 12, 5, 5, 9, 6, 7, 5, 5, 6}));
  const auto aux = (*family)->Aux(*plan);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*aux)[0].name, "pixel_attention_mask");
  EXPECT_EQ((*aux)[0].tensor.shape(), (Ids{5, 32, 32}));
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[5119], 1);
}

TEST(Idefics3, OneTile) {
  nlohmann::json spec = Spec();
  spec["split"] = false;
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  EXPECT_EQ((*family)->PlanItem(30, 90)->feature_shape, (Ids{1, 1, 3, 32, 32}));
  EXPECT_EQ(Expand(**family, 30, 90), (Ids{1, 6, 7, 5, 5, 6}));
}

TEST(Idefics3, Refusals) {
  nlohmann::json spec = Spec();
  spec["row_column_token_ids"] = {11, 12};
  EXPECT_EQ((*FamilyFromSpec(spec.dump()))->PlanItem(30, 30).error().message,
            "tiles: 2x2 are more than there are marks");
  spec["row_column_token_ids"] = {11, 12, 21};
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "idefics3 spec: row_column_token_ids: 3 are no rows of mark_columns 2");
  spec = Spec();
  spec["longest_edge"] = 4096;
  spec["tile_size"] = 8;
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "idefics3 spec: tile_size 8 makes more than 4096 tiles of longest_edge 4096");
  spec = Spec();
  spec["longest_edge"] = 5000;
  EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok());
}

}  // namespace
}  // namespace mmcpp
