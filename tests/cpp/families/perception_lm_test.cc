// families/perception_lm.cc: plans and refusals; golden_test.cc has its features.
#include "families/perception_lm.h"

#include <gtest/gtest.h>

#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "perception_lm"},
          {"image_token_id", 5},
          {"tile_size", 448},
          {"max_tiles", 36},
          {"tokens_per_tile", 256},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(PerceptionLm, TheWholeAndTiles) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(480, 640);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{1, 36, 3, 448, 448}));
  EXPECT_EQ(std::get<TileGrid>(plan->geometry).rows, 5u);
  EXPECT_EQ(plan->tokens, 36u * 256);
  EXPECT_FALSE((*family)->PlanItem(0, 640).ok());
}

TEST(PerceptionLm, TheWholeAlone) {
  nlohmann::json spec = Spec();
  spec["tiles"] = false;
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  EXPECT_EQ((*family)->PlanItem(480, 640)->feature_shape, (Ids{1, 1, 3, 448, 448}));
}

TEST(PerceptionLm, Refusals) {
  nlohmann::json spec = Spec();
  spec["resample"] = "pil";
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "perception_lm spec: resample: there is `aten_u8` alone");
}

}  // namespace
}  // namespace mmcpp
