// LLaVA-NeXT (1.6), Granite Vision, LLaVA-OneVision with one picture a sample: the picture as a
// whole first, then the tiles of the best resolution, into which it is fitted in the middle of
// black; features of a batch padded with zero tiles. Tokens are those of the tiles without the
// padding, with one more at the end of every row. Equals LlavaNextImageProcessor and
// LlavaOnevisionImageProcessor of transformers 5.24 and their processors' counts.
#include "families/llava_next.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "families/spec_parts.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

using transforms::Size;

constexpr int kMaxSide = 4096;
constexpr int kMaxTokensAlong = 1024;

struct Config {
  ItemPrompt prompt;
  std::vector<Size> resolutions;
  int tile_size = 0;
  int tile_tokens = 0;
  uint64_t base_tokens = 0;
  int anyres_max = 0;  ///< 0: never pooled
  bool batch_num_images = false;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.tile_size = spec.Size("tile_size", kMaxSide);
  config.tile_tokens = spec.Size("tile_tokens", kMaxTokensAlong);
  config.base_tokens = spec.UInt("base_tokens", 1, uint64_t{1} << 20);
  config.anyres_max = static_cast<int>(spec.UIntOr("anyres_max", 1, 1024, 0));
  config.batch_num_images = spec.BoolOr("batch_num_images", false);
  config.resolutions = ReadResolutions(&spec, "image_grid_pinpoints", config.tile_size);
  config.pixels = PixelRules::Read(&spec);
  MMCPP_TRY(spec.Finish());
  return config;
}

// Python's int(round(value, 7)) of a positive number.
int64_t FloorAfterRounding(double value) {
  const double whole = std::floor(value);
  return static_cast<int64_t>(value - whole >= 1 - 5e-8 ? whole + 1 : whole);
}

// Python's a // b of positive numbers: the floor of the exact quotient.
int64_t FloorDivide(double a, double b) {
  return static_cast<int64_t>(std::nearbyint((a - std::fmod(a, b)) / b));
}

class LlavaNext final : public Family {
 public:
  explicit LlavaNext(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "llava_next"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }
  bool PadsFeatures() const noexcept override { return true; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const Size best, transforms::BestResolution(height, width, config_.resolutions));
    const TileGrid grid = {static_cast<uint32_t>(best.height / config_.tile_size),
                           static_cast<uint32_t>(best.width / config_.tile_size), true};
    ItemPlan plan;
    plan.feature_shape = {1, grid.count(), 3, config_.tile_size, config_.tile_size};
    plan.tokens = config_.prompt.TokensWith(config_.base_tokens + TileTokens(height, width, grid));
    plan.geometry = grid;
    plan.source_height = height;
    plan.source_width = width;
    plan.resized_height = best.height;
    plan.resized_width = best.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const int side = config_.tile_size;
    MMCPP_ENSURE(feature.shape.size() == plan.feature_shape.size());
    const TensorView tiles = {feature.data, feature.dtype, feature.shape.subspan(1, 4)};
    MMCPP_TRY(ResizeToPlanes(image, {side, side}, config_.pixels, {side, side}, tiles));
    const Size canvas = {plan.resized_height, plan.resized_width};
    const Size fitted = transforms::FitInside(image.height, image.width, canvas);
    return ResizeToPlanes(image, fitted, config_.pixels,
                          {side, side, canvas.height / side, canvas.width / side, 1}, tiles,
                          (canvas.height - fitted.height) / 2, (canvas.width - fitted.width) / 2);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const std::array<int64_t, 2> size = {plan.source_height, plan.source_width};
    std::vector<NamedTensor> aux(config_.batch_num_images ? 2 : 1);
    aux[0].name = "image_sizes";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(size, {2}));
    if (config_.batch_num_images) {
      const std::array<int64_t, 1> one = {1};
      aux[1].name = "batch_num_images";
      MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(one, {}));
    }
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  // Tokens of the tiles: those that the picture covers of the canvas, and one a row.
  uint64_t TileTokens(int height, int width, const TileGrid& grid) const {
    int64_t rows = int64_t{config_.tile_tokens} * grid.rows;
    int64_t columns = int64_t{config_.tile_tokens} * grid.columns;
    const auto along = [](int64_t side) { return static_cast<double>(side); };
    if (static_cast<double>(width) / height > along(columns) / along(rows)) {
      rows -= (rows - FloorAfterRounding(height * (along(columns) / width))) / 2 * 2;
    } else {
      columns -= (columns - FloorAfterRounding(width * (along(rows) / height))) / 2 * 2;
    }
    if (config_.anyres_max != 0) {
      const double most =
          static_cast<double>(config_.anyres_max) * config_.tile_tokens * config_.tile_tokens;
      const double ratio = std::sqrt(along(rows * columns) / most);
      if (ratio > 1.1) {
        rows = FloorDivide(along(rows), ratio);
        columns = FloorDivide(along(columns), ratio);
      }
    }
    return static_cast<uint64_t>(rows * columns + rows);
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeLlavaNext(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<LlavaNext>(std::move(config)));
}

}  // namespace mmcpp::families
