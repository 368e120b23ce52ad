// families/dsv41.cc: plans as sglang 0.5.23 makes them, and refusals; the pixels are compared in
// canvas_patches_test.cc and tests/python/test_dsv41.py.
#include "families/dsv41.h"

#include <gtest/gtest.h>

#include "mmcpp/registry.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "dsv41"},          {"image_token_id", 5},
          {"vision_patch_size", 14},    {"vision_downsample_ratio", 3},
          {"vision_min_pixels", 10000}, {"vision_max_n_token", 400},
          {"vision_max_wh_ratio", 8}};
}

std::unique_ptr<const Family> Make(const nlohmann::json& spec) {
  auto family = FamilyFromSpec(spec.dump());
  EXPECT_TRUE(family.ok()) << family.error().message;
  return *std::move(family);
}

TEST(Dsv41, Plans) {
  const auto family = Make(Spec());
  EXPECT_STREQ(family->name(), "dsv41");
  const auto plan = family->PlanItem(200, 300);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{15 * 22, 3, 14, 14}));
  EXPECT_EQ(plan->tokens, 5u * (8 + 1) + 2);
  const auto aux = family->Aux(*plan);
  EXPECT_EQ((*aux)[0].name, "n_vit_h");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[0], 15);
  EXPECT_EQ((*aux)[1].tensor.As<int64_t>()[0], 22);
  for (const int height : {1, 7, 700, 4000}) {
    for (const int width : {1, 30, 900, 20000}) {
      const auto any = family->PlanItem(height, width);
      EXPECT_TRUE(!any.ok() || any->tokens <= 400u) << height << "x" << width;
    }
  }
}

TEST(Dsv41, RefusesWhatIsTooThinOrTooLarge) {
  EXPECT_EQ(Make(Spec())->PlanItem(0, 5).error().message, "empty image");
  nlohmann::json spec = Spec();
  spec.erase("vision_max_wh_ratio");
  EXPECT_EQ(Make(spec)->PlanItem(1, 60000).error().message,
            "resize: 1x60000 vanishes on a canvas of 42x16674");
  EXPECT_EQ(Make(spec)->PlanItem(60000, 1).error().code, ErrorCode::kInvalidArgument);
  spec["vision_max_n_token"] = 1 << 20;
  EXPECT_EQ(Make(spec)->PlanItem(1 << 30, 1 << 30).error().code, ErrorCode::kLimitExceeded);
  const auto message = [](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = Spec();
    changed[key] = value;
    return FamilyFromSpec(changed.dump()).error().message;
  };
  EXPECT_EQ(message("vision_max_wh_ratio", 0),
            "dsv41 spec: vision_max_wh_ratio: expected a positive number");
  EXPECT_EQ(message("vision_max_n_token", 3),
            "dsv41 spec: vision_max_n_token: expected an integer from 4 to 1048576, got 3");
}

}  // namespace
}  // namespace mmcpp
