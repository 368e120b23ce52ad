// Llama 4: the picture in the upper left of a canvas of whole tiles, black below and to the right;
// the tiles row by row and, if there are several, the picture stretched to one behind them.
// Normalised in bfloat16, in which the model takes it. Equals Llama4ImageProcessor of transformers
// 5.24, which is there for torchvision alone.
#include "families/llama4.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "transforms/canvases.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxTileSize = 4096;
constexpr int kMaxTiles = 256;
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;
constexpr auto kRule = transforms::CanvasRule::kLlama4;

struct Config {
  ItemPrompt prompt;
  std::vector<int64_t> column, row, global;
  uint64_t tokens_per_tile = 0;
  int tile_size = 0;
  int max_tiles = 0;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.column = spec.Ints("column_token_ids");
  config.row = spec.Ints("row_token_ids");
  config.global = spec.Ints("global_token_ids");
  config.tokens_per_tile = spec.UInt("tokens_per_tile", 1, kMaxTokens);
  config.tile_size = spec.Size("tile_size", kMaxTileSize);
  config.max_tiles = spec.Size("max_tiles", kMaxTiles);
  config.pixels = PixelRules::Read(&spec, Filter::kBilinear, transforms::NormRule::kBf16);
  if (config.pixels.convention != Convention::kAtenU8) {
    spec.Fail("resample: there is `aten_u8` alone");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class Llama4 final : public Family {
 public:
  explicit Llama4(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "llama4"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    const int side = config_.tile_size;
    MMCPP_ASSIGN(const transforms::Grid grid,
                 transforms::CanvasGrid(height, width, side, config_.max_tiles, kRule));
    const transforms::Size size = transforms::FitCanvas(height, width, side, grid, kRule);
    const TileGrid tiles = {static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns),
                            grid.count() > 1};
    ItemPlan plan;
    plan.feature_shape = {tiles.count(), 3, side, side};
    plan.geometry = tiles;
    plan.tokens = config_.prompt.TokensWith(Tokens(tiles));
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int side = config_.tile_size;
    const int rows = static_cast<int>(grid.rows);
    const int columns = static_cast<int>(grid.columns);
    MMCPP_TRY(ResizeToPlanes(image, {plan.resized_height, plan.resized_width}, config_.pixels,
                             {side, side, rows, columns}, feature));
    if (!grid.thumbnail) return Ok{};
    return ResizeToPlanes(image, {side, side}, config_.pixels, {side, side, 1, 1, rows * columns},
                          feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const std::array<int64_t, 2> sides = {grid.rows, grid.columns};
    std::vector<NamedTensor> aux(1);
    aux[0].name = "aspect_ratios";
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
  uint64_t Tokens(const TileGrid& grid) const {
    const uint64_t rows = grid.thumbnail ? grid.rows : 0;
    return static_cast<uint64_t>(grid.count()) * config_.tokens_per_tile +
           rows * ((uint64_t{grid.columns} - 1) * config_.column.size() + config_.row.size()) +
           config_.global.size();
  }

  void WriteTiles(const TileGrid& grid, ItemTokens* to) const {
    for (uint32_t row = 0; grid.thumbnail && row < grid.rows; ++row) {
      for (uint32_t column = 0; column < grid.columns; ++column) {
        if (column > 0) to->Add(config_.column);
        to->AddRun(config_.tokens_per_tile);
      }
      to->Add(config_.row);
    }
    to->Add(config_.global);
    to->AddRun(config_.tokens_per_tile);
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeLlama4(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Llama4>(std::move(config)));
}

}  // namespace mmcpp::families
