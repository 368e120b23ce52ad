// families/qwen_vl.cc: the reference crate's vectors to the bit, dtypes against the f32 feature,
// and the bounds of the spec.
#include "families/qwen_vl.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/half.h"
#include "mmcpp/driver.h"
#include "mmcpp/hash.h"
#include "mmcpp/registry.h"
#include "support/golden.h"
#include "support/pictures.h"
#include "support/schedules.h"
#include "support/specs.h"

namespace mmcpp {
namespace {

std::unique_ptr<const Family> Make(const nlohmann::json& spec) {
  auto family = FamilyFromSpec(spec.dump());
  EXPECT_TRUE(family.ok()) << family.error().message;
  return family.ok() ? *std::move(family) : nullptr;
}

Tensor FeatureOf(const Family& family, const ImageView& image, DType dtype = DType::kF32) {
  const auto plan = family.PlanItem(image.height, image.width);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  auto feature = Tensor::Allocate(dtype, plan->feature_shape);
  EXPECT_TRUE(feature.ok());
  const Status status = family.ProcessItem(image, *plan, feature->view());
  EXPECT_TRUE(status.ok()) << status.error().message;
  return *std::move(feature);
}

std::string HashOf(const Tensor& tensor) {
  return test::Hex(ContentHash({tensor.data(), tensor.byte_count()}));
}

TEST(QwenVl, ReferenceVectors) {
  int cases = 0;
  for (const auto& golden : test::ReferenceCrate().at("cases")) {
    if (golden.at("op") != "qwen_vl.preprocess") continue;
    nlohmann::json spec = golden.at("spec");
    spec["resample"] = golden.at("resample");
    spec["pillow_generation"] = 12;  // the crate's pass order
    spec["smart_resize"] = "reference";
    const auto family = Make(spec);
    ASSERT_NE(family, nullptr);
    const test::Picture picture(golden.at("h"), golden.at("w"));
    const auto plan = family->PlanItem(picture.height, picture.width);
    ASSERT_TRUE(plan.ok());
    const auto grid = std::get<GridThw>(plan->geometry);
    EXPECT_EQ((std::vector<uint32_t>{grid.t, grid.h, grid.w}),
              golden.at("grid").get<std::vector<uint32_t>>());
    test::ForEachSchedule(4, [&] {
      const Tensor feature = FeatureOf(*family, picture.view());
      EXPECT_EQ(feature.element_count(), golden.at("numel").get<size_t>());
      EXPECT_EQ(HashOf(feature), golden.at("hash").get<std::string>())
          << picture.height << "x" << picture.width << " " << golden.at("resample");
    });
    ++cases;
  }
  EXPECT_EQ(cases, 7);
}

TEST(QwenVl, ReferenceSmartResize) {
  int cases = 0;
  for (const auto& golden : test::ReferenceCrate().at("smart_resize")) {
    nlohmann::json spec = test::QwenVlSpec();
    spec["patch_size"] = golden.at("factor").get<int>() / 2;
    spec["min_pixels"] = golden.at("min_pixels");
    spec["max_pixels"] = golden.at("max_pixels");
    spec["smart_resize"] = "reference";
    const auto plan = Make(spec)->PlanItem(golden.at("height"), golden.at("width"));
    if (golden.at("out").is_null()) {
      ASSERT_FALSE(plan.ok());
      EXPECT_EQ(plan.error().message,
                "smart_resize: 10x2000 degenerates to 0x784 at max_pixels=3136; image is too thin "
                "for this pixel budget");
    } else {
      ASSERT_TRUE(plan.ok()) << plan.error().message;
      EXPECT_EQ(plan->resized_height, golden.at("out")[0]);
      EXPECT_EQ(plan->resized_width, golden.at("out")[1]);
    }
    ++cases;
  }
  EXPECT_EQ(cases, 10);
}

TEST(QwenVl, SizeRulesDifferWhereTheirReferencesDo) {
  nlohmann::json spec = test::QwenVlSpec();
  spec["max_pixels"] = 3136;
  EXPECT_EQ(Make(spec)->PlanItem(10, 2000)->resized_height, 28) << "lifted to the factor";
  spec["smart_resize"] = "reference";
  EXPECT_FALSE(Make(spec)->PlanItem(10, 2000).ok());
}

TEST(QwenVl, PlanCountsTokensAndShapes) {
  const auto plan = Make(test::QwenVlSpec())->PlanItem(480, 640);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (std::vector<int64_t>{34 * 46, 3 * 2 * 14 * 14}));
  EXPECT_EQ(plan->tokens, 17u * 23u);
  EXPECT_EQ(plan->resized_height, 476);
  EXPECT_EQ(plan->resized_width, 644);
}

TEST(QwenVl, PlanRefusesWhatSmartResizeRefuses) {
  const auto family = Make(test::QwenVlSpec());
  const auto refusal = [&](int height, int width) {
    const auto plan = family->PlanItem(height, width);
    return plan.ok() ? "" : plan.error().message;
  };
  EXPECT_EQ(refusal(0, 5), "empty image");
  EXPECT_EQ(refusal(5, -1), "empty image");
  EXPECT_EQ(refusal(1, 201), "absolute aspect ratio must be smaller than 200, got 201");
  EXPECT_EQ(refusal(1, 200), "");
}

TEST(QwenVl, HalfFeaturesAreRoundedFloats) {
  for (const char* resample : {"pil", "aten_u8"}) {
    nlohmann::json spec = test::QwenVlSpec();
    spec["resample"] = resample;
    const auto family = Make(spec);
    const test::Picture picture(57, 90, 5);
    const Tensor f32 = FeatureOf(*family, picture.view(), DType::kF32);
    const Tensor bf16 = FeatureOf(*family, picture.view(), DType::kBf16);
    const Tensor f16 = FeatureOf(*family, picture.view(), DType::kF16);
    const auto* bf16_bits = reinterpret_cast<const uint16_t*>(bf16.data());
    const auto* f16_bits = reinterpret_cast<const uint16_t*>(f16.data());
    for (size_t i = 0; i < f32.element_count(); ++i) {
      ASSERT_EQ(bf16_bits[i], ToBf16(f32.As<float>()[i]));
      ASSERT_EQ(f16_bits[i], ToF16(f32.As<float>()[i]));
    }
  }
}

TEST(QwenVl, BytesGiveTheFeatureThroughItsTable) {
  nlohmann::json spec = test::QwenVlSpec();
  spec["resample"] = "pil";
  spec["image_mean"] = {0, 0, 0};
  spec["image_std"] = {1, 1, 1};
  const auto family = Make(spec);
  const test::Picture picture(57, 90, 6);
  const Tensor u8 = FeatureOf(*family, picture.view(), DType::kU8);
  const Tensor f32 = FeatureOf(*family, picture.view());
  for (size_t i = 0; i < f32.element_count(); ++i) {
    ASSERT_EQ(f32.As<float>()[i], static_cast<float>(u8.As<uint8_t>()[i]) / 255.0f);
  }
}

TEST(QwenVl, PillowGenerationIsTheSpecs) {
  // Narrower by less than it is flatter: Pillow 13 starts with the rows, Pillow 12 does not.
  const test::Picture picture(900, 60);
  nlohmann::json spec = test::QwenVlSpec();
  spec["resample"] = "pil";
  spec["max_pixels"] = 20000;
  const std::string now = HashOf(FeatureOf(*Make(spec), picture.view()));
  spec["pillow_generation"] = 13;
  EXPECT_EQ(HashOf(FeatureOf(*Make(spec), picture.view())), now);
  spec["pillow_generation"] = 12;
  EXPECT_NE(HashOf(FeatureOf(*Make(spec), picture.view())), now);
}

TEST(QwenVl, AuxIsTheGrid) {
  const auto family = Make(test::QwenVlSpec());
  const auto aux = family->Aux(*family->PlanItem(480, 640));
  ASSERT_TRUE(aux.ok());
  ASSERT_EQ(aux->size(), 1u);
  EXPECT_EQ((*aux)[0].name, "image_grid_thw");
  EXPECT_EQ((*aux)[0].tensor.shape(), (std::vector<int64_t>{3}));
  const auto grid = (*aux)[0].tensor.As<int64_t>();
  ASSERT_EQ(grid.size(), 3u) << "int64";
  EXPECT_EQ(std::vector<int64_t>(grid.begin(), grid.end()), (std::vector<int64_t>{1, 34, 46}));
}

TEST(QwenVl, AuxOfVideoLlama3) {
  nlohmann::json spec = test::QwenVlSpec();
  spec["image_merge_sizes"] = true;
  const auto family = Make(spec);
  const auto aux = family->Aux(*family->PlanItem(480, 640));
  ASSERT_TRUE(aux.ok());
  ASSERT_EQ(aux->size(), 2u);
  EXPECT_EQ((*aux)[1].name, "image_merge_sizes");
  EXPECT_TRUE((*aux)[1].tensor.shape().empty());
  EXPECT_EQ((*aux)[1].tensor.As<int64_t>()[0], 2);
}

void ExpectRefused(const char* key, const nlohmann::json& value, const std::string& message) {
  nlohmann::json spec = test::QwenVlSpec();
  spec[key] = value;
  const auto family = FamilyFromSpec(spec.dump());
  ASSERT_FALSE(family.ok()) << message;
  EXPECT_EQ(family.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(family.error().message, "qwen_vl spec: " + message);
}

TEST(QwenVl, EveryKeyIsNeeded) {
  const nlohmann::json whole = test::QwenVlSpec();
  for (const auto& [key, value] : whole.items()) {
    if (key == "family") continue;
    nlohmann::json spec = whole;
    spec.erase(key);
    const auto family = FamilyFromSpec(spec.dump());
    ASSERT_FALSE(family.ok());
    EXPECT_EQ(family.error().message, "qwen_vl spec: missing field `" + key + "`");
  }
}

TEST(QwenVl, RefusesSpecsOutOfRange) {
  ExpectRefused("patch_size", 0, "sizes must be positive, got patch_size 0");
  ExpectRefused("merge_size", 0, "sizes must be positive, got merge_size 0");
  ExpectRefused("temporal_patch_size", 0, "sizes must be positive, got temporal_patch_size 0");
  ExpectRefused("patch_size", 1025, "patch_size: expected an integer from 1 to 1024, got 1025");
  ExpectRefused("merge_size", 65, "merge_size: expected an integer from 1 to 64, got 65");
  ExpectRefused("min_pixels", uint64_t{1} << 41,
                "min_pixels: expected an integer from 0 to 1099511627776, got 2199023255552");
  ExpectRefused("image_std", {1, 0, 1}, "image_std: expected numbers other than 0");
  ExpectRefused("resample", "bicubic",
                "resample: unknown variant `bicubic`, expected `aten_u8` or `pil`");
  ExpectRefused("pillow_generation", 11,
                "pillow_generation: expected an integer from 12 to 13, got 11");
  ExpectRefused("smart_resize", "hf",
                "smart_resize: unknown variant `hf`, expected `transformers`, `reference`, `glm`, "
                "`paddleocr`, `keye`, `navit`, `kimi_vl`, `glm5_next` or `muse`");
}

TEST(QwenVl, LenientSpecsPassWhatTheReferencePasses) {
  nlohmann::json spec = test::QwenVlSpec();
  spec["image_std"] = {1, 0, 1};
  spec["min_pixels"] = 2000000;
  EXPECT_TRUE(FamilyFromSpec(spec.dump(), UnknownKeys::kIgnore).ok());
}

TEST(QwenVl, LargestSpecsDoNotOverflow) {
  nlohmann::json spec = test::QwenVlSpec();
  spec["patch_size"] = 1024;
  spec["merge_size"] = 64;
  spec["temporal_patch_size"] = 64;
  spec["min_pixels"] = uint64_t{1} << 40;
  spec["max_pixels"] = std::numeric_limits<uint64_t>::max();
  const auto family = Make(spec);
  for (const int side : {1, 200, 65535, 1 << 20}) {
    const auto plan = family->PlanItem(side, side);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    for (int64_t extent : plan->feature_shape) EXPECT_GT(extent, 0);
    EXPECT_GT(plan->tokens, 0u);
  }
  const int max = std::numeric_limits<int>::max();
  EXPECT_FALSE(family->PlanItem(max, max).ok());
}

TEST(QwenVl, PositionsAreMrope) {
  const auto family = Make(test::QwenVlSpec());
  const std::vector<ItemPlan> plans = {*family->PlanItem(56, 84)};  // 2 x 3 tokens
  const std::vector<TokenRange> offsets = {{3, 8}};
  const auto positions = family->ComputePositions(std::vector<int64_t>(11), offsets, plans);
  ASSERT_TRUE(positions.ok());
  const auto& mrope = std::get<MRope>(*positions);
  EXPECT_EQ(mrope.delta, -3);
  for (const auto& golden : test::ReferenceCrate().at("cases")) {
    if (golden.at("op") == "mrope") {
      EXPECT_EQ(HashOf(mrope.position_ids), golden.at("hash").get<std::string>());
      EXPECT_EQ(mrope.delta, golden.at("delta").get<int64_t>());
    }
  }
}

nlohmann::json HunyuanSpec() {
  nlohmann::json spec = test::QwenVlSpec();
  spec.update({{"patch_order", "raster"},
               {"positions", "xdrope"},
               {"row_tokens", 1},
               {"extra_tokens", 2},
               {"wrapper_token_ids", {7, 8}}});
  return spec;
}

TEST(QwenVl, RowsOfTokensAndTheirPositions) {
  const auto family = Make(HunyuanSpec());
  const std::vector<int64_t> ids = {7, 9, 8};
  const std::vector<PictureSize> sizes = {{56, 84}};
  const auto planned = PlanRequest(*family, ids, sizes);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(planned->items[0].tokens, 2u * (3 + 1) + 2);
  EXPECT_EQ(std::get<MRope>(planned->positions).position_ids.shape(),
            (std::vector<int64_t>{4, 12}));
  for (const std::vector<int64_t>& bare :
       {std::vector<int64_t>{9, 8}, std::vector<int64_t>{7, 9}, std::vector<int64_t>{8, 9, 7}}) {
    EXPECT_EQ(PlanRequest(*family, bare, sizes).error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(QwenVl, RowsOfTokensAreAColumnMoreToMrope) {
  nlohmann::json spec = test::QwenVlSpec();
  spec["row_tokens"] = 1;
  const std::vector<int64_t> prompt = {9, 1};
  const std::vector<PictureSize> sizes = {{56, 84}};
  const auto planned = PlanRequest(*Make(spec), prompt, sizes);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(planned->items[0].tokens, 2u * (3 + 1));
  const auto ids = std::get<MRope>(planned->positions).position_ids.As<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(ids.begin() + 18, ids.end()),
            (std::vector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3, 4}));
}

TEST(QwenVl, RefusesRowsOfTokensWithoutPlaces) {
  for (const nlohmann::json& change :
       {nlohmann::json{{"positions", "mrope"}}, nlohmann::json{{"row_tokens", 0}},
        nlohmann::json{{"extra_tokens", 1}}, nlohmann::json{{"position_axes", 2}},
        nlohmann::json{{"wrapper_token_ids", {7}}}}) {
    nlohmann::json spec = HunyuanSpec();
    spec.update(change);
    EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok()) << change;
  }
}

TEST(QwenVl, PadsWhatItsRulePads) {
  nlohmann::json spec = test::QwenVlSpec();
  spec.erase("min_pixels");
  spec.erase("max_pixels");
  spec.update({{"smart_resize", "navit"},
               {"max_patches", 64},
               {"max_patches_per_side", 8},
               {"temporal_patch_size", 1},
               {"positions", "plain"},
               {"patch_order", "raster_4d"},
               {"grid", "hws"}});
  const auto family = Make(spec);
  ASSERT_NE(family, nullptr);
  const test::Picture picture(30, 20);
  const Tensor feature = FeatureOf(*family, picture.view(), DType::kU8);
  EXPECT_EQ(feature.shape(), (std::vector<int64_t>{8, 3, 14, 14}));
  // Row 30 of the canvas is the third row of the patches at 28, column 20 the seventh of those
  // at 14.
  const uint8_t* corner = feature.data() + 5 * 3 * 196;
  EXPECT_EQ(corner[1 * 14 + 5], picture.view().row(29)[19 * 3]);
  EXPECT_EQ(corner[1 * 14 + 6], 0);
  EXPECT_EQ(corner[2 * 14 + 5], 0);
  const auto aux = family->Aux(*family->PlanItem(30, 20));
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ((*aux)[0].name, "image_grid_hws");
  EXPECT_EQ((*aux)[0].tensor.shape(), (std::vector<int64_t>{2}));
  EXPECT_FALSE(family->PlanItem(0, 20).ok());
}

}  // namespace
}  // namespace mmcpp
