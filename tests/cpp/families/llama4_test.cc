// families/llama4.cc: plans, separators in the prompt and refusals; golden_test.cc has its
// features.
#include "families/llama4.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "llama4"},
          {"image_token_id", 5},
          {"placeholder_token_id", 9},
          {"prefix_token_ids", {1}},
          {"suffix_token_ids", {2}},
          {"column_token_ids", {7}},
          {"row_token_ids", {8}},
          {"global_token_ids", {9}},
          {"tokens_per_tile", 2},
          {"tile_size", 112},
          {"max_tiles", 16},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(Llama4, SeparatorsOfTiles) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(200, 200), *(*family)->PlanItem(9, 9)};
  EXPECT_EQ(plans[0].feature_shape, (Ids{5, 3, 112, 112}));
  EXPECT_EQ(plans[1].feature_shape, (Ids{1, 3, 112, 112}));
  const Ids ids = {9, 9};
  const auto layout = (*family)->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(ApplyLayout(ids, *layout, 2, 100)->input_ids,
            (Ids{1, 5, 5, 7, 5, 5, 8, 5, 5, 7, 5, 5, 8, 9, 5, 5, 2, 1, 9, 5, 5, 2}));
  EXPECT_EQ(plans[0].tokens + plans[1].tokens, 22u);
  const auto aux = (*family)->Aux(plans[0]);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*aux)[0].name, "aspect_ratios");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[1], 2);
}

TEST(Llama4, Refusals) {
  nlohmann::json spec = Spec();
  spec["resample"] = "pil";
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "llama4 spec: resample: there is `aten_u8` alone");
}

}  // namespace
}  // namespace mmcpp
