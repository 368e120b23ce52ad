// families/internvl.cc: plans, marks and refusals; golden_test.cc has its features.
#include "families/internvl.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "internvl"},
          {"image_token_id", 5},
          {"tokens_per_tile", 2},
          {"tile_height", 32},
          {"tile_width", 32},
          {"min_tiles", 1},
          {"max_tiles", 6},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

Ids Expanded(const nlohmann::json& spec, int height, int width) {
  const auto family = FamilyFromSpec(spec.dump());
  EXPECT_TRUE(family.ok()) << family.error().message;
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(height, width)};
  const Ids ids = {8, 5};
  const auto layout = (*family)->Layout(ids, plans);
  EXPECT_TRUE(layout.ok());
  const auto prompt = ApplyLayout(ids, *layout, 1, 1000);
  EXPECT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->input_ids.size(), plans[0].tokens + 1);
  return prompt->input_ids;
}

TEST(InternVl, TilesAndThumbnail) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(30, 90);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{4, 3, 32, 32}));
  EXPECT_EQ(plan->tokens, 8u);
  const auto aux = (*family)->Aux(*plan);
  EXPECT_EQ((*aux)[0].name, "num_patches");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[0], 4);
  EXPECT_EQ((*family)->PlanItem(30, 30)->feature_shape[0], 1) << "one tile is its own thumbnail";

  nlohmann::json spec = Spec();
  spec["use_thumbnail"] = false;
  EXPECT_EQ((*FamilyFromSpec(spec.dump()))->PlanItem(30, 90)->feature_shape[0], 3);
}

TEST(InternVl, Prompts) {
  nlohmann::json spec = Spec();
  spec["prefix_token_ids"] = {1};
  spec["suffix_token_ids"] = {2};
  EXPECT_EQ(Expanded(spec, 30, 60), (Ids{8, 1, 5, 5, 5, 5, 5, 5, 2}));
  spec["tile_token_ids"] = {11, 12, 13, 14, 15, 16};
  spec["thumbnail_token_ids"] = {10};
  EXPECT_EQ(Expanded(spec, 30, 60), (Ids{8, 1, 11, 5, 5, 12, 5, 5, 10, 5, 5, 2}));
  EXPECT_EQ(Expanded(spec, 30, 30), (Ids{8, 1, 10, 5, 5, 2}));
}

TEST(InternVl, RefusesBoundsThatContradict) {
  const auto message = [](const char* key, const nlohmann::json& value) {
    nlohmann::json spec = Spec();
    spec[key] = value;
    const auto family = FamilyFromSpec(spec.dump());
    return family.ok() ? "" : family.error().message;
  };
  EXPECT_EQ(message("min_tiles", 7), "");  // one tile, as of any bounds without a grid between them
  EXPECT_EQ(message("tile_token_ids", {1, 2}),
            "internvl spec: tile_token_ids: expected one for each of 6 tiles, got 2");
  EXPECT_EQ(message("use_thumbnail", 1),
            "internvl spec: use_thumbnail: expected true or false, got 1");
  EXPECT_EQ(message("image_std", {1, 0, 1}),
            "internvl spec: image_std: expected numbers other than 0");
}

}  // namespace
}  // namespace mmcpp
