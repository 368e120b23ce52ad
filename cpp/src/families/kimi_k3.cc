// Kimi K3: the picture reduced until its patches fit (bicubic), padded with zeros below and to the
// right up to whole tokens, patches row by row. Transparency is kept through the resize, then laid
// over a background. Equals navit_resize_config and fill_transparent_bg of sglang 0.5.23 and the
// stages of the crate sglang-mm's branch for it.
#include "families/kimi_k3.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/row_source.h"
#include "families/item_prompt.h"
#include "families/resize_patches.h"
#include "mmcpp/tensor.h"
#include "resample/rgba_resize.h"
#include "transforms/background.h"
#include "transforms/normalize.h"
#include "transforms/padded_sizes.h"
#include "transforms/patchify.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxPatchSize = 1024;
constexpr int kMaxMerge = 64;
constexpr uint64_t kMaxPatches = uint64_t{1} << 31;
constexpr int kMaxPatchesOnSide = 1 << 20;
constexpr int64_t kMaxSide = int64_t{1} << 30;
constexpr uint64_t kMaxFixedTokens = uint64_t{1} << 20;
// Of a canvas: far beyond any model's picture, and small enough that no product overflows.
constexpr int64_t kMaxPixels = int64_t{1} << 28;

struct Config {
  ItemPrompt prompt;
  transforms::BlockPatches patches = {14, 1, 1};
  transforms::PatchBudget budget;
  uint64_t fixed_tokens = 0;  ///< 0: as many as the picture needs
  transforms::Background background;
  Convention convention = Convention::kPillow13;
  transforms::NormTable table;
};

transforms::Background ReadBackground(SpecReader* spec) {
  using Pattern = transforms::BackgroundPattern;
  transforms::Background background;
  background.pattern = spec->EnumOr("background",
                                    {{"none", Pattern::kNone},
                                     {"white", Pattern::kWhite},
                                     {"black", Pattern::kBlack},
                                     {"gray", Pattern::kGray},
                                     {"chessboard", Pattern::kChessboard}},
                                    Pattern::kNone);
  background.square_size =
      static_cast<int>(spec->UIntOr("chessboard_square_size", 1, kMaxSide, 16));
  background.square_on_top_left = spec->BoolOr("chessboard_square_on_top_left", true);
  background.white = static_cast<uint8_t>(spec->UIntOr("chessboard_white_value", 0, 255, 255));
  background.gray = static_cast<uint8_t>(spec->UIntOr("chessboard_gray_value", 0, 255, 200));
  return background;
}

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.patches.patch_size = spec.Size("patch_size", kMaxPatchSize);
  config.budget.patch_size = config.patches.patch_size;
  config.budget.merge_size = spec.Size("merge_kernel_size", kMaxMerge);
  config.budget.max_patches = spec.UInt("in_patch_limit", 1, kMaxPatches);
  config.budget.max_side = spec.Size("patch_limit_on_one_side", kMaxPatchesOnSide);
  const int64_t side = int64_t{config.budget.patch_size} * config.budget.merge_size;
  if (side * config.budget.max_side > kMaxSide) {
    spec.Fail("patch_limit_on_one_side: its blocks are over " + std::to_string(kMaxSide) +
              " pixels long");
  }
  config.fixed_tokens = spec.UIntOr("fixed_output_tokens", 1, kMaxFixedTokens, 0);
  const std::array<double, 3> mean = spec.DoubleChannels("image_mean");
  const std::array<double, 3> std = spec.DoubleChannels("image_std");
  for (double channel : std) {
    if (channel == 0 && spec.strict()) spec.Fail("image_std: expected numbers other than 0");
  }
  if (spec.UIntOr("pillow_generation", 12, 13, 13) == 12) config.convention = Convention::kPillow12;
  config.background = ReadBackground(&spec);
  MMCPP_TRY(spec.Finish());
  config.table = transforms::MakeDoubleNormTable(mean, std);
  return config;
}

Result<Canvas> Place(int height, int width, const Config& config) {
  MMCPP_ASSIGN(const transforms::PaddedSize size,
               transforms::NavitSize(height, width, config.budget));
  if (int64_t{size.content.height} * size.content.width > kMaxPixels) {
    return LimitExceeded("resize: " + std::to_string(height) + "x" + std::to_string(width) +
                         " stays over " + std::to_string(kMaxPixels) + " pixels");
  }
  return Canvas(size.canvas.height, size.canvas.width,
                {0, 0, size.content.height, size.content.width});
}

/// RGBA rows laid over a background when they are read, while `wanted` is.
class LaidRows final : public RowSource {
 public:
  LaidRows(RowSource* rgba, const RowSource& wanted, const transforms::Background& background)
      : RowSource(rgba->height(), rgba->width()),
        rgba_(*rgba),
        wanted_(wanted),
        background_(background) {}

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    MMCPP_TRY(wanted_.StillWanted());
    const size_t rgba_bytes = rgba_.dense_row_bytes();
    MMCPP_ASSIGN(Buffer memory, Buffer::Allocate(rgba_bytes * static_cast<size_t>(rows)));
    MMCPP_TRY(rgba_.Read(rows, memory.data(), rgba_bytes));
    MMCPP_TRY(transforms::LayOver({memory.data(), rows, width(), rgba_bytes, 4}, background_,
                                  {dst, rows, width(), row_bytes}, y_));
    y_ += rows;
    return Ok{};
  }

 private:
  RowSource& rgba_;
  const RowSource& wanted_;
  const transforms::Background& background_;
  int y_ = 0;
};

class KimiK3 final : public Family {
 public:
  explicit KimiK3(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "kimi_k3"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const Canvas canvas, Place(height, width, config_));
    const int side = config_.patches.patch_size;
    const GridThw grid = {1, static_cast<uint32_t>(canvas.height / side),
                          static_cast<uint32_t>(canvas.width / side)};
    const auto merge = static_cast<uint64_t>(config_.budget.merge_size);
    ItemPlan plan;
    plan.feature_shape = {int64_t{grid.h} * grid.w, 3, side, side};
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(
        config_.fixed_tokens != 0 ? config_.fixed_tokens : (grid.h / merge) * (grid.w / merge));
    plan.resized_height = canvas.height;
    plan.resized_width = canvas.width;
    return plan;
  }

  bool KeepsAlpha() const noexcept override { return true; }

  Status ProcessRows(RowSource* rows, const ItemPlan& /*plan*/, TensorView feature) const override {
    MMCPP_ASSIGN(const Canvas canvas, Place(rows->height(), rows->width(), config_));
    if (rows->channels() != 4) return ToPatches(rows, canvas, feature);
    MMCPP_ASSIGN(const auto rgba,
                 resample::ResizeRgba(rows, canvas.picture.height, canvas.picture.width,
                                      Filter::kBicubic, config_.convention));
    LaidRows laid(rgba.get(), *rows, config_.background);
    return ToPatches(&laid, canvas, feature);
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    WholeRows rows(image);
    return ProcessRows(&rows, plan, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const GridThw grid = std::get<GridThw>(plan.geometry);
    const std::array<int64_t, 3> thw = {grid.t, grid.h, grid.w};
    std::vector<NamedTensor> aux(1);
    aux[0].name = "grid_thws";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(thw, {3}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  Status ToPatches(RowSource* rows, const Canvas& canvas, TensorView feature) const {
    return ResizeToPatches(rows, canvas, Filter::kBicubic, config_.convention, config_.patches,
                           config_.table, feature);
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeKimiK3(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<KimiK3>(std::move(config)));
}

}  // namespace mmcpp::families
