// families/deepseek_vl_hybrid.cc: plans and refusals; golden_test.cc has its features.
#include "families/deepseek_vl_hybrid.h"

#include <gtest/gtest.h>

#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "deepseek_vl_hybrid"},
          {"image_token_id", 5},
          {"tokens_per_image", 576},
          {"high_res_size", 1024},
          {"size", 384},
          {"min_padded_side", 14},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}},
          {"high_res_image_mean", {0.4, 0.5, 0.6}},
          {"high_res_image_std", {0.2, 0.3, 0.4}}};
}

TEST(DeepseekVlHybrid, TwoParts) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(1, 5000);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{3 * (1024 * 1024 + 384 * 384)}));
  ASSERT_EQ(plan->feature_parts.size(), 2u);
  EXPECT_EQ(plan->feature_parts[0].shape, (Ids{1, 3, 384, 384}));
  EXPECT_EQ(plan->feature_parts[1].name, "high_res_pixel_values");
  EXPECT_EQ(plan->tokens, 576u);
}

TEST(DeepseekVlHybrid, Refusals) {
  nlohmann::json spec = Spec();
  spec["min_padded_side"] = 385;
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "deepseek_vl_hybrid spec: min_padded_side 385 is over the sides of a square");
  spec = Spec();
  spec["high_res_image_std"] = {0.2, 0, 0.4};
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "deepseek_vl_hybrid spec: high_res_image_std: expected numbers other than 0");
}

}  // namespace
}  // namespace mmcpp
