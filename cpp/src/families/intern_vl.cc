// InternVL as sglang 0.5.23 preprocesses it: normalised first, then bicubic in float without
// antialiasing over the grid of tiles whose ratio is closest, its thumbnail last. Equals that
// InternVLProcessor's dynamic_preprocess with torch 2.13 on a CPU, before its rounding to bfloat16
// in float32, after it in bfloat16. families/internvl.cc is what transformers does.
#include "families/intern_vl.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/float_features.h"
#include "families/item_prompt.h"
#include "resample/float_resize.h"
#include "transforms/normalize.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxSide = 4096;
constexpr uint64_t kMaxTokens = uint64_t{1} << 16;
// Of all tiles: far beyond any model's picture, and small enough that no product overflows.
constexpr int64_t kMaxPixels = int64_t{1} << 28;

struct Config {
  ItemPrompt prompt;
  uint64_t tokens_per_tile = 0;
  int side = 0;
  int max_tiles = 1;
  bool use_thumbnail = true;
  resample::ByteValues values;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  const auto token = [&spec](const char* key) {
    const int64_t id = spec.Int(key, INT64_MIN, INT64_MAX);
    if (id < 0)
      spec.Fail("token ids must be non-negative, got " + std::string(key) + " " +
                std::to_string(id));
    return id;
  };
  config.prompt.placeholder = token("image_token_id");
  config.prompt.token = token("img_context_token_id");
  config.prompt.prefix = {token("img_start_token_id")};
  config.prompt.suffix = {token("img_end_token_id")};
  config.side = spec.Size("image_size", kMaxSide);
  config.tokens_per_tile = static_cast<uint64_t>(spec.Size("num_image_token", kMaxTokens));
  config.max_tiles = spec.Size("max_num", transforms::kMaxGridTiles);
  config.use_thumbnail = spec.BoolOr("use_thumbnail", true);
  const std::array<float, 3> mean = spec.Channels("image_mean");
  const std::array<float, 3> std = spec.Channels("image_std");
  for (size_t i = 0; i < std.size(); ++i) {
    if (std[i] == 0) spec.Fail("image_std[" + std::to_string(i) + "] is zero");
  }
  if (int64_t{config.side} * config.side * (config.max_tiles + 1) > kMaxPixels) {
    spec.Fail(std::to_string(config.max_tiles) + " tiles of " + std::to_string(config.side) +
              " a side have more than " + std::to_string(kMaxPixels) + " pixels");
  }
  MMCPP_TRY(spec.Finish());
  config.values = transforms::MakeNormTable(transforms::NormRule::kPil, mean, std).value;
  return config;
}

class InternVlFloat final : public Family {
 public:
  explicit InternVlFloat(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "intern_vl"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    const transforms::Size tile = {config_.side, config_.side};
    MMCPP_ASSIGN(const transforms::Grid grid,
                 transforms::ClosestRatioGrid(height, width, tile, 1, config_.max_tiles,
                                              transforms::GridTie::kMoreTiles));
    const TileGrid tiles = {static_cast<uint32_t>(grid.rows), static_cast<uint32_t>(grid.columns),
                            config_.use_thumbnail && grid.count() > 1};
    ItemPlan plan;
    plan.feature_shape = {tiles.count(), 3, config_.side, config_.side};
    plan.tokens =
        config_.prompt.TokensWith(static_cast<uint64_t>(tiles.count()) * config_.tokens_per_tile);
    plan.resized_height = grid.rows * config_.side;
    plan.resized_width = grid.columns * config_.side;
    plan.geometry = tiles;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    MMCPP_TRY(CheckFloatFeature(plan, feature));
    const auto& grid = std::get<TileGrid>(plan.geometry);
    MMCPP_TRY(Tiles(image, grid.rows, grid.columns, 0, feature));
    if (!grid.thumbnail) return Ok{};
    return Tiles(image, 1, 1, size_t{grid.rows} * grid.columns, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& /*plan*/) const override {
    return std::vector<NamedTensor>();
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  /// The picture over rows x columns tiles, the upper left of which is tile `first`.
  Status Tiles(const ImageView& image, size_t rows, size_t columns, size_t first,
               const TensorView& feature) const {
    const auto side = static_cast<size_t>(config_.side);
    return resample::ResizeFloatRows(
        image, static_cast<int>(rows * side), static_cast<int>(columns * side),
        resample::FloatFilter::kBicubic, config_.values, [&](int row, float* const planes[3]) {
          const auto y = static_cast<size_t>(row);
          for (size_t column = 0; column < columns; ++column) {
            const size_t tile = first + y / side * columns + column;
            for (size_t c = 0; c < 3; ++c) {
              StoreElements(planes[c] + column * side, side, feature,
                            ((tile * 3 + c) * side + y % side) * side);
            }
          }
        });
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeInternVlFloat(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<InternVlFloat>(std::move(config)));
}

}  // namespace mmcpp::families
