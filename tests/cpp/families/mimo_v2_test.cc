// families/mimo_v2.cc and families/intern_vl.cc against what torch gave for their rules
// (tests/golden/torch_float.json), plans, positions and refusals of the first.
#include "families/mimo_v2.h"

#include <gtest/gtest.h>

#include "mmcpp/hash.h"
#include "mmcpp/registry.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "mimo_v2"},
          {"image_token_id", 5},
          {"patch_size", 16},
          {"merge_size", 2},
          {"temporal_patch_size", 2},
          {"min_pixels", 8192},
          {"max_pixels", 8388608},
          {"image_mean", {122.7709383, 116.7460125, 104.09373615}},
          {"image_std", {68.5005327, 66.6321375, 70.32316335}}};
}

TEST(FloatFamilies, FeaturesEqualTorch) {
  size_t cases = 0;
  const nlohmann::json file = test::GoldenFile("torch_float.json");
  for (const auto& golden : file.at("features")) {
    const auto family = FamilyFromSpec(golden.at("spec").dump());
    ASSERT_TRUE(family.ok()) << family.error().message;
    const test::Picture picture(golden.at("height"), golden.at("width"));
    const auto plan = (*family)->PlanItem(picture.height, picture.width);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    ASSERT_EQ(plan->feature_shape, golden.at("shape").get<Ids>());
    test::ForEachSchedule(2, [&] {
      auto feature = Tensor::Allocate(DType::kF32, plan->feature_shape);
      ASSERT_TRUE((*family)->ProcessItem(picture.view(), *plan, feature->view()).ok());
      EXPECT_EQ(test::Hex(ContentHash({feature->data(), feature->byte_count()})),
                golden.at("hash").get<std::string>())
          << golden.at("spec").at("family") << " " << picture.height << "x" << picture.width;
    });
    ++cases;
  }
  EXPECT_EQ(cases, 30u);
}

TEST(MimoV2, PlansAndPositions) {
  const auto family = FamilyFromSpec(Spec().dump());
  ASSERT_TRUE(family.ok()) << family.error().message;
  const auto plan = (*family)->PlanItem(3000, 4000);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->resized_height, 2496);
  EXPECT_EQ(plan->resized_width, 3328);
  EXPECT_EQ(plan->tokens, 78u * 104);
  EXPECT_EQ((*family)->PlanItem(1, 300)->resized_width, 9600) << "any ratio, for it is small";
  EXPECT_EQ((*family)->PlanItem(33, 6633).error().message,
            "absolute aspect ratio must be smaller than 200, got 201");
  EXPECT_EQ((*family)->PlanItem(0, 3).error().message, "empty image");
  const auto positions = (*family)->ComputePositions(Ids{7, 7, 7}, {}, {});
  ASSERT_TRUE(positions.ok());
  const auto& mrope = std::get<MRope>(*positions);
  const auto ids = mrope.position_ids.As<int64_t>();
  EXPECT_EQ(Ids(ids.begin(), ids.end()), (Ids{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(mrope.delta, 0);
  // Nothing is read of so many.
  const Span<const int64_t> too_many(ids.data(), size_t{1} << 40);
  EXPECT_EQ((*family)->ComputePositions(too_many, {}, {}).error().code, ErrorCode::kLimitExceeded);
}

TEST(MimoV2, RefusesOtherFeatures) {
  const auto family = FamilyFromSpec(Spec().dump());
  const test::Picture picture(40, 40);
  const auto plan = (*family)->PlanItem(40, 40);
  auto feature = Tensor::Allocate(DType::kU8, plan->feature_shape);
  EXPECT_EQ((*family)->ProcessItem(picture.view(), *plan, feature->view()).error().code,
            ErrorCode::kUnsupported);
  nlohmann::json spec = Spec();
  spec["image_std"] = {1, 0, 1};
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message, "mimo_v2 spec: image_std must be nonzero");
}

}  // namespace
}  // namespace mmcpp
