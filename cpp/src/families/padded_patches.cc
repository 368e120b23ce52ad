// SigLIP 2 (NaFlex) and Gemma 4: the picture at its own ratio, in at most so many patches, row by
// row and with channels last; zeros behind them, which a mask or positions of -1 tell apart. Equals
// Siglip2ImageProcessor and Gemma4ImageProcessor of transformers 5.24.
#include "families/padded_patches.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_pixel_patches.h"
#include "families/resize_planes.h"
#include "transforms/patch_budgets.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxPatchSize = 256;
constexpr int kMaxPatches = 1 << 16;
constexpr int64_t kMaxValues = int64_t{1} << 28;  // of one picture

enum class SizeRule { kSiglip2, kGemma4 };

struct Config {
  ItemPrompt prompt;
  SizeRule rule = SizeRule::kSiglip2;
  int patch_size = 0;
  int max_patches = 0;
  int pooling = 1;
  PixelRules pixels;

  int64_t values() const { return int64_t{3} * patch_size * patch_size; }
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.rule = spec.EnumOr<SizeRule>(
      "size_rule", {{"siglip2", SizeRule::kSiglip2}, {"gemma4", SizeRule::kGemma4}},
      SizeRule::kSiglip2);
  config.patch_size = spec.Size("patch_size", kMaxPatchSize);
  config.max_patches = spec.Size("max_patches", kMaxPatches);
  config.pooling = static_cast<int>(spec.UIntOr("pooling", 1, 64, 1));
  config.pixels = PixelRules::Read(&spec);
  if (config.values() * config.max_patches > kMaxValues) {
    spec.Fail("max_patches " + std::to_string(config.max_patches) + " of " +
              std::to_string(config.patch_size) + " pixels are over " + std::to_string(kMaxValues) +
              " values");
  }
  if (config.rule == SizeRule::kSiglip2 && config.pooling != 1) {
    spec.Fail("pooling: no other than 1 with the size_rule `siglip2`");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class PaddedPatches final : public Family {
 public:
  explicit PaddedPatches(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "padded_patches"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    const int patch = config_.patch_size;
    MMCPP_ASSIGN(const transforms::Size size, SizeOf(height, width));
    const GridThw grid = {1, static_cast<uint32_t>(size.height / patch),
                          static_cast<uint32_t>(size.width / patch)};
    const auto pooled =
        static_cast<uint64_t>(config_.pooling) * static_cast<uint64_t>(config_.pooling);
    ItemPlan plan;
    plan.feature_shape = {1, config_.max_patches, config_.values()};
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(uint64_t{grid.h} * grid.w / pooled);
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    return ResizeToPixelPatches(image, Resized(plan), config_.pixels, PatchesOf(plan), feature);
  }

  Status ProcessRows(RowSource* rows, const ItemPlan& plan, TensorView feature) const override {
    return ResizeToPixelPatches(rows, Resized(plan), config_.pixels, PatchesOf(plan), feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const auto& grid = std::get<GridThw>(plan.geometry);
    return config_.rule == SizeRule::kSiglip2 ? MaskAndShape(grid) : PositionsAndCount(grid);
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  Result<transforms::Size> SizeOf(int height, int width) const {
    if (config_.rule == SizeRule::kSiglip2) {
      return transforms::FitPatchCount(height, width, config_.patch_size, config_.max_patches);
    }
    return transforms::FitPatchArea(height, width, config_.patch_size, config_.pooling,
                                    config_.max_patches);
  }

  static transforms::Size Resized(const ItemPlan& plan) {
    return {plan.resized_height, plan.resized_width};
  }

  transforms::PixelPatches PatchesOf(const ItemPlan& plan) const {
    const auto& grid = std::get<GridThw>(plan.geometry);
    return {config_.patch_size, static_cast<int>(grid.h), static_cast<int>(grid.w)};
  }

  Result<std::vector<NamedTensor>> MaskAndShape(const GridThw& grid) const {
    std::vector<int32_t> mask(static_cast<size_t>(config_.max_patches));
    const auto used = static_cast<std::ptrdiff_t>(uint64_t{grid.h} * grid.w);
    std::fill(mask.begin(), mask.begin() + used, 1);
    const std::array<int64_t, 2> shape = {grid.h, grid.w};
    std::vector<NamedTensor> aux(2);
    aux[0].name = "pixel_attention_mask";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int32_t>(mask, {config_.max_patches}));
    aux[1].name = "spatial_shapes";
    MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(shape, {2}));
    return aux;
  }

  // Positions are (x, y).
  Result<std::vector<NamedTensor>> PositionsAndCount(const GridThw& grid) const {
    std::vector<int64_t> positions(2 * static_cast<size_t>(config_.max_patches), -1);
    size_t i = 0;
    for (int64_t y = 0; y < grid.h; ++y) {
      for (int64_t x = 0; x < grid.w; ++x) {
        positions[i++] = x;
        positions[i++] = y;
      }
    }
    const std::array<int64_t, 1> count = {int64_t{grid.h} * grid.w / config_.pooling /
                                          config_.pooling};
    std::vector<NamedTensor> aux(2);
    aux[0].name = "image_position_ids";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(positions, {config_.max_patches, 2}));
    aux[1].name = "num_soft_tokens_per_image";
    MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(count, {}));
    return aux;
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakePaddedPatches(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<PaddedPatches>(std::move(config)));
}

}  // namespace mmcpp::families
