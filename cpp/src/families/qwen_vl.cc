// Qwen2-VL, 2.5-VL, 3-VL and 3.5, pictures only: smart_resize, bicubic, normalise, patches in merge
// blocks, the placeholder repeated once per merged patch, M-RoPE. Equals Qwen2VLImageProcessor of
// transformers 5.24: its torchvision backend with "aten_u8", its PIL backend with "pil".
#include "families/qwen_vl.h"

#include <array>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/resize_patches.h"
#include "mmcpp/prompt.h"
#include "mmcpp/resize.h"
#include "transforms/normalize.h"
#include "transforms/patchify.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {
namespace {

// Bounds that no checkpoint comes near and within which no product of sizes overflows: a patch row
// has at most 3 * 64 * 2^20 values, the resize factor is at most 2^16.
constexpr int kMaxPatchSize = 1024;
constexpr int kMaxMergeSize = 64;
constexpr int kMaxTemporalPatchSize = 64;
constexpr uint64_t kMaxMinPixels = uint64_t{1} << 40;

struct Config {
  int64_t image_token_id = 0;
  uint64_t min_pixels = 0, max_pixels = 0;
  transforms::SmartResizeRule size_rule = transforms::SmartResizeRule::kTransformers;
  Convention convention = Convention::kAtenU8;
  transforms::BlockPatches patches;
  transforms::NormTable table;
};

/// The rules that a spec's "resample" stands for.
struct Backend {
  Convention convention;
  transforms::NormRule norm_rule;
};

Backend ReadBackend(SpecReader* spec) {
  enum class Resample { kAtenU8, kPil };
  const auto resample = spec->EnumOr<Resample>(
      "resample", {{"aten_u8", Resample::kAtenU8}, {"pil", Resample::kPil}}, Resample::kAtenU8);
  const uint64_t pillow = spec->UIntOr("pillow_generation", 12, 13, 13);
  if (resample == Resample::kAtenU8) return {Convention::kAtenU8, transforms::NormRule::kFused};
  return {pillow == 12 ? Convention::kPillow12 : Convention::kPillow13, transforms::NormRule::kPil};
}

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.image_token_id = spec.Int("image_token_id", INT64_MIN, INT64_MAX);
  config.patches.patch_size = spec.Size("patch_size", kMaxPatchSize);
  config.patches.merge_size = spec.Size("merge_size", kMaxMergeSize);
  config.patches.copies = spec.Size("temporal_patch_size", kMaxTemporalPatchSize);
  config.min_pixels = spec.UInt("min_pixels", 0, kMaxMinPixels);
  config.max_pixels = spec.UInt("max_pixels", 0, UINT64_MAX);
  const std::array<float, 3> mean = spec.Channels("image_mean");
  const std::array<float, 3> std = spec.Channels("image_std");
  const Backend backend = ReadBackend(&spec);
  config.convention = backend.convention;
  config.size_rule = spec.EnumOr<transforms::SmartResizeRule>(
      "smart_resize",
      {{"transformers", transforms::SmartResizeRule::kTransformers},
       {"reference", transforms::SmartResizeRule::kReference}},
      transforms::SmartResizeRule::kTransformers);
  if (spec.strict()) {
    for (float channel : std) {
      if (channel == 0) spec.Fail("image_std: expected numbers other than 0");
    }
    if (config.min_pixels > config.max_pixels) {
      spec.Fail("min_pixels " + std::to_string(config.min_pixels) + " is over max_pixels " +
                std::to_string(config.max_pixels));
    }
  }
  MMCPP_TRY(spec.Finish());
  config.table = transforms::MakeNormTable(backend.norm_rule, mean, std);
  return config;
}

class QwenVl final : public Family {
 public:
  explicit QwenVl(const Config& config) : config_(config) {}

  const char* name() const noexcept override { return "qwen_vl"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    const int patch = config_.patches.patch_size;
    const int merge = config_.patches.merge_size;
    MMCPP_ASSIGN(const transforms::Size size,
                 transforms::SmartResize(height, width, patch * merge, config_.min_pixels,
                                         config_.max_pixels, config_.size_rule));
    const GridThw grid = {1, static_cast<uint32_t>(size.height / patch),
                          static_cast<uint32_t>(size.width / patch)};
    const uint64_t rows = uint64_t{grid.h} * grid.w;
    const int64_t columns = int64_t{3} * config_.patches.copies * patch * patch;
    ItemPlan plan;
    plan.feature_shape = {static_cast<int64_t>(rows), columns};
    plan.geometry = grid;
    plan.tokens = rows / static_cast<uint64_t>(merge) / static_cast<uint64_t>(merge);
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    return ResizeToPatches(image, plan.resized_height, plan.resized_width, Filter::kBicubic,
                           config_.convention, config_.patches, config_.table, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const GridThw grid = std::get<GridThw>(plan.geometry);
    const std::array<int64_t, 3> thw = {grid.t, grid.h, grid.w};
    std::vector<NamedTensor> aux(1);
    aux[0].name = "image_grid_thw";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(thw, {3}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    std::vector<uint64_t> counts;
    counts.reserve(items.size());
    for (const ItemPlan& item : items) counts.push_back(item.tokens);
    return LayoutByPlaceholder(input_ids, config_.image_token_id, counts);
  }

  Result<Positions> ComputePositions(size_t length, Span<const TokenRange> offsets,
                                     Span<const ItemPlan> items) const override {
    std::vector<GridThw> grids;
    grids.reserve(items.size());
    for (const ItemPlan& item : items) grids.push_back(std::get<GridThw>(item.geometry));
    MMCPP_ASSIGN(MRope mrope, MropePositions(length, offsets, grids,
                                             static_cast<uint32_t>(config_.patches.merge_size)));
    return Positions{std::move(mrope)};
  }

 private:
  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeQwenVl(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<QwenVl>(config));
}

}  // namespace mmcpp::families
