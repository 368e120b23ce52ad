// DeepSeek-V4.1: sides rounded up to patches within a budget of tokens, the picture fitted into
// them (bicubic) on gray, one token a cell of patches, one a row, and two around. Equals
// patchify_image of sglang 0.5.23 and, with Pillow 12, the crate's dsv41.
#include "families/dsv41.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_patches.h"
#include "transforms/normalize.h"
#include "transforms/padded_sizes.h"
#include "transforms/patchify.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxPatchSize = 1024;
constexpr int kMaxDownsample = 64;
constexpr uint64_t kMaxMinPixels = uint64_t{1} << 40;
constexpr uint64_t kMinTokens = 4;  // one cell, the end of its row, start and end
constexpr uint64_t kMaxTokens = uint64_t{1} << 20;
// Of a canvas: far beyond any model's picture, and small enough that no product overflows.
constexpr double kMaxPixels = 1 << 28;
constexpr std::array<uint8_t, 3> kGray = {127, 127, 127};

struct Config {
  ItemPrompt prompt;
  transforms::BlockPatches patches = {14, 1, 1};
  double downsample = 1;  ///< patches per side that one token stands for
  double min_pixels = 0;
  double max_tokens = 0;
  std::optional<double> max_ratio;  ///< of width to height
  Convention convention = Convention::kPillow13;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.patches.patch_size = spec.Size("vision_patch_size", kMaxPatchSize);
  config.downsample = spec.Size("vision_downsample_ratio", kMaxDownsample);
  config.min_pixels = static_cast<double>(spec.UInt("vision_min_pixels", 0, kMaxMinPixels));
  config.max_tokens = static_cast<double>(spec.UInt("vision_max_n_token", kMinTokens, kMaxTokens));
  config.max_ratio = spec.NumberIfAny("vision_max_wh_ratio");
  if (config.max_ratio && !(*config.max_ratio > 0)) {
    spec.Fail("vision_max_wh_ratio: expected a positive number");
  }
  if (spec.UIntOr("pillow_generation", 12, 13, 13) == 12) config.convention = Convention::kPillow12;
  MMCPP_TRY(spec.Finish());
  return config;
}

/// Sides in pixels; whole numbers but for a width that the ratio bounds. Arithmetic is in double,
/// as Python's.
struct Sides {
  double height = 0, width = 0;
};

double Tokens(const Sides& canvas, const Config& config) {
  const double cell = config.patches.patch_size * config.downsample;
  return std::ceil(canvas.height / cell) * (std::ceil(canvas.width / cell) + 1) + 2;
}

/// The largest sides of the picture's ratio whose tokens are within the budget.
Sides WithinBudget(const Sides& picture, const Config& config) {
  const double patch = config.patches.patch_size;
  const double cell = patch * config.downsample;
  const double ratio = picture.height / picture.width;
  const double columns = std::sqrt((config.max_tokens - 2) / ratio + 0.25) - 0.5;
  const double rows = columns * ratio;
  if (columns < 1) return {std::floor((config.max_tokens - 2) / 2) * cell, cell};
  if (rows < 1) return {cell, (config.max_tokens - 3) * cell};
  const double scale = std::min(std::floor(columns) * cell / picture.width,
                                std::floor(rows) * cell / picture.height);
  return {std::floor(picture.height * scale / patch) * patch,
          std::floor(picture.width * scale / patch) * patch};
}

Sides CanvasOf(int height, int width, const Config& config) {
  Sides picture = {static_cast<double>(height), static_cast<double>(width)};
  if (config.max_ratio) {
    picture.width = std::min(picture.width, picture.height * *config.max_ratio);
  }
  const double area = picture.width * picture.height;
  if (area > 0 && area < config.min_pixels) {
    const double scale = std::pow(config.min_pixels / area, 0.5);
    picture = {std::floor(picture.height * scale), std::floor(picture.width * scale)};
  }
  if (picture.height < 1 || picture.width < 1) return {};
  const double patch = config.patches.patch_size;
  const Sides canvas = {std::ceil(picture.height / patch) * patch,
                        std::ceil(picture.width / patch) * patch};
  return Tokens(canvas, config) > config.max_tokens ? WithinBudget(picture, config) : canvas;
}

/// ImageOps.pad of Pillow, or stretched over the canvas where the picture is too wide. Python's
/// round() is half to even, and so is nearbyint in the default rounding mode.
Result<Canvas> PlaceOn(transforms::Size size, int height, int width, const Config& config) {
  if (config.max_ratio && width >= *config.max_ratio * height) {
    return Canvas(size.height, size.width);
  }
  MMCPP_ASSIGN(const transforms::Size picture, transforms::ContainSize(height, width, size));
  const auto middle = [](int gap) { return static_cast<int>(std::nearbyint(gap * 0.5)); };
  return Canvas(size.height, size.width,
                {middle(size.height - picture.height), middle(size.width - picture.width),
                 picture.height, picture.width},
                kGray);
}

Result<Canvas> Place(int height, int width, const Config& config) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  const std::string given = std::to_string(height) + "x" + std::to_string(width);
  const Sides canvas = CanvasOf(height, width, config);
  if (canvas.height * canvas.width > kMaxPixels) {
    return LimitExceeded("resize: " + given + " needs a canvas of more than 268435456 pixels");
  }
  if (canvas.height < 1 || canvas.width < 1 || Tokens(canvas, config) > config.max_tokens) {
    return InvalidArgument("resize: " + given + " is too thin for this budget of tokens");
  }
  return PlaceOn({static_cast<int>(canvas.height), static_cast<int>(canvas.width)}, height, width,
                 config);
}

class Dsv41 final : public Family {
 public:
  explicit Dsv41(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "dsv41"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const Canvas canvas, Place(height, width, config_));
    const int side = config_.patches.patch_size;
    const GridThw grid = {1, static_cast<uint32_t>(canvas.height / side),
                          static_cast<uint32_t>(canvas.width / side)};
    const Sides sides = {static_cast<double>(canvas.height), static_cast<double>(canvas.width)};
    ItemPlan plan;
    plan.feature_shape = {int64_t{grid.h} * grid.w, 3, side, side};
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(static_cast<uint64_t>(Tokens(sides, config_)));
    plan.resized_height = canvas.height;
    plan.resized_width = canvas.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& /*plan*/,
                     TensorView feature) const override {
    MMCPP_ASSIGN(const Canvas canvas, Place(image.height, image.width, config_));
    return ResizeToPatches(image, canvas, Filter::kBicubic, config_.convention, config_.patches,
                           table_, feature);
  }

  Status ProcessRows(RowSource* rows, const ItemPlan& /*plan*/, TensorView feature) const override {
    MMCPP_ASSIGN(const Canvas canvas, Place(rows->height(), rows->width(), config_));
    return ResizeToPatches(rows, canvas, Filter::kBicubic, config_.convention, config_.patches,
                           table_, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const GridThw grid = std::get<GridThw>(plan.geometry);
    std::vector<NamedTensor> aux(2);
    aux[0].name = "n_vit_h";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(std::array<int64_t, 1>{grid.h}, {}));
    aux[1].name = "n_vit_w";
    MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(std::array<int64_t, 1>{grid.w}, {}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  const Config config_;
  const transforms::NormTable table_ =
      transforms::MakeNormTable(transforms::NormRule::kPil, {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f});
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeDsv41(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Dsv41>(std::move(config)));
}

}  // namespace mmcpp::families
