// Every family against what transformers gave for its specs (tests/golden/families.json).
#include "support/golden.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "mmcpp/hash.h"
#include "mmcpp/registry.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp {
namespace {

void Check(const Family& family, const nlohmann::json& golden, const std::string& name) {
  const test::Picture picture(golden.at("height"), golden.at("width"));
  const auto plan = family.PlanItem(picture.height, picture.width);
  ASSERT_TRUE(plan.ok()) << name << ": " << plan.error().message;
  EXPECT_EQ(plan->feature_shape, golden.at("shape").get<std::vector<int64_t>>()) << name;
  auto feature = Tensor::Allocate(DType::kF32, plan->feature_shape);
  ASSERT_TRUE(feature.ok());
  const Status status = family.ProcessItem(picture.view(), *plan, feature->view());
  ASSERT_TRUE(status.ok()) << name << ": " << status.error().message;
  EXPECT_EQ(test::Hex(ContentHash({feature->data(), feature->byte_count()})),
            golden.at("hash").get<std::string>())
      << name << " at " << picture.height << "x" << picture.width;
}

TEST(FamiliesGolden, FeaturesEqualThoseOfTransformers) {
  size_t cases = 0;
  const nlohmann::json file = test::GoldenFile("families.json");
  for (const auto& golden : file.at("cases")) {
    const auto family = FamilyFromSpec(golden.at("spec").dump());
    ASSERT_TRUE(family.ok()) << family.error().message;
    const std::string name = golden.at("name").get<std::string>() + ", " +
                             golden.at("spec").at("resample").get<std::string>();
    for (const auto& feature : golden.at("features")) {
      test::ForEachSchedule(2, [&] { Check(**family, feature, name); });
      ++cases;
    }
  }
  EXPECT_GT(cases, 80u);
}

}  // namespace
}  // namespace mmcpp
