// Ovis2: the picture as a whole, then, if there are several, its tiles row by row, the picture
// stretched over them. Equals Ovis2ImageProcessor of transformers 5.24, with crop_to_patches where
// max_tiles is above 1.
#include "families/ovis2.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "transforms/covering_grid.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxTileSize = 4096;
constexpr int kMaxTiles = 256;
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;

struct Config {
  ItemPrompt prompt;
  std::vector<int64_t> whole, column, row;
  uint64_t tokens_per_tile = 0;
  int tile_size = 0;
  int min_tiles = 1, max_tiles = 1;
  bool covering = true;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.whole = spec.Ints("whole_token_ids");
  config.column = spec.Ints("column_token_ids");
  config.row = spec.Ints("row_token_ids");
  config.tokens_per_tile = spec.UInt("tokens_per_tile", 1, kMaxTokens);
  config.tile_size = spec.Size("tile_size", kMaxTileSize);
  config.min_tiles = static_cast<int>(spec.UIntOr("min_tiles", 1, kMaxTiles, 1));
  config.max_tiles = spec.Size("max_tiles", kMaxTiles);
  config.covering =
      spec.EnumOr<bool>("grid_rule", {{"covering", true}, {"closest_ratio", false}}, true);
  config.pixels = PixelRules::Read(&spec);
  if (config.covering && config.min_tiles > 1) {
    spec.Fail("min_tiles " + std::to_string(config.min_tiles) + ": expected 1 of `covering`");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class Ovis2 final : public Family {
 public:
  explicit Ovis2(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "ovis2"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    const int side = config_.tile_size;
    MMCPP_ASSIGN(const transforms::Grid grid, GridOf(height, width));
    const TileGrid tiles = {static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns),
                            grid.count() > 1};
    ItemPlan plan;
    plan.feature_shape = {tiles.count(), 3, side, side};
    plan.geometry = tiles;
    plan.tokens = config_.prompt.TokensWith(Tokens(tiles));
    plan.resized_height = grid.rows * side;
    plan.resized_width = grid.columns * side;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int side = config_.tile_size;
    MMCPP_TRY(ResizeToPlanes(image, {side, side}, config_.pixels, {side, side}, feature));
    if (!grid.thumbnail) return Ok{};
    return ResizeToPlanes(
        image, {plan.resized_height, plan.resized_width}, config_.pixels,
        {side, side, static_cast<int>(grid.rows), static_cast<int>(grid.columns), 1}, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const std::array<int64_t, 2> sides = {grid.rows, grid.columns};
    std::vector<NamedTensor> aux(1);
    aux[0].name = "grids";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(sides, {2}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items, [this](const ItemPlan& item, ItemTokens* to) {
      WriteTiles(std::get<TileGrid>(item.geometry), to);
    });
  }

 private:
  Result<transforms::Grid> GridOf(int height, int width) const {
    const int side = config_.tile_size;
    if (config_.covering) return transforms::CoveringGrid(height, width, side, config_.max_tiles);
    return transforms::ClosestRatioGrid(height, width, {side, side}, config_.min_tiles,
                                        config_.max_tiles);
  }

  uint64_t Tokens(const TileGrid& grid) const {
    const uint64_t rows = grid.rows, columns = grid.columns;
    return static_cast<uint64_t>(grid.count()) * config_.tokens_per_tile + config_.whole.size() +
           rows * (columns - 1) * config_.column.size() + (rows - 1) * config_.row.size();
  }

  void WriteTiles(const TileGrid& grid, ItemTokens* to) const {
    to->AddRun(config_.tokens_per_tile);
    to->Add(config_.whole);
    for (uint32_t row = 0; grid.thumbnail && row < grid.rows; ++row) {
      if (row > 0) to->Add(config_.row);
      for (uint32_t column = 0; column < grid.columns; ++column) {
        if (column > 0) to->Add(config_.column);
        to->AddRun(config_.tokens_per_tile);
      }
    }
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeOvis2(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Ovis2>(std::move(config)));
}

}  // namespace mmcpp::families
