// families/fixed_size.cc: plans and refusals; golden_test.cc has its features.
#include "families/fixed_size.h"

#include <gtest/gtest.h>

#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

nlohmann::json Spec() {
  return {{"family", "fixed_size"},
          {"image_token_id", 5},
          {"tokens_per_image", 256},
          {"height", 224},
          {"width", 200},
          {"shortest_edge", 256},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(FixedSize, PlansAreTheSameForEverySize) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  EXPECT_STREQ((*family)->name(), "fixed_size");
  for (const int width : {1, 3000}) {
    const auto plan = (*family)->PlanItem(50, width);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->feature_shape, (std::vector<int64_t>{1, 3, 224, 200}));
    EXPECT_EQ(plan->tokens, 256u);
    EXPECT_EQ(plan->resized_height, 224);
    EXPECT_TRUE((*family)->Aux(*plan)->empty());
  }
  EXPECT_EQ((*family)->PlanItem(0, 5).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ((*family)->PlanItem(1, 65535).error().code, ErrorCode::kLimitExceeded);
}

TEST(FixedSize, RefusesWhatCannotBeCutOut) {
  nlohmann::json spec = Spec();
  spec["shortest_edge"] = 223;
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_FALSE(family.ok());
  EXPECT_EQ(family.error().message,
            "fixed_size spec: shortest_edge 223 is under the 224 that are cut out");
}

}  // namespace
}  // namespace mmcpp
