// Llama 3.2 Vision: the picture in the upper left of a canvas of whole tiles, black below and to
// the right; as many tiles of every picture, those that are missing zero. Its token in the prompt
// stays one, for the model attends to tiles across. Equals MllamaImageProcessor of transformers
// 5.24, for one picture a sample; the mask of cross attention, which needs the whole prompt, is not
// made.
#include "families/mllama.h"

#include <array>
#include <cstring>
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
constexpr int kMaxTiles = 64;
constexpr auto kRule = transforms::CanvasRule::kMllama;

struct Config {
  ItemPrompt prompt;
  int tile_size = 0;
  int max_tiles = 0;
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.tile_size = spec.Size("tile_size", kMaxTileSize);
  config.max_tiles = spec.Size("max_tiles", kMaxTiles);
  config.pixels = PixelRules::Read(&spec, Filter::kBilinear);
  MMCPP_TRY(spec.Finish());
  return config;
}

class Mllama final : public Family {
 public:
  explicit Mllama(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "mllama"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(
        const transforms::Grid grid,
        transforms::CanvasGrid(height, width, config_.tile_size, config_.max_tiles, kRule));
    const transforms::Size size =
        transforms::FitCanvas(height, width, config_.tile_size, grid, kRule);
    ItemPlan plan;
    plan.feature_shape = {1, 1, config_.max_tiles, 3, config_.tile_size, config_.tile_size};
    plan.geometry = TileGrid{static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns)};
    plan.tokens = config_.prompt.TokensWith(1);
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int side = config_.tile_size;
    MMCPP_ENSURE(feature.shape.size() == plan.feature_shape.size());
    const TensorView tiles = {feature.data, feature.dtype, feature.shape.subspan(2, 4)};
    const size_t tile_bytes =
        3 * static_cast<size_t>(side) * static_cast<size_t>(side) * DTypeSize(feature.dtype);
    const auto used = static_cast<size_t>(grid.count());
    std::memset(static_cast<uint8_t*>(feature.data) + used * tile_bytes, 0,
                (static_cast<size_t>(config_.max_tiles) - used) * tile_bytes);
    return ResizeToPlanes(image, {plan.resized_height, plan.resized_width}, config_.pixels,
                          {side, side, static_cast<int>(grid.rows), static_cast<int>(grid.columns)},
                          tiles);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const std::array<int64_t, 1> id = {AspectRatioId(grid)};
    const std::array<int64_t, 1> count = {grid.count()};
    std::vector<int64_t> mask(static_cast<size_t>(config_.max_tiles));
    for (int64_t i = 0; i < grid.count(); ++i) mask[static_cast<size_t>(i)] = 1;
    std::vector<NamedTensor> aux(3);
    aux[0].name = "aspect_ratio_ids";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(id, {1}));
    aux[1].name = "aspect_ratio_mask";
    MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(mask, {1, config_.max_tiles}));
    aux[2].name = "num_tiles";
    MMCPP_ASSIGN(aux[2].tensor, Tensor::Of<int64_t>(count, {1}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  // 1 and up in the order of rows, then columns, of the canvases that there are.
  int64_t AspectRatioId(const TileGrid& grid) const {
    int64_t id = grid.columns;
    for (int rows = 1; rows < static_cast<int>(grid.rows); ++rows) id += config_.max_tiles / rows;
    return id;
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeMllama(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Mllama>(std::move(config)));
}

}  // namespace mmcpp::families
