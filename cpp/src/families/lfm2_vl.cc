// LFM2-VL: the picture at its own ratio within bounds of tokens, in patches row by row with
// channels last; of a picture that is much larger the tiles of the closest ratio, and the picture
// as a whole behind them. Each of these is padded to as many patches, which a mask tells apart; a
// picture so thin that it has more of them is alone in its batch, and its mask is too short.
// Equals Lfm2VlImageProcessor of transformers 5.24, which is there for torchvision alone.
#include "families/lfm2_vl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_pixel_patches.h"
#include "families/resize_planes.h"
#include "transforms/size_rules.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

using transforms::Size;

constexpr int kMaxPatchSize = 256;
constexpr int kMaxFactor = 64;
constexpr int kMaxTileSize = 4096;
constexpr int kMaxTiles = 256;
constexpr uint64_t kMaxTokens = uint64_t{1} << 14;
constexpr int64_t kMaxPatches = 1 << 16;          // of one tile
constexpr int64_t kMaxValues = int64_t{1} << 28;  // of one tile

constexpr std::array<const char*, 2> kAux = {"pixel_attention_mask", "spatial_shapes"};

struct Config {
  ItemPrompt prompt;
  int patch_size = 0, factor = 0;
  uint64_t min_tokens = 0, max_tokens = 0;
  double tolerance = 1;
  int tile_size = 0;
  int min_tiles = 1, max_tiles = 1;
  bool use_thumbnail = true;
  bool pads_to_tile = true;  ///< also where no picture is cut
  std::vector<int64_t> row_column, thumbnail;
  int mark_columns = 1;
  PixelRules pixels;

  bool splits() const { return max_tiles > 1; }
  int block() const { return patch_size * factor; }
  uint64_t block_pixels() const {
    return static_cast<uint64_t>(block()) * static_cast<uint64_t>(block());
  }
  // Of each tile and of the whole.
  int64_t max_patches() const {
    const int64_t whole = static_cast<int64_t>(max_tokens) * factor * factor;
    const int64_t along = tile_size / patch_size;
    return pads_to_tile ? std::max(whole, along * along) : whole;
  }
  int64_t values() const { return int64_t{3} * patch_size * patch_size; }
};

void ReadTiles(SpecReader* spec, Config* config) {
  config->tile_size = spec->Size("tile_size", kMaxTileSize);
  config->min_tiles = spec->Size("min_tiles", kMaxTiles);
  config->max_tiles = spec->Size("max_tiles", kMaxTiles);
  config->use_thumbnail = spec->BoolOr("use_thumbnail", true);
  config->pads_to_tile = spec->BoolOr("pads_to_tile", config->splits());
  config->row_column = spec->Ints("row_column_token_ids");
  config->thumbnail = spec->Ints("thumbnail_token_ids");
  config->mark_columns = static_cast<int>(spec->UIntOr("mark_columns", 1, kMaxTiles, 1));
  if (config->min_tiles > config->max_tiles) {
    spec->Fail("min_tiles " + std::to_string(config->min_tiles) + " is over max_tiles " +
               std::to_string(config->max_tiles));
  }
  const auto marks = static_cast<int>(config->row_column.size());
  const int least = config->max_tiles;
  if (marks != 0 && (config->mark_columns < least || marks / config->mark_columns < least)) {
    spec->Fail("row_column_token_ids: expected " + std::to_string(least) + " rows of " +
               std::to_string(least));
  }
}

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.patch_size = spec.Size("patch_size", kMaxPatchSize);
  config.factor = spec.Size("downsample_factor", kMaxFactor);
  config.min_tokens = spec.UInt("min_image_tokens", 0, kMaxTokens);
  config.max_tokens = spec.UInt("max_image_tokens", 1, kMaxTokens);
  config.tolerance = spec.NumberIfAny("max_pixels_tolerance").value_or(2);
  ReadTiles(&spec, &config);
  config.pixels = PixelRules::Read(&spec, Filter::kBilinear);
  if (config.pixels.convention != Convention::kAtenU8) {
    spec.Fail("resample: there is `aten_u8` alone");
  }
  if (config.max_patches() > kMaxPatches || config.values() * config.max_patches() > kMaxValues) {
    spec.Fail("max_image_tokens and tile_size: over " + std::to_string(kMaxPatches) +
              " patches or " + std::to_string(kMaxValues) + " values of a tile");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class Lfm2Vl final : public Family {
 public:
  explicit Lfm2Vl(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "lfm2_vl"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }
  Span<const char* const> JoinedAux() const noexcept override { return kAux; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const Size whole, WholeSize(height, width));
    MMCPP_ASSIGN(const TileGrid grid, GridOf(height, width));
    const int side = config_.tile_size;
    const bool cut = IsCut(grid, height, width);
    ItemPlan plan;
    MMCPP_ASSIGN(const int64_t patches, PatchesOf(whole, grid, cut));
    plan.feature_shape = {grid.count(), patches, config_.values()};
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(Tokens(grid, whole));
    plan.source_height = height;
    plan.source_width = width;
    plan.resized_height = cut ? static_cast<int>(grid.rows) * side : whole.height;
    plan.resized_width = cut ? static_cast<int>(grid.columns) * side : whole.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int patch = config_.patch_size;
    const int rows = static_cast<int>(grid.rows);
    const int columns = static_cast<int>(grid.columns);
    const transforms::PixelPatches tiles = {patch, plan.resized_height / rows / patch,
                                            plan.resized_width / columns / patch, rows, columns};
    MMCPP_TRY(ResizeToPixelPatches(image, {plan.resized_height, plan.resized_width}, config_.pixels,
                                   tiles, feature));
    if (!grid.thumbnail) return Ok{};
    MMCPP_ASSIGN(const Size whole, WholeSize(image.height, image.width));
    return ResizeToPixelPatches(
        image, whole, config_.pixels,
        {patch, whole.height / patch, whole.width / patch, 1, 1, rows * columns}, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const auto& grid = std::get<TileGrid>(plan.geometry);
    const int64_t patch = config_.patch_size;
    const int64_t each = config_.max_patches();
    std::vector<int64_t> shapes;
    for (int64_t i = 0; i < int64_t{grid.rows} * grid.columns; ++i) {
      shapes.push_back(plan.resized_height / patch / grid.rows);
      shapes.push_back(plan.resized_width / patch / grid.columns);
    }
    if (grid.thumbnail) {
      MMCPP_ASSIGN(const Size whole, WholeSize(plan.source_height, plan.source_width));
      shapes.push_back(whole.height / patch);
      shapes.push_back(whole.width / patch);
    }
    std::vector<int32_t> mask(static_cast<size_t>(grid.count() * each));
    for (int64_t i = 0; i < grid.count(); ++i) {
      const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(i * each);
      const auto at = static_cast<size_t>(2 * i);
      const int64_t seen = std::min(shapes[at] * shapes[at + 1], each);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(seen), 1);
    }
    std::vector<NamedTensor> aux(2);
    aux[0].name = kAux[0];
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int32_t>(mask, {grid.count(), each}));
    aux[1].name = kAux[1];
    MMCPP_ASSIGN(aux[1].tensor, Tensor::Of<int64_t>(shapes, {grid.count(), 2}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(
        input_ids, items, [this](const ItemPlan& item, ItemTokens* to) { WriteTiles(item, to); });
  }

 private:
  Result<Size> WholeSize(int height, int width) const {
    return transforms::SmartResize(
        height, width, config_.block(), config_.min_tokens * config_.block_pixels(),
        config_.max_tokens * config_.block_pixels(), transforms::SmartResizeRule::kLfm2);
  }

  // Of each tile and of the whole, where that is seen. The whole of a thin picture may have more
  // than fit; it has them if it stands for itself, and tiles beside it would be of another shape.
  Result<int64_t> PatchesOf(const Size& whole, const TileGrid& grid, bool cut) const {
    if (cut && !grid.thumbnail) return config_.max_patches();
    const int64_t patch = config_.patch_size;
    const int64_t own = whole.height / patch * (whole.width / patch);
    const int64_t most = std::min(kMaxPatches, kMaxValues / config_.values());
    if (own > (cut ? config_.max_patches() : most)) {
      return InvalidArgument("resize: to " + std::to_string(whole.height) + "x" +
                             std::to_string(whole.width) + ", too thin for " +
                             std::to_string(cut ? config_.max_patches() : most) + " patches");
    }
    return std::max(own, config_.max_patches());
  }

  bool IsLarge(int height, int width) const {
    const double block = config_.block();
    const auto along = [&](int side) {
      return std::max(static_cast<double>(config_.patch_size),
                      std::nearbyint(side / block) * block);
    };
    const auto most = static_cast<double>(config_.max_tokens * config_.block_pixels());
    return along(height) * along(width) > most * config_.tolerance;
  }

  // One large tile is cut too, from a picture stretched to it.
  bool IsCut(const TileGrid& grid, int height, int width) const {
    return grid.count() > 1 || (config_.splits() && IsLarge(height, width));
  }

  Result<TileGrid> GridOf(int height, int width) const {
    if (!config_.splits() || !IsLarge(height, width)) return TileGrid{};
    const int side = config_.tile_size;
    if (side % config_.patch_size != 0) {
      return InvalidArgument("tiles: tile_size " + std::to_string(side) +
                             " is no multiple of patch_size " + std::to_string(config_.patch_size));
    }
    MMCPP_ASSIGN(const transforms::Grid grid,
                 transforms::ClosestRatioGrid(height, width, {side, side}, config_.min_tiles,
                                              config_.max_tiles));
    return TileGrid{static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns),
                    config_.use_thumbnail && grid.count() > 1};
  }

  uint64_t TokensAlong(int side) const {
    const int patches = side / config_.patch_size;
    return static_cast<uint64_t>((patches + config_.factor - 1) / config_.factor);
  }
  uint64_t TileTokens() const {
    const uint64_t along = TokensAlong(config_.tile_size);
    return along * along;
  }
  uint64_t WholeTokens(const Size& whole) const {
    return TokensAlong(whole.height) * TokensAlong(whole.width);
  }

  uint64_t Tokens(const TileGrid& grid, const Size& whole) const {
    const uint64_t tiles = uint64_t{grid.rows} * grid.columns;
    if (tiles == 1) return WholeTokens(whole);
    const uint64_t mark = config_.row_column.empty() ? 0 : 1;
    const uint64_t cut = tiles * (TileTokens() + mark);
    return grid.thumbnail ? cut + config_.thumbnail.size() + WholeTokens(whole) : cut;
  }

  void WriteTiles(const ItemPlan& item, ItemTokens* to) const {
    const auto& grid = std::get<TileGrid>(item.geometry);
    const uint64_t tiles = uint64_t{grid.rows} * grid.columns;
    for (uint64_t i = 0; tiles > 1 && i < tiles; ++i) {
      if (!config_.row_column.empty()) {
        const uint64_t row = i / grid.columns;
        const auto columns = static_cast<uint64_t>(config_.mark_columns);
        to->Add(config_.row_column[static_cast<size_t>(row * columns + i % grid.columns)]);
      }
      to->AddRun(TileTokens());
    }
    if (tiles > 1 && !grid.thumbnail) return;
    if (tiles > 1) to->Add(config_.thumbnail);
    const auto whole = WholeSize(item.source_height, item.source_width);
    if (whole.ok()) to->AddRun(WholeTokens(*whole));  // as it was when the item was planned
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeLfm2Vl(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Lfm2Vl>(std::move(config)));
}

}  // namespace mmcpp::families
