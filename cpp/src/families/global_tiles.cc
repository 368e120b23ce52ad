// The picture as a whole first, fitted into a square on plain colour, then tiles of it: of the best
// of a list of resolutions, into which it is fitted (DeepSeek-VL2), or of the grid whose ratio is
// closest, over which it is stretched (the others), where tiles and the whole differ in size.
// Equals DeepseekOcr2ImageProcessor and UnlimitedOcrImageProcessor of transformers 5.24, and the
// code of DeepSeek-VL2 and DeepSeek-OCR as vLLM 0.33 has it, for a request of two pictures at most.
#include "families/global_tiles.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "families/spec_parts.h"
#include "transforms/longest_edge.h"
#include "transforms/padded_sizes.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

using transforms::Size;

constexpr int kMaxSide = 4096;
constexpr int kMaxTiles = 256;
constexpr uint64_t kMaxTiledItems = uint64_t{1} << 16;
constexpr int kMaxTokensAlong = 1024;

/// What a model does its own way.
struct ModelLayout {
  bool pinpoints = false;    ///< tiles of a padded picture; else of a stretched one
  bool image_ops = true;     ///< padded as ImageOps.pad does; else the gap's half is rounded down
  bool row_tokens = true;    ///< one token behind each row of tokens
  const char* tiles = "";    ///< what the tensor of tiles is called, where it is one of its own
  bool spatial_crop = true;  ///< columns and rows are told; else how many tiles
  bool patches_grid = false;
};

constexpr ModelLayout kDeepseekVl2 = {true, true, true, "", true, false};
constexpr ModelLayout kDeepseekOcr = {false, true, true, "images_crop", true, false};
constexpr ModelLayout kDeepseekOcr2 = {false, false, false, "pixel_values_local", false, false};
constexpr ModelLayout kUnlimitedOcr = {false, false, true, "pixel_values_local", false, true};

struct Config {
  ItemPrompt prompt;
  ModelLayout layout;
  std::vector<Size> resolutions;
  int global_size = 0, tile_size = 0;
  int global_tokens = 0, tile_tokens = 0;  ///< along a side
  int min_tiles = 1, max_tiles = 1;
  uint64_t max_tiled_items = 0;  ///< in a prompt; 0: any number
  std::array<uint8_t, 3> background = {};
  PixelRules pixels;
};

void ReadTiles(SpecReader* spec, Config* config) {
  config->tile_size = spec->Size("tile_size", kMaxSide);
  config->tile_tokens = spec->Size("tile_tokens", kMaxTokensAlong);
  if (config->layout.pinpoints) {
    config->global_size = config->tile_size;
    config->global_tokens = config->tile_tokens;
    config->resolutions = ReadResolutions(spec, "image_grid_pinpoints", config->tile_size);
    return;
  }
  config->global_size = spec->Size("global_size", kMaxSide);
  config->global_tokens = spec->Size("global_tokens", kMaxTokensAlong);
  config->min_tiles = spec->Size("min_tiles", kMaxTiles);
  config->max_tiles = spec->Size("max_tiles", kMaxTiles);
}

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.layout = spec.EnumOr<ModelLayout>("layout",
                                           {{"deepseek_vl2", kDeepseekVl2},
                                            {"deepseek_ocr", kDeepseekOcr},
                                            {"deepseek_ocr2", kDeepseekOcr2},
                                            {"unlimited_ocr", kUnlimitedOcr}},
                                           kDeepseekVl2);
  ReadTiles(&spec, &config);
  config.max_tiled_items = spec.UIntOr("max_tiled_items", 1, kMaxTiledItems, 0);
  config.background = ReadColor(&spec, "background");
  config.pixels = PixelRules::Read(&spec);
  MMCPP_TRY(spec.Finish());
  return config;
}

// Where the first of two equal gaps ends.
int Middle(int gap, const ModelLayout& layout) {
  return layout.image_ops ? static_cast<int>(std::nearbyint(gap * 0.5)) : gap / 2;
}

uint64_t TokensOf(int rows, int columns, const ModelLayout& layout) {
  return static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns + (layout.row_tokens ? 1 : 0));
}

class GlobalTiles final : public Family {
 public:
  explicit GlobalTiles(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "global_tiles"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_TRY(GlobalSize(height, width));
    MMCPP_ASSIGN(const TileGrid grid, GridOf(height, width));
    const int64_t tiles = grid.count() - 1;  // but for the whole
    const int side = config_.tile_size;
    const int whole = config_.global_size;
    ItemPlan plan;
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(ContentTokens(grid));
    plan.resized_height = tiles > 0 ? static_cast<int>(grid.rows) * side : whole;
    plan.resized_width = tiles > 0 ? static_cast<int>(grid.columns) * side : whole;
    if (config_.layout.pinpoints) {
      const Size canvas = {plan.resized_height, plan.resized_width};
      MMCPP_TRY(transforms::ContainSize(height, width, canvas));
      plan.feature_shape = {tiles + 1, 3, side, side};
      return plan;
    }
    plan.feature_parts = {{feature_name(), {1, 3, whole, whole}}};
    if (tiles > 0) plan.feature_parts.push_back({config_.layout.tiles, {tiles, 3, side, side}});
    plan.feature_shape = {3 * (int64_t{whole} * whole + tiles * side * side)};
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const Size canvas = {plan.resized_height, plan.resized_width};
    const int side = config_.tile_size;
    transforms::PlaneTiles tiles = {side, side, static_cast<int>(grid.rows),
                                    static_cast<int>(grid.columns)};
    if (config_.layout.pinpoints) {
      MMCPP_TRY(WriteGlobal(image, feature));
      MMCPP_ASSIGN(const Size size, transforms::ContainSize(image.height, image.width, canvas));
      tiles.first = 1;
      return ResizeToPlanes(image, size, config_.pixels, tiles, feature,
                            Middle(canvas.height - size.height, config_.layout),
                            Middle(canvas.width - size.width, config_.layout), config_.background);
    }
    MMCPP_ENSURE(feature.shape.size() == 1 && feature.shape[0] == plan.feature_shape[0]);
    TensorView part = {feature.data, feature.dtype, plan.feature_parts[0].shape};
    MMCPP_TRY(WriteGlobal(image, part));
    if (plan.feature_parts.size() == 1) return Ok{};
    const auto whole = static_cast<size_t>(config_.global_size);
    part.data = static_cast<uint8_t*>(feature.data) + 3 * whole * whole * DTypeSize(feature.dtype);
    part.shape = plan.feature_parts[1].shape;
    return ResizeToPlanes(image, canvas, config_.pixels, tiles, part);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const std::array<int64_t, 2> sides = {grid.columns, grid.rows};
    const std::array<int64_t, 1> count = {grid.count() - 1};
    std::vector<NamedTensor> aux(config_.layout.patches_grid ? 2 : 1);
    if (!config_.layout.spatial_crop) {
      aux[0].name = "num_local_patches";
      MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(count, {}));
      if (!config_.layout.patches_grid) return aux;
    }
    aux.back().name = config_.layout.spatial_crop ? "images_spatial_crop" : "patches_grid";
    MMCPP_ASSIGN(aux.back().tensor, Tensor::Of<int64_t>(sides, {2}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    MMCPP_TRY(CheckTiled(items));
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  // DeepSeek-VL2's code cuts no picture of a prompt with more of them: a plan alone cannot know.
  Status CheckTiled(Span<const ItemPlan> items) const {
    if (config_.max_tiled_items == 0 || items.size() <= config_.max_tiled_items) return Ok{};
    for (size_t i = 0; i < items.size(); ++i) {
      const auto& grid = std::get<TileGrid>(items[i].geometry);
      if (grid.rows == 1 && grid.columns == 1) continue;
      return InvalidArgument("item " + std::to_string(i) + ": tiles in a prompt of " +
                             std::to_string(items.size()) + " pictures, of more than " +
                             std::to_string(config_.max_tiled_items) +
                             " none has any; use a spec of one resolution");
    }
    return Ok{};
  }

  // Of the picture as a whole, before it is padded.
  Result<Size> GlobalSize(int height, int width) const {
    const int side = config_.global_size;
    if (config_.layout.image_ops) return transforms::ContainSize(height, width, {side, side});
    return transforms::RoundLongestEdge(height, width, side, 0);
  }

  // One by one where there are no tiles but the whole.
  Result<TileGrid> GridOf(int height, int width) const {
    const int side = config_.tile_size;
    if (config_.layout.pinpoints) {
      MMCPP_ASSIGN(const Size best, transforms::BestResolution(height, width, config_.resolutions));
      return TileGrid{static_cast<uint32_t>(best.height / side),
                      static_cast<uint32_t>(best.width / side), true};
    }
    if (height <= side && width <= side) return TileGrid{};
    MMCPP_ASSIGN(const transforms::Grid grid,
                 transforms::ClosestRatioGrid(height, width, {side, side}, config_.min_tiles,
                                              config_.max_tiles));
    return TileGrid{static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns), true};
  }

  uint64_t ContentTokens(const TileGrid& grid) const {
    const ModelLayout& layout = config_.layout;
    const uint64_t whole = TokensOf(config_.global_tokens, config_.global_tokens, layout) + 1;
    if (!grid.thumbnail) return whole;
    return whole + TokensOf(static_cast<int>(grid.rows) * config_.tile_tokens,
                            static_cast<int>(grid.columns) * config_.tile_tokens, layout);
  }

  Status WriteGlobal(const ImageView& image, TensorView out) const {
    MMCPP_ASSIGN(const Size size, GlobalSize(image.height, image.width));
    const int side = config_.global_size;
    return ResizeToPlanes(image, size, config_.pixels, {side, side}, out,
                          Middle(side - size.height, config_.layout),
                          Middle(side - size.width, config_.layout), config_.background);
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeGlobalTiles(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<GlobalTiles>(std::move(config)));
}

}  // namespace mmcpp::families
