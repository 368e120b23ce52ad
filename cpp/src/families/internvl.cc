// InternVL 2 to 3.5, Aya Vision, GOT-OCR2: the grid of tiles whose ratio is closest, the picture
// stretched over it and cut, its thumbnail last. Equals GotOcr2ImageProcessor of transformers 5.24,
// with crop_to_patches where max_tiles is above 1. Command A Vision: the grid that needs the least
// enlargement, and the same of it; equals Cohere2VisionImageProcessor.
#include "families/internvl.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "transforms/canvases.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxSide = 4096;
constexpr int kMaxTiles = 256;
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;

struct Config {
  ItemPrompt prompt;
  uint64_t tokens_per_tile = 0;
  std::vector<int64_t> tile_tokens;       ///< none: tiles follow each other without a mark
  std::vector<int64_t> thumbnail_tokens;  ///< one or none
  std::vector<int64_t> end_tokens;        ///< behind every tile
  transforms::Size tile;
  int min_tiles = 1, max_tiles = 1;
  bool use_thumbnail = true;
  bool least_enlargement = false;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.tokens_per_tile = spec.UInt("tokens_per_tile", 1, kMaxTokens);
  config.tile_tokens = spec.Ints("tile_token_ids");
  config.thumbnail_tokens = spec.Ints("thumbnail_token_ids");
  config.end_tokens = spec.Ints("tile_end_token_ids");
  config.least_enlargement = spec.EnumOr<bool>(
      "grid_rule", {{"closest_ratio", false}, {"least_enlargement", true}}, false);
  config.tile.height = spec.Size("tile_height", kMaxSide);
  config.tile.width = spec.Size("tile_width", kMaxSide);
  config.min_tiles = spec.Size("min_tiles", kMaxTiles);
  config.max_tiles = spec.Size("max_tiles", kMaxTiles);
  config.use_thumbnail = spec.BoolOr("use_thumbnail", true);
  config.pixels = PixelRules::Read(&spec);
  if (config.least_enlargement &&
      (config.tile.height != config.tile.width || config.min_tiles != 1)) {
    spec.Fail("grid_rule: `least_enlargement` is for square tiles and min_tiles 1");
  }
  if (!config.tile_tokens.empty() &&
      config.tile_tokens.size() < static_cast<size_t>(config.max_tiles)) {
    spec.Fail("tile_token_ids: expected one for each of " + std::to_string(config.max_tiles) +
              " tiles, got " + std::to_string(config.tile_tokens.size()));
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class InternVl final : public Family {
 public:
  explicit InternVl(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "internvl"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const transforms::Grid grid, GridOf(height, width));
    const TileGrid tiles = {static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns),
                            config_.use_thumbnail && grid.count() > 1};
    ItemPlan plan;
    plan.feature_shape = {tiles.count(), 3, config_.tile.height, config_.tile.width};
    plan.tokens = config_.prompt.TokensWith(ContentTokens(tiles));
    plan.resized_height = grid.rows * config_.tile.height;
    plan.resized_width = grid.columns * config_.tile.width;
    plan.geometry = tiles;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const TileGrid& grid = std::get<TileGrid>(plan.geometry);
    const int rows = static_cast<int>(grid.rows);
    const int columns = static_cast<int>(grid.columns);
    MMCPP_TRY(ResizeToPlanes(image, {plan.resized_height, plan.resized_width}, config_.pixels,
                             {config_.tile.height, config_.tile.width, rows, columns}, feature));
    if (!grid.thumbnail) return Ok{};
    return ResizeToPlanes(image, config_.tile, config_.pixels,
                          {config_.tile.height, config_.tile.width, 1, 1, rows * columns}, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const std::array<int64_t, 1> count = {plan.feature_shape[0]};
    std::vector<NamedTensor> aux(1);
    aux[0].name = "num_patches";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(count, {}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    if (config_.tile_tokens.empty() && config_.thumbnail_tokens.empty() &&
        config_.end_tokens.empty()) {
      return config_.prompt.Layout(input_ids, items);
    }
    return config_.prompt.Layout(input_ids, items, [this](const ItemPlan& item, ItemTokens* to) {
      WriteTiles(std::get<TileGrid>(item.geometry), to);
    });
  }

 private:
  Result<transforms::Grid> GridOf(int height, int width) const {
    if (config_.least_enlargement) {
      return transforms::CanvasGrid(height, width, config_.tile.height, config_.max_tiles,
                                    transforms::CanvasRule::kCohere2);
    }
    return transforms::ClosestRatioGrid(height, width, config_.tile, config_.min_tiles,
                                        config_.max_tiles);
  }

  // The last or only tile is marked as the thumbnail is.
  uint64_t ContentTokens(const TileGrid& grid) const {
    const auto tiles = static_cast<uint64_t>(grid.count());
    const uint64_t marks =
        (config_.tile_tokens.empty() ? 0 : tiles - 1) + config_.thumbnail_tokens.size();
    return tiles * (config_.tokens_per_tile + config_.end_tokens.size()) + marks;
  }

  void WriteTiles(const TileGrid& grid, ItemTokens* to) const {
    const auto tiles = static_cast<size_t>(grid.count());
    for (size_t i = 0; i < tiles; ++i) {
      if (i + 1 == tiles) {
        to->Add(config_.thumbnail_tokens);
      } else if (!config_.tile_tokens.empty()) {
        to->Add(config_.tile_tokens[i]);
      }
      to->AddRun(config_.tokens_per_tile);
      to->Add(config_.end_tokens);
    }
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeInternVl(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<InternVl>(std::move(config)));
}

}  // namespace mmcpp::families
