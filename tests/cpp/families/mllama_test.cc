// families/mllama.cc: plans, ids of canvases, masks and the token that stays; golden_test.cc has
// its features.
#include "families/mllama.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

TEST(Mllama, CanvasesAndMasks) {
  const nlohmann::json spec = {
      {"family", "mllama"}, {"image_token_id", 5},           {"tile_size", 112},
      {"max_tiles", 4},     {"image_mean", {0.5, 0.5, 0.5}}, {"image_std", {0.5, 0.5, 0.5}}};
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  // In the order of rows, then columns: 1x1, 1x2, 1x3, 1x4, 2x1, 2x2, 3x1, 4x1.
  const struct {
    int height, width;
    int64_t id, tiles;
  } cases[] = {
      {10, 10, 1, 1}, {1, 5000, 4, 4}, {200, 100, 5, 2}, {480, 640, 6, 4}, {5000, 1, 8, 4}};
  for (const auto& c : cases) {
    const auto plan = (*family)->PlanItem(c.height, c.width);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->feature_shape, (Ids{1, 1, 4, 3, 112, 112}));
    EXPECT_EQ(plan->tokens, 1u);
    const auto aux = (*family)->Aux(*plan);
    ASSERT_TRUE(aux.ok());
    EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[0], c.id) << c.height << "x" << c.width;
    const auto mask = (*aux)[1].tensor.As<int64_t>();
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(mask[static_cast<size_t>(i)], i < c.tiles ? 1 : 0);
    EXPECT_EQ((*aux)[2].tensor.As<int64_t>()[0], c.tiles);
  }
  const std::vector<ItemPlan> plans = {*(*family)->PlanItem(10, 10)};
  const Ids ids = {1, 5, 2};
  const auto layout = (*family)->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(ApplyLayout(ids, *layout, 1, 100)->input_ids, ids);
}

}  // namespace
}  // namespace mmcpp
