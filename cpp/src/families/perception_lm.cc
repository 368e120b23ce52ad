// PerceptionLM: the picture stretched to one tile, then stretched over a canvas of whole tiles and
// cut, row by row. Equals PerceptionLMImageProcessor of transformers 5.24, which is there for
// torchvision alone; pictures of different tiles, which it does not batch, are padded with zero
// tiles.
#include "families/perception_lm.h"

#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "transforms/perception_grids.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxTileSize = 4096;
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;

struct Config {
  ItemPrompt prompt;
  uint64_t tokens_per_tile = 0;
  int tile_size = 0;
  bool tiles = true;
  std::vector<transforms::Grid> grids;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.tokens_per_tile = spec.UInt("tokens_per_tile", 1, kMaxTokens);
  config.tile_size = spec.Size("tile_size", kMaxTileSize);
  config.grids =
      transforms::PerceptionGrids(spec.Size("max_tiles", transforms::kMaxPerceptionTiles));
  config.tiles = spec.BoolOr("tiles", true);
  config.pixels = PixelRules::Read(&spec);
  if (config.pixels.convention != Convention::kAtenU8) {
    spec.Fail("resample: there is `aten_u8` alone");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class PerceptionLm final : public Family {
 public:
  explicit PerceptionLm(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "perception_lm"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }
  bool PadsFeatures() const noexcept override { return true; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    if (height <= 0 || width <= 0) return InvalidArgument("empty image");
    const int side = config_.tile_size;
    TileGrid tiles;
    if (config_.tiles) {
      const auto grid = transforms::PerceptionGrid(height, width, side, config_.grids);
      tiles = {static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns), true};
    }
    ItemPlan plan;
    plan.feature_shape = {1, tiles.count(), 3, side, side};
    plan.geometry = tiles;
    plan.tokens =
        config_.prompt.TokensWith(static_cast<uint64_t>(tiles.count()) * config_.tokens_per_tile);
    plan.resized_height = static_cast<int>(tiles.rows) * side;
    plan.resized_width = static_cast<int>(tiles.columns) * side;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int side = config_.tile_size;
    MMCPP_ENSURE(feature.shape.size() == plan.feature_shape.size());
    const TensorView tiles = {feature.data, feature.dtype, feature.shape.subspan(1, 4)};
    MMCPP_TRY(ResizeToPlanes(image, {side, side}, config_.pixels, {side, side}, tiles));
    if (!grid.thumbnail) return Ok{};
    return ResizeToPlanes(
        image, {plan.resized_height, plan.resized_width}, config_.pixels,
        {side, side, static_cast<int>(grid.rows), static_cast<int>(grid.columns), 1}, tiles);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& /*plan*/) const override {
    return std::vector<NamedTensor>();
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakePerceptionLm(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<PerceptionLm>(std::move(config)));
}

}  // namespace mmcpp::families
