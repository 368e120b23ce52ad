// families/intern_vl.cc: plans, prompts and refusals; mimo_v2_test.cc has its features.
#include "families/intern_vl.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "intern_vl"},
          {"image_token_id", 7},
          {"img_context_token_id", 5},
          {"img_start_token_id", 3},
          {"img_end_token_id", 4},
          {"image_size", 32},
          {"num_image_token", 2},
          {"max_num", 12},
          {"image_mean", {0.485, 0.456, 0.406}},
          {"image_std", {0.229, 0.224, 0.225}}};
}

TEST(InternVlFloat, PlansAndPrompts) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto grid = std::get<TileGrid>((*family)->PlanItem(480, 640)->geometry);
  EXPECT_EQ((Ids{grid.columns, grid.rows}), (Ids{4, 3}));
  EXPECT_EQ((*family)->PlanItem(2, 2)->feature_shape, (Ids{10, 3, 32, 32})) << "3x3, thumbnail";
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(10, 70)};
  const Ids ids = {8, 7};
  const auto layout = (*family)->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  const auto prompt = ApplyLayout(ids, *layout, 1, 1000);
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->input_ids.size(), plans[0].tokens + 1);
  EXPECT_EQ(prompt->input_ids[1], 3);
  EXPECT_EQ(prompt->input_ids.back(), 4);
  EXPECT_EQ(prompt->offsets[0].first, 2u);
  EXPECT_EQ(prompt->offsets[0].last, prompt->input_ids.size() - 2);
  EXPECT_TRUE((*family)->Aux(plans[0])->empty());
}

TEST(InternVlFloat, Refusals) {
  const auto message = [](const char* key, const nlohmann::json& value) {
    nlohmann::json spec = Spec();
    spec[key] = value;
    const auto family = FamilyFromSpec(spec.dump());
    return family.ok() ? "" : family.error().message;
  };
  EXPECT_EQ(message("img_end_token_id", -4),
            "intern_vl spec: token ids must be non-negative, got img_end_token_id -4");
  EXPECT_EQ(message("max_num", 0), "intern_vl spec: sizes must be positive, got max_num 0");
  EXPECT_EQ(message("image_std", {1, 0, 1}), "intern_vl spec: image_std[1] is zero");
  nlohmann::json spec = Spec();
  spec["image_size"] = 4096;
  spec["max_num"] = 1000;
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "intern_vl spec: 1000 tiles of 4096 a side have more than 268435456 pixels");
}

}  // namespace
}  // namespace mmcpp
