// families/lfm2_vl.cc: plans, marks of the prompt, tensors beside the feature and refusals;
// golden_test.cc has its features.
#include "families/lfm2_vl.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "lfm2_vl"},
          {"image_token_id", 5},
          {"patch_size", 4},
          {"downsample_factor", 2},
          {"min_image_tokens", 1},
          {"max_image_tokens", 4},
          {"tile_size", 8},
          {"min_tiles", 2},
          {"max_tiles", 2},
          {"row_column_token_ids", {11, 12, 21, 22}},
          {"mark_columns", 2},
          {"thumbnail_token_ids", {7}},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(Lfm2Vl, TilesAndTheWhole) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(20, 40), *(*family)->PlanItem(8, 16)};
  EXPECT_EQ(plans[0].feature_shape, (Ids{3, 16, 48}));
  EXPECT_EQ(plans[1].feature_shape, (Ids{1, 16, 48}));
  const Ids ids = {5, 5};
  const auto layout = (*family)->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(ApplyLayout(ids, *layout, 2, 100)->input_ids, (Ids{11, 5, 12, 5, 7, 5, 5, 5, 5}));
  const auto aux = (*family)->Aux(plans[0]);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*family)->JoinedAux().size(), 2u);
  for (size_t i = 0; i < aux->size(); ++i) EXPECT_EQ((*aux)[i].name, (*family)->JoinedAux()[i]);
  EXPECT_EQ((*aux)[0].tensor.shape(), (Ids{3, 16}));
  const auto shapes = (*aux)[1].tensor.As<int64_t>();
  EXPECT_EQ(Ids(shapes.begin(), shapes.end()), (Ids{2, 2, 2, 2, 2, 4}));
}

TEST(Lfm2Vl, Refusals) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  EXPECT_EQ((*family)->PlanItem(1, 1000).error().message,
            "resize: to 8x504, too thin for 16 patches");
  nlohmann::json spec = Spec();
  spec["tile_size"] = 10;
  const auto cut = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  EXPECT_TRUE((*cut)->PlanItem(8, 8).ok());  // as a whole
  EXPECT_EQ((*cut)->PlanItem(100, 100).error().message,
            "tiles: tile_size 10 is no multiple of patch_size 4");
  spec = Spec();
  spec["min_tiles"] = spec["max_tiles"] = 1;
  const auto whole = FamilyFromSpec(spec.dump());
  const auto plan = (*whole)->PlanItem(1, 1000);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->feature_shape, (Ids{1, 252, 48}));
  EXPECT_EQ((*(*whole)->Aux(*plan))[0].tensor.shape(), (Ids{1, 16}));  // the mask
  spec = Spec();
  spec["mark_columns"] = 4;
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "lfm2_vl spec: row_column_token_ids: expected 2 rows of 2");
  spec = Spec();
  spec["resample"] = "pil";
  EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok());
}

}  // namespace
}  // namespace mmcpp
