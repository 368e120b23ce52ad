// Granite-Docling of its own class: the page stretched over the grid of tiles whose ratio is
// closest, at most 16 along a side, the page as a whole behind several; features of a batch padded
// with zero tiles, which a mask tells apart. Equals GraniteDoclingImageProcessor of
// transformers 5.24 without fine_route and dense pages, for one picture a sample.
#include "families/granite_docling.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "families/tile_marks.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxSide = 4096;
constexpr int kMaxTiles = 256;
constexpr int kMaxTilesAlong = 16;  // the tokenizer has no marks for more
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;

struct Config {
  ItemPrompt prompt;
  TileMarks marks;
  uint64_t tokens_per_tile = 0;
  transforms::Size tile;
  int min_tiles = 1, max_tiles = 1;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.marks = TileMarks::Read(&spec);
  config.tokens_per_tile = spec.UInt("tokens_per_tile", 1, kMaxTokens);
  config.tile.height = spec.Size("tile_height", kMaxSide);
  config.tile.width = spec.Size("tile_width", kMaxSide);
  config.min_tiles = spec.Size("min_tiles", kMaxTiles);
  config.max_tiles = spec.Size("max_tiles", kMaxTiles);
  config.pixels = PixelRules::Read(&spec);
  MMCPP_TRY(spec.Finish());
  return config;
}

class GraniteDocling final : public Family {
 public:
  explicit GraniteDocling(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "granite_docling"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }
  bool PadsFeatures() const noexcept override { return true; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const transforms::Grid grid,
                 transforms::ClosestRatioGrid(height, width, config_.tile, config_.min_tiles,
                                              config_.max_tiles, transforms::GridTie::kIfPixels,
                                              kMaxTilesAlong));
    const TileGrid tiles = {static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns),
                            grid.count() > 1};
    MMCPP_TRY(config_.marks.Check(tiles));
    ItemPlan plan;
    plan.feature_shape = {1, tiles.count(), 3, config_.tile.height, config_.tile.width};
    plan.geometry = tiles;
    plan.tokens = config_.prompt.TokensWith(Tokens(tiles));
    plan.resized_height = grid.rows * config_.tile.height;
    plan.resized_width = grid.columns * config_.tile.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int rows = static_cast<int>(grid.rows);
    const int columns = static_cast<int>(grid.columns);
    MMCPP_ENSURE(feature.shape.size() == plan.feature_shape.size());
    const TensorView tiles = {feature.data, feature.dtype, feature.shape.subspan(1, 4)};
    MMCPP_TRY(ResizeToPlanes(image, {plan.resized_height, plan.resized_width}, config_.pixels,
                             {config_.tile.height, config_.tile.width, rows, columns}, tiles));
    if (!grid.thumbnail) return Ok{};
    return ResizeToPlanes(image, config_.tile, config_.pixels,
                          {config_.tile.height, config_.tile.width, 1, 1, rows * columns}, tiles);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    std::vector<NamedTensor> aux(1);
    aux[0].name = "pixel_attention_mask";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Allocate(DType::kBool, {plan.feature_shape[1]}));
    std::memset(aux[0].tensor.data(), 1, aux[0].tensor.byte_count());
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
    const TileMarks& marks = config_.marks;
    const uint64_t tiles =
        marks.CountOf(grid) + static_cast<uint64_t>(grid.count()) * config_.tokens_per_tile;
    if (grid.thumbnail) return tiles + 2 * marks.fake.size() + marks.global.size();
    return tiles - marks.last_row_end.size() + marks.row_end.size();
  }

  void WriteTiles(const TileGrid& grid, ItemTokens* to) const {
    const TileMarks& marks = config_.marks;
    for (size_t row = 0; row < grid.rows; ++row) {
      for (size_t column = 0; column < grid.columns; ++column) {
        to->Add(marks.fake);
        to->Add(marks.At(row, column));
        to->AddRun(config_.tokens_per_tile);
      }
      to->Add(row + 1 < grid.rows || !grid.thumbnail ? marks.row_end : marks.last_row_end);
    }
    if (!grid.thumbnail) return;
    to->Add(marks.fake);
    to->Add(marks.global);
    to->AddRun(config_.tokens_per_tile);
    to->Add(marks.fake);
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeGraniteDocling(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<GraniteDocling>(std::move(config)));
}

}  // namespace mmcpp::families
