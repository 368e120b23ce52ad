// families/granite_docling.cc: plans, marks of the prompt and refusals; golden_test.cc has its
// features.
#include "families/granite_docling.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "granite_docling"},
          {"image_token_id", 5},
          {"tile_height", 16},
          {"tile_width", 16},
          {"min_tiles", 1},
          {"max_tiles", 4},
          {"tokens_per_tile", 2},
          {"fake_token_ids", {6}},
          {"global_token_ids", {7}},
          {"row_column_token_ids", {11, 12, 21, 22}},
          {"mark_columns", 2},
          {"row_end_token_ids", {3}},
          {"last_row_end_token_ids", {4}},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

Ids Expand(const Family& family, int height, int width) {
  const std::vector<ItemPlan> plans = {*family.PlanItem(height, width)};
  const Ids ids = {1, 5};
  const auto layout = family.Layout(ids, plans);
  const auto prompt = ApplyLayout(ids, *layout, 1, 100);
  EXPECT_EQ(prompt->input_ids.size(), plans[0].tokens + 1);
  return prompt->input_ids;
}

TEST(GraniteDocling, MarksOfTiles) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  EXPECT_EQ(Expand(**family, 40, 80), (Ids{1, 6, 11, 5, 5, 6, 12, 5, 5, 4, 6, 7, 5, 5, 6}));
  EXPECT_EQ(Expand(**family, 10, 10), (Ids{1, 6, 11, 5, 5, 3}));
  const auto aux = (*family)->Aux(*(*family)->PlanItem(40, 80));
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*aux)[0].tensor.dtype(), DType::kBool);
  EXPECT_EQ((*aux)[0].tensor.shape(), (Ids{3}));
}

TEST(GraniteDocling, AtMost16TilesAlongASide) {
  nlohmann::json spec = Spec();
  for (const char* marks : {"row_column_token_ids", "mark_columns"}) spec.erase(marks);
  spec["max_tiles"] = 32;
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  EXPECT_EQ((*family)->PlanItem(10, 1000)->feature_shape, (Ids{1, 17, 3, 16, 16}));
}

TEST(GraniteDocling, Refusals) {
  nlohmann::json spec = Spec();
  spec["max_tiles"] = 8;
  EXPECT_EQ((*FamilyFromSpec(spec.dump()))->PlanItem(10, 80).error().message,
            "tiles: 1x8 are more than there are marks");
  spec["min_tiles"] = 9;
  EXPECT_TRUE(FamilyFromSpec(spec.dump()).ok());  // no grid is allowed: one tile
}

}  // namespace
}  // namespace mmcpp
