// Qwen2-VL, 2.5-VL, 3-VL and 3.5 and what reuses their mechanism, pictures only: smart_resize,
// bicubic, normalise, patches in merge blocks or row by row, the placeholder repeated once per
// merged patch, M-RoPE. Equals Qwen2VLImageProcessor, and with other size rules and orders of
// patches Glm4vImageProcessor, Glm46VImageProcessor and PaddleOCRVLImageProcessor, of
// transformers 5.24: their torchvision backend with "aten_u8", their PIL backend with "pil".
#include "families/qwen_vl.h"

#include <array>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
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

enum class PatchOrder { kBlock, kRaster, kRaster4d };

struct Config {
  ItemPrompt prompt;
  uint64_t min_pixels = 0, max_pixels = 0;
  transforms::SmartResizeRule size_rule = transforms::SmartResizeRule::kTransformers;
  Convention convention = Convention::kAtenU8;
  int merge_size = 0;                ///< patches per side that one token stands for
  transforms::BlockPatches patches;  ///< as written: blocks of merge_size, or of one patch
  PatchOrder order = PatchOrder::kBlock;
  bool plain_positions = false;
  bool merge_sizes = false;  ///< the aux tensor image_merge_sizes too, as VideoLLaMA3 has it
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
  config.prompt = ItemPrompt::Read(&spec);
  config.patches.patch_size = spec.Size("patch_size", kMaxPatchSize);
  config.merge_size = spec.Size("merge_size", kMaxMergeSize);
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
       {"reference", transforms::SmartResizeRule::kReference},
       {"glm", transforms::SmartResizeRule::kGlm},
       {"paddleocr", transforms::SmartResizeRule::kPaddleOcr}},
      transforms::SmartResizeRule::kTransformers);
  config.order = spec.EnumOr<PatchOrder>("patch_order",
                                         {{"block", PatchOrder::kBlock},
                                          {"raster", PatchOrder::kRaster},
                                          {"raster_4d", PatchOrder::kRaster4d}},
                                         PatchOrder::kBlock);
  config.patches.merge_size = config.order == PatchOrder::kBlock ? config.merge_size : 1;
  config.merge_sizes = spec.BoolOr("image_merge_sizes", false);
  config.plain_positions =
      spec.EnumOr<bool>("positions", {{"mrope", false}, {"plain", true}}, false);
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
    const int merge = config_.merge_size;
    MMCPP_ASSIGN(
        const transforms::Size size,
        transforms::SmartResize(
            height, width, patch * merge, config_.min_pixels, config_.max_pixels, config_.size_rule,
            config_.size_rule == transforms::SmartResizeRule::kGlm ? config_.patches.copies : 1));
    const GridThw grid = {1, static_cast<uint32_t>(size.height / patch),
                          static_cast<uint32_t>(size.width / patch)};
    const uint64_t rows = uint64_t{grid.h} * grid.w;
    const int64_t planes = int64_t{3} * config_.patches.copies;
    ItemPlan plan;
    if (config_.order == PatchOrder::kRaster4d) {
      plan.feature_shape = {static_cast<int64_t>(rows), planes, patch, patch};
    } else {
      plan.feature_shape = {static_cast<int64_t>(rows), planes * patch * patch};
    }
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(rows / static_cast<uint64_t>(merge) /
                                            static_cast<uint64_t>(merge));
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    return ResizeToPatches(image, plan.resized_height, plan.resized_width, Filter::kBicubic,
                           config_.convention, config_.patches, config_.table, feature);
  }

  Status ProcessRows(RowSource* rows, const ItemPlan& plan, TensorView feature) const override {
    return ResizeToPatches(rows, plan.resized_height, plan.resized_width, Filter::kBicubic,
                           config_.convention, config_.patches, config_.table, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const GridThw grid = std::get<GridThw>(plan.geometry);
    const std::array<int64_t, 3> thw = {grid.t, grid.h, grid.w};
    std::vector<NamedTensor> aux(config_.merge_sizes ? 2 : 1);
    aux[0].name = "image_grid_thw";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(thw, {3}));
    if (config_.merge_sizes) {
      const std::array<int64_t, 1> merge = {config_.merge_size};
      aux[1].name = "image_merge_sizes";
      MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(merge, {}));
    }
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

  Result<Positions> ComputePositions(size_t length, Span<const TokenRange> offsets,
                                     Span<const ItemPlan> items) const override {
    if (config_.plain_positions) return Positions{Rope1D{}};
    std::vector<GridThw> grids;
    grids.reserve(items.size());
    for (const ItemPlan& item : items) grids.push_back(std::get<GridThw>(item.geometry));
    MMCPP_ASSIGN(MRope mrope,
                 MropePositions(length, offsets, grids, static_cast<uint32_t>(config_.merge_size)));
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
