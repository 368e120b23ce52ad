// families/phi4_multimodal.cc: grids, tokens, tensors beside the feature and refusals;
// golden_test.cc has its features.
#include "families/phi4_multimodal.h"

#include <gtest/gtest.h>

#include "mmcpp/prompt.h"
#include "mmcpp/registry.h"
#include "support/golden.h"
#include "support/pictures.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "phi4_multimodal"},
          {"image_token_id", 5},
          {"tile_size", 448},
          {"patch_size", 14},
          {"max_tiles", 36},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

std::unique_ptr<const Family> Make(const nlohmann::json& spec) {
  auto family = FamilyFromSpec(spec.dump());
  EXPECT_TRUE(family.ok()) << family.error().message;
  return *std::move(family);
}

TEST(Phi4Multimodal, GridsAndTokens) {
  const auto family = Make(Spec());
  const auto plan = *family->PlanItem(448, 448);
  EXPECT_EQ(plan.feature_shape, (Ids{1, 2, 3, 448, 448}));
  EXPECT_EQ(plan.tokens, 256u + 1 + 256 + 16 + 16);
  // 2 x 3 tiles, of whose rows 600 * 1344 / 1000 = 806 of 896 pixels are seen: 90 / 14 patches are
  // not, and half of the others stand for tokens.
  const auto padded = *family->PlanItem(600, 1000);
  EXPECT_EQ(padded.feature_shape, (Ids{1, 7, 3, 448, 448}));
  EXPECT_EQ(padded.resized_height, 896);
  EXPECT_EQ(padded.resized_width, 1344);
  EXPECT_EQ(padded.tokens, 256u + 1 + 29 * 48 + 29 + 16);
  EXPECT_EQ(std::get<TileGrid>(family->PlanItem(9000, 9000)->geometry).count(), 37);
}

TEST(Phi4Multimodal, TensorsBesideTheFeature) {
  nlohmann::json spec = Spec();
  spec["tile_size"] = 28;
  const auto family = Make(spec);
  const auto plan = *family->PlanItem(14, 40);
  const auto aux = *family->Aux(plan);
  ASSERT_EQ(aux.size(), 3u);
  EXPECT_EQ(aux[0].tensor.As<int64_t>()[0], 28);
  EXPECT_EQ(aux[0].tensor.As<int64_t>()[1], 56);
  EXPECT_EQ(aux[1].tensor.shape(), (Ids{3, 2, 2}));
  const auto mask = aux[1].tensor.As<float>();
  // 14 * 56 / 40 = 19 of 28 rows: less than a patch is padding.
  EXPECT_EQ(std::vector<float>(mask.begin(), mask.end()), std::vector<float>(12, 1.0F));
  const auto flat_aux = *family->Aux(*family->PlanItem(10, 40));
  const auto flat = flat_aux[1].tensor.As<float>();
  EXPECT_EQ(std::vector<float>(flat.begin(), flat.end()),
            (std::vector<float>{1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0}));
  ASSERT_EQ(family->OnesAux().size(), 1u);
  EXPECT_EQ(aux[1].name, family->OnesAux()[0]);
  EXPECT_EQ(aux[2].tensor.As<int64_t>()[0], static_cast<int64_t>(plan.tokens));
}

TEST(Phi4Multimodal, PadsWithWhite) {
  nlohmann::json spec = Spec();
  spec["tile_size"] = 28;
  spec["image_mean"] = {0, 0, 0};
  spec["image_std"] = {1, 1, 1};
  const auto family = Make(spec);
  const std::vector<uint8_t> black(3 * 10 * 40);
  const auto plan = *family->PlanItem(10, 40);
  auto feature = Tensor::Allocate(DType::kF32, plan.feature_shape);
  ASSERT_TRUE(family->ProcessItem({black.data(), 10, 40, 120}, plan, feature->view()).ok());
  const auto values = feature->As<float>();
  EXPECT_EQ(values[3 * 28 * 28], 0.0F) << "the first tile";
  EXPECT_EQ(values[3 * 28 * 28 + 13 * 28], 0.0F) << "the last of 14 rows";
  EXPECT_EQ(values[3 * 28 * 28 + 14 * 28], 1.0F) << "and what is below";
  EXPECT_EQ(values[0], 0.0F) << "the whole";
  EXPECT_FLOAT_EQ(values[27 * 28], 1.0F);
}

TEST(Phi4Multimodal, Refusals) {
  const auto family = Make(Spec());
  EXPECT_EQ(family->PlanItem(0, 5).error().message, "empty image");
  EXPECT_EQ(family->PlanItem(9, 448).error().message,
            "resize: 9x448 becomes 9x448, which is less than 10 on a side");
  EXPECT_TRUE(family->PlanItem(10, 448).ok());
  EXPECT_FALSE(family->PlanItem(INT32_MAX, 1).ok());
  const auto plan = *family->PlanItem(20, 20);
  auto bytes = Tensor::Allocate(DType::kU8, plan.feature_shape);
  const test::Picture picture(20, 20);
  EXPECT_EQ(family->ProcessItem(picture.view(), plan, bytes->view()).error().code,
            ErrorCode::kUnsupported);
  const auto refused = [](const char* key, const nlohmann::json& value) {
    nlohmann::json spec = Spec();
    spec[key] = value;
    return FamilyFromSpec(spec.dump()).error().message;
  };
  EXPECT_EQ(refused("patch_size", 449),
            "phi4_multimodal spec: patch_size 449 is over tile_size 448");
  EXPECT_EQ(refused("tile_size", 4088),
            "phi4_multimodal spec: 36 tiles of 4088 a side have more than 268435456 pixels");
  EXPECT_EQ(refused("resample", "pil"), "phi4_multimodal spec: resample: there is `aten_u8` alone");
}

}  // namespace
}  // namespace mmcpp
