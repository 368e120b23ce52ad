// families/padded_patches.cc: plans, masks, positions and refusals; golden_test.cc has its
// features.
#include "families/padded_patches.h"

#include <gtest/gtest.h>

#include <numeric>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec(const char* rule) {
  return {{"family", "padded_patches"},  {"image_token_id", 5},
          {"size_rule", rule},           {"patch_size", 16},
          {"max_patches", 90},           {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(PaddedPatches, MaskAndShape) {
  const auto family = FamilyFromSpec(Spec("siglip2").dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(20, 40);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{1, 90, 768}));
  const auto aux = (*family)->Aux(*plan);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*aux)[0].name, "pixel_attention_mask");
  const auto mask = (*aux)[0].tensor.As<int32_t>();
  const auto shape = (*aux)[1].tensor.As<int64_t>();
  EXPECT_EQ(std::accumulate(mask.begin(), mask.end(), int64_t{0}), shape[0] * shape[1]);
  EXPECT_EQ(plan->tokens, static_cast<uint64_t>(shape[0] * shape[1]));
  EXPECT_EQ(mask[0], 1);
}

TEST(PaddedPatches, PositionsAndTokens) {
  nlohmann::json spec = Spec("gemma4");
  spec["pooling"] = 3;
  spec["prefix_token_ids"] = {6};
  spec["suffix_token_ids"] = {7};
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(20, 40)};
  EXPECT_EQ(plans[0].resized_height, 96);
  EXPECT_EQ(plans[0].resized_width, 192);
  EXPECT_EQ(plans[0].tokens, 10u);
  const auto aux = (*family)->Aux(plans[0]);
  ASSERT_TRUE(aux.ok());
  const auto positions = (*aux)[0].tensor.As<int64_t>();
  EXPECT_EQ((Ids{positions[26], positions[27]}), (Ids{1, 1}));  // the second of row 1
  EXPECT_EQ((Ids{positions[144], positions[179]}), (Ids{-1, -1}));
  EXPECT_EQ((*aux)[1].tensor.As<int64_t>()[0], 8);
  const Ids ids = {1, 5};
  const auto layout = (*family)->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(ApplyLayout(ids, *layout, 1, 100)->input_ids, (Ids{1, 6, 5, 5, 5, 5, 5, 5, 5, 5, 7}));
}

TEST(PaddedPatches, Refusals) {
  nlohmann::json spec = Spec("siglip2");
  spec["pooling"] = 3;
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "padded_patches spec: pooling: no other than 1 with the size_rule `siglip2`");
  spec = Spec("siglip2");
  spec["patch_size"] = 256;
  spec["max_patches"] = 65536;
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "padded_patches spec: max_patches 65536 of 256 pixels are over 268435456 values");
  spec = Spec("gemma4");
  spec["image_std"] = {0.5, 0, 0.5};
  EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok());
}

}  // namespace
}  // namespace mmcpp
