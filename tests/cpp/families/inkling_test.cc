// families/inkling.cc: the reference's vectors, plans, prompts and refusals.
#include "families/inkling.h"

#include <gtest/gtest.h>

#include "mmcpp/driver.h"
#include "mmcpp/hash.h"
#include "mmcpp/registry.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "inkling"},
          {"image_token_id", 5},
          {"patch_size", 40},
          {"rescale_image_frac", 2.0},
          {"rescale_image_max_upscaled_long_edge", 2048}};
}

std::unique_ptr<const Family> Make(const nlohmann::json& spec) {
  auto family = FamilyFromSpec(spec.dump());
  EXPECT_TRUE(family.ok()) << family.error().message;
  return *std::move(family);
}

TEST(Inkling, ReferenceVectors) {
  int cases = 0;
  for (const auto& golden : test::ReferenceCrate().at("cases")) {
    if (golden.at("op") != "inkling.patchify_rgb") continue;
    const auto family = Make({{"family", "inkling"},
                              {"image_token_id", 5},
                              {"patch_size", golden.at("patch_size")},
                              {"temporal_patch_size", 1}});
    const test::Picture picture(golden.at("h"), golden.at("w"));
    test::ForEachSchedule(4, [&] {
      const auto plan = family->PlanItem(picture.height, picture.width);
      auto feature = Tensor::Allocate(DType::kBf16, plan->feature_shape);
      ASSERT_TRUE(family->ProcessItem(picture.view(), *plan, feature->view()).ok());
      EXPECT_EQ(test::Hex(ContentHash({feature->data(), feature->byte_count()})),
                golden.at("hash").get<std::string>());
    });
    ++cases;
  }
  EXPECT_EQ(cases, 3);
}

TEST(Inkling, Plans) {
  const auto family = Make(Spec());
  EXPECT_STREQ(family->name(), "inkling");
  const auto plan = family->PlanItem(480, 640);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->resized_height, 960);
  EXPECT_EQ(plan->resized_width, 1280);
  EXPECT_EQ(plan->feature_shape, (Ids{24 * 33, 2, 40, 40, 3}));
  EXPECT_EQ(plan->tokens, 24u * 33);
  EXPECT_EQ((*family->Aux(*plan))[0].tensor.As<int64_t>()[0], 24 * 33);
  EXPECT_EQ(family->PlanItem(3000, 4000)->resized_width, 4000) << "the edge never shrinks";
  EXPECT_EQ(family->PlanItem(1500, 1000)->resized_height, 2048);
  EXPECT_EQ(family->PlanItem(0, 5).error().code, ErrorCode::kInvalidArgument);
}

TEST(Inkling, HugePicturesAreRefusedBeforeMemoryIsTaken) {
  nlohmann::json spec = Spec();
  spec.erase("rescale_image_max_upscaled_long_edge");
  spec["rescale_image_frac"] = 1e300;
  EXPECT_EQ(Make(spec)->PlanItem(4, 5).error().code, ErrorCode::kLimitExceeded);
  spec["rescale_image_frac"] = 1e4;
  EXPECT_EQ(Make(spec)->PlanItem(4, 5).error().message,
            "patches: 1000x1251 of 40 pixels a side, the limit is 268435456 pixels");
  EXPECT_FALSE(Make(spec)->PlanItem(1, INT32_MAX).ok());
  spec["rescale_image_frac"] = 1.0;
  EXPECT_FALSE(Make(spec)->PlanItem(INT32_MAX, INT32_MAX).ok());
}

TEST(Inkling, WholeRequest) {
  const auto family = Make(Spec());
  const test::Picture picture(30, 50);
  const MediaSource media[] = {picture.view()};
  const Ids ids = {8, 5, 9};
  Request request{ids, {media, 1}, {}};
  request.options.dtype = DType::kBf16;
  const auto response = Process(*family, request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->input_ids, (Ids{8, 5, 5, 5, 5, 5, 5, 9}));
  EXPECT_EQ(response->offsets[0].first, 1u);
  EXPECT_EQ(response->offsets[0].last, 6u);
  EXPECT_TRUE(std::holds_alternative<Rope1D>(response->positions));
  EXPECT_EQ(response->items[0].feature.shape(), (Ids{6, 2, 40, 40, 3}));
  request.options.dtype = DType::kU8;
  EXPECT_EQ(Process(*family, request).error().code, ErrorCode::kUnsupported);
}

TEST(Inkling, RefusesWhatItsOwnProcessorRefuses) {
  const auto message = [](const char* key, const nlohmann::json& value) {
    nlohmann::json spec = Spec();
    spec[key] = value;
    const auto family = FamilyFromSpec(spec.dump());
    EXPECT_TRUE(FamilyFromSpec(spec.dump(), UnknownKeys::kIgnore).ok() || value == "x" ||
                value == 0);
    return family.ok() ? "" : family.error().message;
  };
  EXPECT_EQ(message("rescale_image_frac", -1.0),
            "inkling spec: rescale_image_frac: expected a positive number");
  EXPECT_EQ(message("rescale_image_frac", "x"),
            "inkling spec: rescale_image_frac: expected a number, got the string `x`");
  EXPECT_EQ(message("rescale_image_frac", 1),
            "inkling spec: rescale_image_max_upscaled_long_edge requires rescale_image_frac above "
            "1");
  EXPECT_EQ(message("rescale_image_max_upscaled_long_edge", -3),
            "inkling spec: rescale_image_max_upscaled_long_edge: expected a positive number, got "
            "-3");
  EXPECT_EQ(message("patch_size", 0), "inkling spec: sizes must be positive, got patch_size 0");
}

}  // namespace
}  // namespace mmcpp
