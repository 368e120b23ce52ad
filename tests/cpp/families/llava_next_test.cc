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
  const auto family = FamilyFromSpec(Spec().dump());
  EXPECT_EQ((*family)->PlanItem(1, 2000).error().message,
            "tiles: 1x2000 vanishes in each of 5 resolutions");
}

}  // namespace
}  // namespace mmcpp
