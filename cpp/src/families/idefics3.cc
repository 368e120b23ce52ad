// Idefics 3, SmolVLM: the longer side becomes longest_edge, then both sides whole tiles, each with
// a rounding of its own to 8 bits; the tiles row by row, and behind them the picture as a whole,
// reduced from what the tiles were cut from. A mask of pixels says which tiles are there. Equals
// Idefics3ImageProcessor and SmolVLMImageProcessor of transformers 5.24, for one picture a sample.
#include "families/idefics3.h"

#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/row_source.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "families/tile_marks.h"
#include "resample/passed_rows.h"
#include "resample/resized_rows.h"
#include "transforms/longest_edge.h"
#include "transforms/planes.h"

namespace mmcpp::families {
namespace {

using resample::ResizedRows;
using transforms::Size;

constexpr int kMaxTileSize = 4096;
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;
constexpr uint64_t kMaxTiles = 4096;

struct Config {
  ItemPrompt prompt;
  TileMarks marks;
  uint64_t tokens_per_tile = 0;
  int longest_edge = 0;
  int tile_size = 0;
  bool split = true;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.marks = TileMarks::Read(&spec);
  config.tokens_per_tile = spec.UInt("tokens_per_tile", 1, kMaxTokens);
  config.longest_edge = spec.Size("longest_edge", transforms::kMaxLongestEdge);
  config.tile_size = spec.Size("tile_size", kMaxTileSize);
  config.split = spec.BoolOr("split", true);
  config.pixels = PixelRules::Read(&spec, Filter::kLanczos);
  // As transformers: the first resize ends at kMaxLongestEdge, which leaves so many tiles a side.
  const uint64_t along = static_cast<uint64_t>(config.longest_edge / config.tile_size) + 1;
  if (along * along > kMaxTiles) {
    spec.Fail("tile_size " + std::to_string(config.tile_size) + " makes more than " +
              std::to_string(kMaxTiles) + " tiles of longest_edge " +
              std::to_string(config.longest_edge));
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class Idefics3 final : public Family {
 public:
  explicit Idefics3(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "idefics3"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }
  bool PadsFeatures() const noexcept override { return true; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const Size first,
                 transforms::EvenLongestEdge(height, width, config_.longest_edge));
    const int side = config_.tile_size;
    Size size = {side, side};
    if (config_.split) {
      MMCPP_ASSIGN(size, transforms::CeilToTiles(first, side));
    }
    const TileGrid grid = {static_cast<uint32_t>(size.height / side),
                           static_cast<uint32_t>(size.width / side),
                           size.height > side || size.width > side};
    ItemPlan plan;
    plan.feature_shape = {1, grid.count(), 3, side, side};
    MMCPP_ASSIGN(plan.tokens, Tokens(grid));
    plan.geometry = grid;
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    WholeRows rows(image);
    return ProcessRows(&rows, plan, feature);
  }

  /// The resizes are made of each other's rows: none is in memory as a whole.
  Status ProcessRows(RowSource* source, const ItemPlan& plan, TensorView feature) const override {
    const PixelRules& rules = config_.pixels;
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int side = config_.tile_size;
    const int rows = static_cast<int>(grid.rows);
    const int columns = static_cast<int>(grid.columns);
    MMCPP_ENSURE(feature.shape.size() == plan.feature_shape.size());
    const TensorView tiles = {feature.data, feature.dtype, feature.shape.subspan(1, 4)};
    MMCPP_ASSIGN(const Size first, transforms::EvenLongestEdge(source->height(), source->width(),
                                                               config_.longest_edge));
    MMCPP_ASSIGN(const auto once, ResizedRows::Make(source, first.height, first.width, rules.filter,
                                                    rules.convention));
    if (!grid.thumbnail) return ResizeToPlanes(once.get(), rules, {side, side}, tiles);
    MMCPP_ASSIGN(const auto twice,
                 ResizedRows::Make(once.get(), plan.resized_height, plan.resized_width,
                                   rules.filter, rules.convention));
    MMCPP_ASSIGN(const auto writer,
                 transforms::PlaneWriter::Make({side, side, rows, columns}, rules.table, tiles));
    const auto write = [&writer](const resample::Tile& tile) {
      writer.Write({tile.y, tile.x, tile.height, tile.width}, tile.rows, tile.row_bytes);
    };
    resample::PassedRows passed(twice.get(), write);
    return ResizeToPlanes(&passed, rules, {side, side, 1, 1, rows * columns}, tiles);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const int64_t tiles = plan.feature_shape[1];
    const int64_t side = config_.tile_size;
    std::vector<NamedTensor> aux(1);
    aux[0].name = "pixel_attention_mask";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Allocate(DType::kI64, {tiles, side, side}));
    for (int64_t& pixel : aux[0].tensor.As<int64_t>()) pixel = 1;
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items, [this](const ItemPlan& item, ItemTokens* to) {
      WriteTiles(std::get<TileGrid>(item.geometry), to);
    });
  }

 private:
  Result<uint64_t> Tokens(const TileGrid& grid) const {
    const TileMarks& marks = config_.marks;
    const auto tiles = static_cast<uint64_t>(grid.count());
    uint64_t tokens = tiles * config_.tokens_per_tile + 2 * marks.fake.size() + marks.global.size();
    if (grid.thumbnail) {
      MMCPP_TRY(marks.Check(grid));
      tokens += marks.CountOf(grid);
    }
    return config_.prompt.TokensWith(tokens);
  }

  void WriteTiles(const TileGrid& grid, ItemTokens* to) const {
    const TileMarks& marks = config_.marks;
    for (size_t row = 0; grid.thumbnail && row < grid.rows; ++row) {
      for (size_t column = 0; column < grid.columns; ++column) {
        to->Add(marks.fake);
        to->Add(marks.At(row, column));
        to->AddRun(config_.tokens_per_tile);
      }
      to->Add(row + 1 < grid.rows ? marks.row_end : marks.last_row_end);
    }
    to->Add(marks.fake);
    to->Add(marks.global);
    to->AddRun(config_.tokens_per_tile);
    to->Add(marks.fake);
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeIdefics3(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Idefics3>(std::move(config)));
}

}  // namespace mmcpp::families
