// Phi-4-multimodal: the smallest grid of tiles that covers the picture, or of the closest ratio
// where that has too many; the picture at its own ratio in the upper left of it, on white, and the
// whole grid as one tile more, first, resampled in float after it was normalised. Equals
// Phi4MultimodalImageProcessor of transformers 5.24, which is there for torchvision alone.
#include "families/phi4_multimodal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/float_features.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "resample/float_resize.h"
#include "transforms/planes.h"
#include "transforms/tile_grids.h"

namespace mmcpp::families {
namespace {

using transforms::Size;

constexpr int kMaxSide = 4096;
constexpr int kMaxTiles = 256;
constexpr int64_t kMaxPixels = int64_t{1} << 28;  // of the whole grid
constexpr int kLeastSide = 10;                    // of the picture on the grid, in pixels
// The model lays its tokens out so whatever the tiles are: 16 rows of 16 of the whole, each row and
// each of the grid's with one behind it, and one between the two.
constexpr uint64_t kWholeTokens = 256 + 16, kSeparatorTokens = 1;

constexpr std::array<uint8_t, 3> kWhite = {255, 255, 255};

constexpr std::array<const char*, 1> kOnes = {"image_attention_mask"};

struct Config {
  ItemPrompt prompt;
  int side = 0, patch = 0;
  int max_tiles = 1;
  PixelRules pixels;

  int patches() const { return side / patch; }  ///< along a side of a tile; what is over is unseen
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.side = spec.Size("tile_size", kMaxSide);
  config.patch = spec.Size("patch_size", kMaxSide);
  config.max_tiles = spec.Size("max_tiles", kMaxTiles);
  config.pixels = PixelRules::Read(&spec, Filter::kBilinear);
  if (config.pixels.convention != Convention::kAtenU8) {
    spec.Fail("resample: there is `aten_u8` alone");
  }
  if (config.patch > config.side) {
    spec.Fail("patch_size " + std::to_string(config.patch) + " is over tile_size " +
              std::to_string(config.side));
  }
  if (int64_t{config.side} * config.side * config.max_tiles > kMaxPixels) {
    spec.Fail(std::to_string(config.max_tiles) + " tiles of " + std::to_string(config.side) +
              " a side have more than " + std::to_string(kMaxPixels) + " pixels");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

/// How the picture lies on its grid.
struct Fit {
  transforms::Grid grid;
  Size canvas, picture;
  int mask_rows = 0, mask_columns = 0;  ///< patches that are not padding alone
};

Result<Fit> FitOnGrid(int height, int width, const Config& config) {
  if (height <= 0 || width <= 0) return InvalidArgument("empty image");
  Fit fit;
  const int side = config.side;
  const auto covering = [side](int length) { return (int64_t{length} + side - 1) / side; };
  if (covering(height) * covering(width) > config.max_tiles) {
    MMCPP_ASSIGN(fit.grid,
                 transforms::ClosestRatioGrid(height, width, {side, side}, 1, config.max_tiles));
  } else {
    fit.grid = {static_cast<int>(covering(height)), static_cast<int>(covering(width))};
  }
  fit.canvas = {fit.grid.rows * side, fit.grid.columns * side};
  const double by_width = static_cast<double>(fit.canvas.width) / width;
  const double by_height = static_cast<double>(fit.canvas.height) / height;
  fit.picture = by_width < by_height ? Size{static_cast<int>(height * by_width), fit.canvas.width}
                                     : Size{fit.canvas.height, static_cast<int>(width * by_height)};
  if (std::min(fit.picture.height, fit.picture.width) < kLeastSide) {
    return InvalidArgument("resize: " + std::to_string(height) + "x" + std::to_string(width) +
                           " becomes " + std::to_string(fit.picture.height) + "x" +
                           std::to_string(fit.picture.width) + ", which is less than " +
                           std::to_string(kLeastSide) + " on a side");
  }
  const auto seen = [&](int tiles, int canvas, int picture) {
    return std::max(0, tiles * config.patches() - (canvas - picture) / config.patch);
  };
  fit.mask_rows = seen(fit.grid.rows, fit.canvas.height, fit.picture.height);
  fit.mask_columns = seen(fit.grid.columns, fit.canvas.width, fit.picture.width);
  return fit;
}

/// Every other patch of each tile, from its first, of `seen` patches along the grid.
uint64_t Halved(int seen, int patches) {
  const int tiles = seen / patches, rest = seen % patches;
  const int halved = tiles * ((patches + 1) / 2) + (rest + 1) / 2;
  return static_cast<uint64_t>(halved);
}

class Phi4Multimodal final : public Family {
 public:
  explicit Phi4Multimodal(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "phi4_multimodal"; }
  const char* feature_name() const noexcept override { return "image_pixel_values"; }
  bool PadsFeatures() const noexcept override { return true; }
  Span<const char* const> OnesAux() const noexcept override { return kOnes; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(const Fit fit, FitOnGrid(height, width, config_));
    ItemPlan plan;
    plan.feature_shape = {1, 1 + int64_t{fit.grid.count()}, 3, config_.side, config_.side};
    plan.geometry = TileGrid{static_cast<uint32_t>(fit.grid.rows),
                             static_cast<uint32_t>(fit.grid.columns), true};
    plan.tokens = config_.prompt.TokensWith(Tokens(fit));
    plan.source_height = height;
    plan.source_width = width;
    plan.resized_height = fit.canvas.height;
    plan.resized_width = fit.canvas.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    MMCPP_ENSURE(feature.shape.size() == plan.feature_shape.size());
    const TensorView tiles = {feature.data, feature.dtype, feature.shape.subspan(1, 4)};
    MMCPP_TRY(CheckFloats(feature));
    MMCPP_ASSIGN(const Fit fit, FitOnGrid(image.height, image.width, config_));
    const int side = config_.side;
    MMCPP_ENSURE(tiles.shape[2] == side && tiles.shape[3] == side);
    const transforms::PlaneTiles grid = {side, side, fit.grid.rows, fit.grid.columns, 1};
    if (fit.grid.count() == 1) {  // both tiles are the whole
      MMCPP_TRY(ResizeToPlanes(image, fit.picture, config_.pixels, grid, tiles, 0, 0, kWhite));
      const size_t bytes = TileBytes(feature);
      std::memcpy(feature.data, static_cast<const uint8_t*>(feature.data) + bytes, bytes);
      return Ok{};
    }
    MMCPP_ASSIGN(const auto writer,
                 transforms::PlaneWriter::Make(grid, config_.pixels.table, tiles));
    return WriteGridAndWhole(image, fit, writer, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    MMCPP_ASSIGN(const Fit fit, FitOnGrid(plan.source_height, plan.source_width, config_));
    const std::array<int64_t, 2> size = {fit.canvas.height, fit.canvas.width};
    const std::array<int64_t, 1> tokens = {static_cast<int64_t>(Tokens(fit))};
    std::vector<NamedTensor> aux(3);
    aux[0].name = "image_sizes";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(size, {2}));
    aux[1].name = kOnes[0];
    MMCPP_ASSIGN(aux[1].tensor, Mask(fit));
    aux[2].name = "num_img_tokens";
    MMCPP_ASSIGN(aux[2].tensor, Tensor::Of<int64_t>(tokens, {}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  uint64_t Tokens(const Fit& fit) const {
    const uint64_t rows = Halved(fit.mask_rows, config_.patches());
    const uint64_t columns = Halved(fit.mask_columns, config_.patches());
    return kWholeTokens + kSeparatorTokens + rows * (columns + (columns > 0 ? 1 : 0));
  }

  Status CheckFloats(const TensorView& feature) const {
    ItemPlan own;
    own.feature_shape.assign(feature.shape.begin(), feature.shape.end());
    return CheckFloatFeature(own, feature);
  }

  size_t TileBytes(const TensorView& feature) const {
    const auto side = static_cast<size_t>(config_.side);
    return 3 * side * side * DTypeSize(feature.dtype);
  }

  /// The whole is the first tile.
  Status WriteGridAndWhole(const ImageView& image, const Fit& fit,
                           const transforms::PlaneWriter& writer, const TensorView& feature) const {
    const resample::Canvas canvas = {
        fit.canvas.height, fit.canvas.width, {0, 0, fit.picture.height, fit.picture.width}, kWhite};
    const auto side = static_cast<size_t>(config_.side);
    return resample::ResizeTilesAndFloatRows(
        {image, canvas, config_.pixels.filter, config_.pixels.convention},
        [&writer](const resample::Tile& tile) {
          writer.Write({tile.y, tile.x, tile.height, tile.width}, tile.rows, tile.row_bytes);
        },
        config_.side, config_.side, config_.pixels.table.value,
        [&feature, side](int row, float* const planes[3]) {
          for (size_t c = 0; c < 3; ++c) {
            StoreElements(planes[c], side, feature, (c * side + static_cast<size_t>(row)) * side);
          }
        });
  }

  /// Of the whole, all ones; then of each tile.
  Result<Tensor> Mask(const Fit& fit) const {
    const int each = config_.patches();
    std::vector<float> mask(static_cast<size_t>(each) * static_cast<size_t>(each), 1.0F);
    for (int tile = 0; tile < fit.grid.count(); ++tile) {
      const int top = tile / fit.grid.columns * each, left = tile % fit.grid.columns * each;
      for (int y = top; y < top + each; ++y) {
        for (int x = left; x < left + each; ++x) {
          mask.push_back(y < fit.mask_rows && x < fit.mask_columns ? 1.0F : 0.0F);
        }
      }
    }
    return Tensor::Of<float>(mask, {1 + int64_t{fit.grid.count()}, each, each});
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakePhi4Multimodal(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Phi4Multimodal>(std::move(config)));
}

}  // namespace mmcpp::families
