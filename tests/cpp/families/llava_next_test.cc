// families/llava_next.cc: plans and refusals; golden_test.cc has its features and
// tests/python/test_hf_llava_next.py its counts.
#include "families/llava_next.h"

#include <gtest/gtest.h>

#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;
using Ids2 = std::vector<Ids>;

nlohmann::json Spec() {
  return {
      {"family", "llava_next"},
      {"image_token_id", 5},
      {"tile_size", 336},
      {"image_grid_pinpoints", Ids2{{336, 672}, {672, 336}, {672, 672}, {1008, 336}, {336, 1008}}},
      {"tile_tokens", 24},
      {"base_tokens", 576},
      {"image_mean", {0.5, 0.5, 0.5}},
      {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(LlavaNext, PlansTilesAndTokens) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(480, 640);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{1, 5, 3, 336, 336}));
  EXPECT_EQ(plan->tokens, 576u + 36 * 48 + 36);  // transformers 5.24
  EXPECT_EQ(plan->resized_height, 672);
  const auto aux = (*family)->Aux(*plan);
  ASSERT_EQ(aux->size(), 1u);
  EXPECT_EQ((*aux)[0].name, "image_sizes");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[0], 480);
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[1], 640);
}

// LLaVA-OneVision's checkpoints; counts of LlavaOnevisionProcessor in transformers 5.24. The last
// three round up from less than a ten-millionth under a whole number.
TEST(LlavaNext, PooledAndRoundedCounts) {
  Ids2 resolutions;
  for (int64_t height = 384; height <= 2304; height += 384) {
    for (int64_t width = 384; width <= 2304; width += 384) resolutions.push_back({height, width});
  }
  nlohmann::json spec = Spec();
  spec.update({{"tile_size", 384},
               {"image_grid_pinpoints", resolutions},
               {"tile_tokens", 27},
               {"base_tokens", 729},
               {"anyres_max", 9}});
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const struct {
    int height, width;
    uint64_t tokens;
  } cases[] = {{916, 1902, 7281}, {690, 2153, 7164},  {710, 2077, 7262},
               {1476, 820, 7425}, {1875, 1750, 7286}, {1872, 1456, 7281}};
  for (const auto& c : cases) {
    EXPECT_EQ((*family)->PlanItem(c.height, c.width)->tokens, c.tokens)
        << c.height << "x" << c.width;
  }
}

TEST(LlavaNext, Refusals) {
  const auto message = [](const char* key, const nlohmann::json& value) {
    nlohmann::json spec = Spec();
    spec[key] = value;
    const auto family = FamilyFromSpec(spec.dump());
    return family.ok() ? "" : family.error().message;
  };
  EXPECT_EQ(message("image_grid_pinpoints", Ids2{{336, 700}}),
            "llava_next spec: image_grid_pinpoints: 336x700 cannot be cut into tiles of 336");
  EXPECT_EQ(message("image_grid_pinpoints", Ids2{}),
            "llava_next spec: image_grid_pinpoints: expected one at least");
  EXPECT_EQ(message("image_grid_pinpoints", {1, 2}),
            "llava_next spec: image_grid_pinpoints: expected an array of at most 4096 pairs of "
            "integers, got an array of 2");
}

TEST(LlavaNext, WhatIsLessThanAPixelHighHasTheSmallestResolution) {
  const auto family = FamilyFromSpec(Spec().dump());
  const auto plan = (*family)->PlanItem(1, 2000);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->feature_shape[1], 3);
}

}  // namespace
}  // namespace mmcpp
