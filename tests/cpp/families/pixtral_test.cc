// families/pixtral.cc: plans, rows of tokens and refusals; golden_test.cc has its features.
#include "families/pixtral.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "pixtral"},
          {"image_token_id", 5},
          {"longest_edge", 64},
          {"patch_size", 16},
          {"row_end_token_ids", {6}},
          {"end_token_ids", {7}},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(Pixtral, RowsOfTokens) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(20, 40)};
  EXPECT_EQ(plans[0].feature_shape, (Ids{1, 3, 32, 48}));
  EXPECT_EQ(plans[0].tokens, 8u);
  const Ids ids = {1, 5};
  const auto layout = (*family)->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(ApplyLayout(ids, *layout, 1, 100)->input_ids, (Ids{1, 5, 5, 5, 6, 5, 5, 5, 7}));
  const auto aux = (*family)->Aux(plans[0]);
  EXPECT_EQ((*aux)[0].name, "image_sizes");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[1], 48);
}

TEST(Pixtral, Refusals) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok());
  EXPECT_EQ((*family)->PlanItem(1, 100).error().message,
            "longest_edge: 1x100 at 64 degenerates to 0x64");
  nlohmann::json spec = Spec();
  spec["end_token_ids"] = {1, 2};
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "pixtral spec: end_token_ids: expected one token or none");
}

}  // namespace
}  // namespace mmcpp
