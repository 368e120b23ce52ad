// families/kimi_k3.cc: plans as sglang 0.5.23 makes them, padding and refusals; the pixels are
// compared in tests/python/test_kimi_k3.py.
#include "families/kimi_k3.h"

#include <gtest/gtest.h>

#include "mmcpp/registry.h"
#include "support/pictures.h"

namespace mmcpp {
namespace {

using Ids = std::vector<int64_t>;

nlohmann::json Spec() {
  return {{"family", "kimi_k3"},
          {"image_token_id", 5},
          {"patch_size", 14},
          {"merge_kernel_size", 2},
          {"in_patch_limit", 65536},
          {"patch_limit_on_one_side", 512},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

std::unique_ptr<const Family> Make(const nlohmann::json& spec) {
  auto family = FamilyFromSpec(spec.dump());
  EXPECT_TRUE(family.ok()) << family.error().message;
  return *std::move(family);
}

TEST(KimiK3, Plans) {
  const auto family = Make(Spec());
  EXPECT_STREQ(family->name(), "kimi_k3");
  const auto plan = family->PlanItem(100, 200);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->feature_shape, (Ids{8 * 16, 3, 14, 14}));
  EXPECT_EQ(plan->tokens, 4u * 8);
  const auto aux = family->Aux(*plan);
  EXPECT_EQ((*aux)[0].name, "grid_thws");
  EXPECT_EQ((*aux)[0].tensor.As<int64_t>()[1], 8);
  // 512 patches a side, 65,536 in all, before they are rounded up.
  EXPECT_EQ(family->PlanItem(10, 20000)->feature_shape[0], 2 * 512);
  EXPECT_EQ(family->PlanItem(8000, 8000)->feature_shape[0], 258 * 258) << "then rounded up";
  nlohmann::json spec = Spec();
  spec["fixed_output_tokens"] = 77;
  EXPECT_EQ(Make(spec)->PlanItem(100, 200)->tokens, 77u);
}

TEST(KimiK3, PadsWithBytesOfZero) {
  const auto family = Make(Spec());
  const test::Picture picture(13, 29);
  const auto plan = family->PlanItem(13, 29);
  ASSERT_EQ(plan->feature_shape, (Ids{2 * 4, 3, 14, 14}));
  auto feature = Tensor::Allocate(DType::kU8, plan->feature_shape);
  ASSERT_TRUE(family->ProcessItem(picture.view(), *plan, feature->view()).ok());
  const auto values = feature->As<uint8_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t patch = i / (3 * 14 * 14), channel = i / (14 * 14) % 3;
    const size_t y = patch / 4 * 14 + i / 14 % 14, x = patch % 4 * 14 + i % 14;
    const bool inside = y < 13 && x < 29;
    ASSERT_EQ(values[i], inside ? picture.view().row(static_cast<int>(y))[3 * x + channel] : 0)
        << y << ", " << x;
  }
}

// The pixels are compared in Python; here, that alpha reaches the background.
TEST(KimiK3, LaysOverItsBackground) {
  const std::vector<uint8_t> clear(4 * 28 * 28);
  const ImageView view = {clear.data(), 28, 28, 4 * 28, 4};
  nlohmann::json spec = Spec();
  const auto first_of_second_row = [&](const char* background) {
    if (background != nullptr) spec["background"] = background;
    const auto family = Make(spec);
    EXPECT_TRUE(family->KeepsAlpha());
    const auto plan = family->PlanItem(28, 28);
    auto feature = Tensor::Allocate(DType::kU8, plan->feature_shape);
    EXPECT_TRUE(family->ProcessItem(view, *plan, feature->view()).ok());
    return int{feature->As<uint8_t>()[14]};
  };
  EXPECT_EQ(first_of_second_row(nullptr), 0);
  EXPECT_EQ(first_of_second_row("white"), 255);
  EXPECT_EQ(first_of_second_row("black"), 0);
  EXPECT_EQ(first_of_second_row("gray"), 128);
  EXPECT_EQ(first_of_second_row("chessboard"), 255);
  spec["chessboard_square_size"] = 1;
  EXPECT_EQ(first_of_second_row("chessboard"), 200);
  spec["chessboard_gray_value"] = 9;
  EXPECT_EQ(first_of_second_row("chessboard"), 9);
  spec["chessboard_white_value"] = 8;
  spec["chessboard_square_on_top_left"] = false;
  EXPECT_EQ(first_of_second_row("chessboard"), 8);
}

TEST(KimiK3, EndsOnTheWayOfWhatIsNotWanted) {
  class UnwantedRows : public RowSource {
   public:
    explicit UnwantedRows(const ImageView& view)
        : RowSource(view.height, view.width, 4), view_(view) {}
    const ImageView* whole() const noexcept override { return &view_; }
    Status Read(int, uint8_t*, size_t) override { return Ok{}; }
    Status StillWanted() const override { return Error{ErrorCode::kCancelled, "enough"}; }

   private:
    ImageView view_;
  };
  const std::vector<uint8_t> clear(4 * 60 * 60);
  for (const int limit : {4, 65536}) {  // with a resize, and without
    nlohmann::json spec = Spec();
    spec["in_patch_limit"] = limit;
    const auto family = Make(spec);
    UnwantedRows rows({clear.data(), 60, 60, 4 * 60, 4});
    const auto plan = family->PlanItem(60, 60);
    auto feature = Tensor::Allocate(DType::kU8, plan->feature_shape);
    EXPECT_EQ(family->ProcessRows(&rows, *plan, feature->view()).error().message, "enough");
  }
}

TEST(KimiK3, Refusals) {
  EXPECT_EQ(Make(Spec())->PlanItem(5, 0).error().message, "empty image");
  nlohmann::json spec = Spec();
  spec["in_patch_limit"] = int64_t{1} << 31;
  spec["patch_limit_on_one_side"] = 1 << 20;
  EXPECT_EQ(Make(spec)->PlanItem(1 << 15, 1 << 15).error().message,
            "resize: 32768x32768 stays over 268435456 pixels");
  EXPECT_FALSE(Make(spec)->PlanItem(INT32_MAX, INT32_MAX).ok());
  spec["merge_kernel_size"] = 64;
  spec["patch_size"] = 1024;
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "kimi_k3 spec: patch_limit_on_one_side: its blocks are over 1073741824 pixels long");
  spec = Spec();
  spec["image_std"] = {1, 0, 1};
  EXPECT_EQ(FamilyFromSpec(spec.dump()).error().message,
            "kimi_k3 spec: image_std: expected numbers other than 0");
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, nlohmann::json>>{{"background", "red"},
                                                           {"chessboard_square_size", 0},
                                                           {"chessboard_white_value", 256},
                                                           {"chessboard_gray_value", -1},
                                                           {"chessboard_square_on_top_left", 1}}) {
    spec = Spec();
    spec[key] = value;
    EXPECT_FALSE(FamilyFromSpec(spec.dump()).ok()) << key;
  }
}

}  // namespace
}  // namespace mmcpp
