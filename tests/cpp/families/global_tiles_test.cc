// families/global_tiles.cc: plans, parts of a flat feature, tokens and refusals; golden_test.cc has
// its features.
#include "families/global_tiles.h"

#include <gtest/gtest.h>

#include "mmcpp/driver.h"
#include "mmcpp/registry.h"
#include "support/golden.h"
#include "support/pictures.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Vl2() {
  return {{"family", "global_tiles"},
          {"layout", "deepseek_vl2"},
          {"image_token_id", 5},
          {"tile_size", 384},
          {"tile_tokens", 14},
          {"image_grid_pinpoints", {{384, 384}, {768, 1152}, {1152, 768}}},
          {"background", {127, 127, 127}},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

nlohmann::json Ocr(const char* layout) {
  return {{"family", "global_tiles"},
          {"layout", layout},
          {"image_token_id", 5},
          {"global_size", 1024},
          {"global_tokens", 16},
          {"tile_size", 640},
          {"tile_tokens", 10},
          {"min_tiles", 2},
          {"max_tiles", 6},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

TEST(GlobalTiles, DeepseekVl2) {
  const auto family = FamilyFromSpec(Vl2().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(1152, 768);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{7, 3, 384, 384}));
  EXPECT_TRUE(plan->feature_parts.empty());
  EXPECT_EQ(plan->tokens, 1429u);
  const auto aux = (*family)->Aux(*plan);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*aux)[0].name, "images_spatial_crop");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[0], 2);
  EXPECT_EQ((*family)->PlanItem(1, 3000).error().message,
            "resize: 1x3000 vanishes on a canvas of 384x384");
}

TEST(GlobalTiles, TiledItemsOfAPromptMayBeLimited) {
  nlohmann::json spec = Vl2();
  spec["max_tiled_items"] = 2;
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const std::vector<PictureSize> tiled(3, {1152, 768}), whole(3, {300, 300});
  const Ids ids = {5, 5, 5};
  const Span<const int64_t> two = {ids.data(), 2};
  EXPECT_TRUE(PlanRequest(**family, two, {tiled.data(), 2}).ok());
  EXPECT_TRUE(PlanRequest(**family, ids, whole).ok());
  EXPECT_EQ(
      PlanRequest(**family, ids, tiled).error().message,
      "item 0: tiles in a prompt of 3 pictures, of more than 2 none has any; use a spec of one "
      "resolution");
}

TEST(GlobalTiles, PartsOfAFlatFeature) {
  const auto family = FamilyFromSpec(Ocr("unlimited_ocr").dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto small = (*family)->PlanItem(640, 640);
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small->feature_parts.size(), 1u);
  EXPECT_EQ(small->feature_shape, (Ids{3 * 1024 * 1024}));
  EXPECT_EQ(small->tokens, 16u * 17 + 1);
  const auto large = (*family)->PlanItem(640, 1290);
  ASSERT_TRUE(large.ok());
  ASSERT_EQ(large->feature_parts.size(), 2u);
  EXPECT_EQ(large->feature_parts[1].name, "pixel_values_local");
  EXPECT_EQ(large->feature_parts[1].shape, (Ids{2, 3, 640, 640}));
  EXPECT_EQ(large->feature_shape, (Ids{3 * (1024 * 1024 + 2 * 640 * 640)}));
  EXPECT_EQ(large->tokens, 16u * 17 + 1 + 10 * 21);
  const auto aux = (*family)->Aux(*large);
  ASSERT_TRUE(aux.ok());
  ASSERT_EQ(aux->size(), 2u);
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[0], 2);
  EXPECT_EQ((*aux)[1].name, "patches_grid");
}

TEST(GlobalTiles, FlatFeaturesOfABatchStandBehindEachOther) {
  nlohmann::json spec = Ocr("deepseek_ocr2");
  spec["global_size"] = 32;
  spec["tile_size"] = 16;
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const test::Picture one(12, 9), two(40, 30);
  const std::vector<MediaSource> media = {two.view(), one.view()};
  const auto batch = ProcessItems(**family, media, {});
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  const int64_t first = batch->items[0].plan.feature_shape[0];
  EXPECT_EQ(batch->features.shape(), (Ids{first + 3 * 32 * 32}));
  for (size_t i = 0; i < media.size(); ++i) {
    const auto alone = ProcessItems(**family, {&media[i], 1}, {});
    ASSERT_TRUE(alone.ok());
    const auto values = alone->features.As<float>();
    const auto* own = batch->features.As<float>().data() + (i == 0 ? 0 : first);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), own)) << i;
  }
}

TEST(GlobalTiles, Refusals) {
  nlohmann::json spec = Vl2();
  spec["image_grid_pinpoints"] = {{384, 400}};
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "global_tiles spec: image_grid_pinpoints: 384x400 cannot be cut into tiles of 384");
  spec = Vl2();
  spec["global_size"] = 1024;
  EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok());
}

}  // namespace
}  // namespace mmcpp
