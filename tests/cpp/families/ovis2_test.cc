// families/ovis2.cc: plans, marks in the prompt and refusals; golden_test.cc has its features.
#include "families/ovis2.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "ovis2"},
          {"image_token_id", 5},
          {"placeholder_token_id", 9},
          {"prefix_token_ids", {1}},
          {"suffix_token_ids", {2}},
          {"whole_token_ids", {3}},
          {"row_token_ids", {4}},
          {"column_token_ids", {6}},
          {"tokens_per_tile", 2},
          {"tile_size", 32},
          {"max_tiles", 4},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(Ovis2, TheWholeThenTiles) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(64, 64), *(*family)->PlanItem(20, 20)};
  EXPECT_EQ(plans[0].feature_shape, (Ids{5, 3, 32, 32}));
  EXPECT_EQ(plans[1].feature_shape, (Ids{1, 3, 32, 32}));
  const Ids ids = {8, 9, 9};
  const auto layout = (*family)->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(ApplyLayout(ids, *layout, 2, 100)->input_ids,
            (Ids{8, 1, 5, 5, 3, 5, 5, 6, 5, 5, 4, 5, 5, 6, 5, 5, 2, 1, 5, 5, 3, 2}));
  EXPECT_EQ(plans[0].tokens + plans[1].tokens, 21u);
  const auto aux = (*family)->Aux(plans[0]);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*aux)[0].name, "grids");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[1], 2);
}

TEST(Ovis2, Refusals) {
  nlohmann::json spec = Spec();
  spec["min_tiles"] = 2;
  EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok());
  spec["grid_rule"] = "closest_ratio";
  EXPECT_TRUE(FamilyFromSpec(spec.dump()).ok());
  spec = Spec();
  spec["max_tiles"] = 257;
  EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok());
  EXPECT_FALSE((*FamilyFromSpec(Spec().dump()))->PlanItem(0, 4).ok());
}

}  // namespace
}  // namespace mmcpp
