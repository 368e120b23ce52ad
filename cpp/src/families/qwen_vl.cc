// Qwen2-VL, 2.5-VL, 3-VL and 3.5 and what reuses their mechanism, pictures only: a size rule,
// bicubic or another filter, padding where the rule asks for it, normalise, patches in merge blocks
// or row by row, the placeholder repeated once per merged patch, M-RoPE. Equals
// Qwen2VLImageProcessor, and with other size rules, orders of patches and tokens the image
// processors of GLM, PaddleOCR-VL, HunyuanOCR, MiniMax-M3-VL, Kimi-K2.5 and Muse in
// transformers 5.24: their torchvision backend with "aten_u8", their PIL backend with "pil"; and
// Kimi-VL's and Keye-VL's own code.
#include "families/qwen_vl.h"

#include <array>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_patches.h"
#include "mmcpp/prompt.h"
#include "mmcpp/resize.h"
#include "transforms/nearest_grid.h"
#include "transforms/normalize.h"
#include "transforms/padded_sizes.h"
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
constexpr uint64_t kMaxPatches = uint64_t{1} << 30;
constexpr int kMaxPatchesPerSide = 1 << 13;

using transforms::SmartResizeRule;

enum class PatchOrder { kBlock, kRaster, kRaster4d };
enum class PaddedRule { kNone, kNavit, kKimiVl, kGlm5Next };
enum class PositionRule { kMrope, kPlain, kXdrope };

/// One of the names that the key smart_resize takes.
struct SizeRule {
  SmartResizeRule smart = SmartResizeRule::kTransformers;
  PaddedRule padded = PaddedRule::kNone;  ///< in place of smart_resize
  bool nearest_grid = false;              ///< likewise; max_pixels counts whole blocks

  bool CountsPatches() const {
    return padded == PaddedRule::kNavit || padded == PaddedRule::kKimiVl;
  }
};

struct Config {
  ItemPrompt prompt;
  std::vector<int64_t> wrapper;  ///< tokens that must stand around a placeholder; two or none
  SizeRule size_rule;
  uint64_t min_pixels = 0, max_pixels = 0;  ///< unless the rule counts patches:
  transforms::PatchBudget budget;
  Filter filter = Filter::kBicubic;
  Convention convention = Convention::kAtenU8;
  int merge_size = 0;                ///< patches per side that one token stands for
  transforms::BlockPatches patches;  ///< as written: blocks of merge_size, or of one patch
  PatchOrder order = PatchOrder::kBlock;
  uint64_t row_tokens = 0;    ///< after each row of merged patches, besides them
  uint64_t extra_tokens = 0;  ///< before the first and after the last, in all
  PositionRule positions = PositionRule::kMrope;
  uint32_t axes = 0;         ///< of XD-RoPE
  bool merge_sizes = false;  ///< the aux tensor image_merge_sizes too, as VideoLLaMA3 has it
  bool grid_hws = false;     ///< the aux tensor image_grid_hws, as Kimi-VL has it
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

SizeRule ReadSizeRule(SpecReader* spec) {
  return spec->EnumOr<SizeRule>("smart_resize",
                                {{"transformers", {SmartResizeRule::kTransformers}},
                                 {"reference", {SmartResizeRule::kReference}},
                                 {"glm", {SmartResizeRule::kGlm}},
                                 {"paddleocr", {SmartResizeRule::kPaddleOcr}},
                                 {"keye", {SmartResizeRule::kKeye}},
                                 {"navit", {{}, PaddedRule::kNavit}},
                                 {"kimi_vl", {{}, PaddedRule::kKimiVl}},
                                 {"glm5_next", {{}, PaddedRule::kGlm5Next}},
                                 {"muse", {{}, PaddedRule::kNone, true}}},
                                {});
}

void ReadTokens(SpecReader* spec, Config* config) {
  config->prompt = ItemPrompt::Read(spec);
  config->wrapper = spec->Ints("wrapper_token_ids");
  if (!config->wrapper.empty() && config->wrapper.size() != 2) {
    spec->Fail("wrapper_token_ids: expected two tokens or none");
  }
  config->row_tokens = spec->UIntOr("row_tokens", 0, 1, 0);
  config->extra_tokens = spec->UIntOr("extra_tokens", 0, 2, 0);
  config->positions = spec->EnumOr<PositionRule>("positions",
                                                 {{"mrope", PositionRule::kMrope},
                                                  {"plain", PositionRule::kPlain},
                                                  {"xdrope", PositionRule::kXdrope}},
                                                 PositionRule::kMrope);
  if (config->positions == PositionRule::kMrope && config->extra_tokens > 0) {
    spec->Fail("positions mrope: extra_tokens have no places");
  }
  if (config->positions != PositionRule::kXdrope) return;
  config->axes = static_cast<uint32_t>(spec->UIntOr("position_axes", 3, kMaxXdropeAxes, 4));
  if (config->row_tokens != 1 || config->extra_tokens == 1) {
    spec->Fail("positions xdrope: expected row_tokens 1 and extra_tokens 0 or 2");
  }
}

void ReadSizes(SpecReader* spec, Config* config) {
  config->patches.patch_size = spec->Size("patch_size", kMaxPatchSize);
  config->merge_size = spec->Size("merge_size", kMaxMergeSize);
  config->patches.copies = spec->Size("temporal_patch_size", kMaxTemporalPatchSize);
  config->size_rule = ReadSizeRule(spec);
  if (config->size_rule.CountsPatches()) {
    config->budget = {config->patches.patch_size, config->merge_size,
                      spec->UInt("max_patches", 1, kMaxPatches),
                      spec->Size("max_patches_per_side", kMaxPatchesPerSide)};
    return;
  }
  // The least may be over the most: what is then above the most is made smaller, as the classes do.
  config->min_pixels = spec->UInt("min_pixels", 0, kMaxMinPixels);
  config->max_pixels = spec->UInt("max_pixels", 0, UINT64_MAX);
}

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  ReadTokens(&spec, &config);
  ReadSizes(&spec, &config);
  const std::array<float, 3> mean = spec.Channels("image_mean");
  const std::array<float, 3> std = spec.Channels("image_std");
  const Backend backend = ReadBackend(&spec);
  config.convention = backend.convention;
  config.filter = spec.EnumOr<Filter>("filter",
                                      {{"bicubic", Filter::kBicubic},
                                       {"bilinear", Filter::kBilinear},
                                       {"lanczos", Filter::kLanczos}},
                                      Filter::kBicubic);
  config.order = spec.EnumOr<PatchOrder>("patch_order",
                                         {{"block", PatchOrder::kBlock},
                                          {"raster", PatchOrder::kRaster},
                                          {"raster_4d", PatchOrder::kRaster4d}},
                                         PatchOrder::kBlock);
  config.patches.merge_size = config.order == PatchOrder::kBlock ? config.merge_size : 1;
  config.patches.copies_first = spec.BoolOr("copies_first", false);
  config.merge_sizes = spec.BoolOr("image_merge_sizes", false);
  config.grid_hws = spec.EnumOr<bool>("grid", {{"thw", false}, {"hws", true}}, false);
  if (spec.strict()) {
    for (float channel : std) {
      if (channel == 0) spec.Fail("image_std: expected numbers other than 0");
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
    const auto merge = static_cast<uint64_t>(config_.merge_size);
    MMCPP_ASSIGN(const transforms::PaddedSize padded, SizeOf(height, width));
    const transforms::Size& size = padded.canvas;
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
    plan.tokens = config_.prompt.TokensWith(grid.h / merge * (grid.w / merge + config_.row_tokens) +
                                            config_.extra_tokens);
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& /*plan*/,
                     TensorView feature) const override {
    MMCPP_ASSIGN(const transforms::PaddedSize size, SizeOf(image.height, image.width));
    return ResizeToPatches(image, CanvasOf(size), config_.filter, config_.convention,
                           config_.patches, config_.table, feature);
  }

  Status ProcessRows(RowSource* rows, const ItemPlan& /*plan*/, TensorView feature) const override {
    MMCPP_ASSIGN(const transforms::PaddedSize size, SizeOf(rows->height(), rows->width()));
    return ResizeToPatches(rows, CanvasOf(size), config_.filter, config_.convention,
                           config_.patches, config_.table, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const GridThw grid = std::get<GridThw>(plan.geometry);
    const std::array<int64_t, 3> thw = {grid.t, grid.h, grid.w};
    std::vector<NamedTensor> aux(config_.merge_sizes ? 2 : 1);
    const Span<const int64_t> grid_values = thw;
    const size_t first = config_.grid_hws ? 1 : 0;
    aux[0].name = config_.grid_hws ? "image_grid_hws" : "image_grid_thw";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(grid_values.subspan(first, 3 - first),
                                                    {static_cast<int64_t>(3 - first)}));
    if (config_.merge_sizes) {
      const std::array<int64_t, 1> merge = {config_.merge_size};
      aux[1].name = "image_merge_sizes";
      MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(merge, {}));
    }
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    if (!config_.wrapper.empty()) MMCPP_TRY(CheckWrapped(input_ids));
    return config_.prompt.Layout(input_ids, items);
  }

  Result<Positions> ComputePositions(Span<const int64_t> input_ids, Span<const TokenRange> offsets,
                                     Span<const ItemPlan> items) const override {
    if (config_.positions == PositionRule::kPlain) return Positions{Rope1D{}};
    const size_t length = input_ids.size();
    const auto merge = static_cast<uint32_t>(config_.merge_size);
    const bool xdrope = config_.positions == PositionRule::kXdrope;
    std::vector<GridThw> grids;
    grids.reserve(items.size());
    for (const ItemPlan& item : items) {
      grids.push_back(std::get<GridThw>(item.geometry));
      // To M-RoPE the token after a row is one more column, as get_rope_index of HY-V4-VL has it.
      if (!xdrope) grids.back().w += merge * static_cast<uint32_t>(config_.row_tokens);
    }
    MMCPP_ASSIGN(MRope rope, xdrope ? XdropePositions(length, offsets, grids, merge, config_.axes)
                                    : MropePositions(length, offsets, grids, merge));
    return Positions{std::move(rope)};
  }

 private:
  /// The picture in the upper left, on black.
  static Canvas CanvasOf(const transforms::PaddedSize& size) {
    return {size.canvas.height, size.canvas.width, {0, 0, size.content.height, size.content.width}};
  }

  Result<transforms::PaddedSize> SizeOf(int height, int width) const {
    const int copies = config_.patches.copies;
    const int factor = config_.patches.patch_size * config_.merge_size;
    switch (config_.size_rule.padded) {
      case PaddedRule::kNavit:
        return transforms::NavitSize(height, width, config_.budget);
      case PaddedRule::kKimiVl:
        return transforms::KimiVlSize(height, width, config_.budget);
      case PaddedRule::kGlm5Next:
        return transforms::Glm5NextSize(height, width, factor, copies, config_.min_pixels,
                                        config_.max_pixels);
      case PaddedRule::kNone:
        break;
    }
    if (config_.size_rule.nearest_grid) {
      const auto block_pixels = static_cast<uint64_t>(factor) * static_cast<uint64_t>(factor);
      MMCPP_ASSIGN(
          const transforms::Size size,
          transforms::NearestGridSize(height, width, factor, config_.max_pixels / block_pixels));
      return transforms::PaddedSize{size, size};
    }
    const SmartResizeRule rule = config_.size_rule.smart;
    MMCPP_ASSIGN(
        const transforms::Size size,
        transforms::SmartResize(height, width, factor, config_.min_pixels, config_.max_pixels, rule,
                                rule == SmartResizeRule::kGlm ? copies : 1));
    return transforms::PaddedSize{size, size};
  }

  Status CheckWrapped(Span<const int64_t> ids) const {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != config_.prompt.placeholder) continue;
      const bool wrapped = i > 0 && ids[i - 1] == config_.wrapper[0] && i + 1 < ids.size() &&
                           ids[i + 1] == config_.wrapper[1];
      if (!wrapped) {
        return InvalidArgument(
            "layout: the placeholder at " + std::to_string(i) + " does not stand between tokens " +
            std::to_string(config_.wrapper[0]) + " and " + std::to_string(config_.wrapper[1]));
      }
    }
    return Ok{};
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeQwenVl(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<QwenVl>(config));
}

}  // namespace mmcpp::families
