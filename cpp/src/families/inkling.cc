// Thinking Machines' Inkling: the picture scaled by a fraction up to a longest edge (Lanczos), cut
// into patches whose channels stay interleaved, one token a patch. Equals InklingImageProcessor of
// sglang 0.5.23 and, with temporal_patch_size 1 and Pillow 12, the module `inkling` of the crate
// sglang-mm 0.5.23; with resample `aten_u8`, that of transformers 5.24.
#include "families/inkling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "mmcpp/resize.h"
#include "resample/tiles.h"
#include "transforms/hwc_patches.h"
#include "transforms/normalize.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxPatchSize = 4096;
constexpr int kMaxTemporalPatchSize = 64;
// Of a feature, padding counted: far beyond any model's picture, and small enough that no product
// overflows.
constexpr int64_t kMaxPixels = int64_t{1} << 28;

constexpr std::array<float, 3> kMean = {0.48145466f, 0.4578275f, 0.40821073f};
constexpr std::array<float, 3> kStd = {0.26862954f, 0.2613026f, 0.2757771f};

struct Config {
  ItemPrompt prompt;
  transforms::HwcPatches patches;
  std::optional<double> fraction;
  std::optional<int64_t> longest_edge;
  PixelRules pixels;
  std::array<float, 3> padding = {};
  bool transformers = false;  ///< its class, whose tensor has another name, and where no side is 0
};

/// Padding is the byte -1, so to speak.
std::array<float, 3> Padding(transforms::NormRule rule, const std::array<float, 3>& mean,
                             const std::array<float, 3>& std) {
  std::array<float, 3> padding;
  for (size_t i = 0; i < padding.size(); ++i) {
    padding[i] = rule == transforms::NormRule::kFused
                     ? (-1.0f - mean[i] * 255.0f) / (std[i] * 255.0f)
                     : (static_cast<float>(-1.0 / 255.0) - mean[i]) / std[i];
  }
  return padding;
}

/// How bytes become numbers: what the keys resample, pillow_generation, filter, image_mean and
/// image_std stand for, the last three of transformers' class alone.
void ReadPixels(SpecReader* spec, Config* config) {
  config->transformers = spec->EnumOr<bool>("resample", {{"pil", false}, {"aten_u8", true}}, false);
  using transforms::NormRule;
  const NormRule rule = config->transformers ? NormRule::kFused : NormRule::kReciprocal;
  std::array<float, 3> mean = kMean, std = kStd;
  if (config->transformers) {
    mean = spec->Channels("image_mean");
    std = spec->Channels("image_std");
    for (const float channel : std) {
      if (channel == 0) spec->Fail("image_std: expected numbers other than 0");
    }
  }
  config->pixels.filter = config->transformers
                              ? spec->EnumOr<Filter>("filter",
                                                     {{"lanczos", Filter::kLanczos},
                                                      {"bicubic", Filter::kBicubic},
                                                      {"bilinear", Filter::kBilinear}},
                                                     Filter::kLanczos)
                              : Filter::kLanczos;
  const bool pillow12 = spec->UIntOr("pillow_generation", 12, 13, 13) == 12;
  config->pixels.convention = config->transformers ? Convention::kAtenU8
                              : pillow12           ? Convention::kPillow12
                                                   : Convention::kPillow13;
  config->pixels.table = transforms::MakeNormTable(rule, mean, std);
  config->padding = Padding(rule, mean, std);
}

/// What InklingImageProcessor refuses; the crate takes any values.
void CheckRescale(const Config& config, SpecReader* spec) {
  if (config.fraction && !(*config.fraction > 0 && std::isfinite(*config.fraction))) {
    spec->Fail("rescale_image_frac: expected a positive number");
  }
  if (!config.longest_edge) return;
  if (*config.longest_edge <= 0) {
    spec->Fail("rescale_image_max_upscaled_long_edge: expected a positive number, got " +
               std::to_string(*config.longest_edge));
  }
  if (!config.fraction || *config.fraction <= 1) {
    spec->Fail("rescale_image_max_upscaled_long_edge requires rescale_image_frac above 1");
  }
}

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.patches.patch_size = spec.Size("patch_size", kMaxPatchSize);
  config.patches.copies =
      static_cast<int>(spec.UIntOr("temporal_patch_size", 1, kMaxTemporalPatchSize, 2));
  config.fraction = spec.NumberIfAny("rescale_image_frac");
  constexpr int64_t kNone = INT64_MIN;
  const int64_t edge =
      spec.IntOr("rescale_image_max_upscaled_long_edge", INT64_MIN, INT64_MAX, kNone);
  if (edge != kNone) config.longest_edge = edge;
  ReadPixels(&spec, &config);
  if (spec.strict()) CheckRescale(config, &spec);
  MMCPP_TRY(spec.Finish());
  return config;
}

class Inkling final : public Family {
 public:
  explicit Inkling(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "inkling"; }
  const char* feature_name() const noexcept override {
    return config_.transformers ? "pixel_values" : "vision_patches_bthwc";
  }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    transforms::Size size = {height, width};
    if (height <= 0 || width <= 0) return InvalidArgument("empty image");
    if (config_.fraction) {
      MMCPP_ASSIGN(size, transforms::ScaleLongestEdge(height, width, *config_.fraction,
                                                      config_.longest_edge));
      if (config_.transformers && Vanishes(height, width, *config_.fraction)) {
        return InvalidArgument("rescale: " + std::to_string(height) + "x" + std::to_string(width) +
                               " by " + std::to_string(*config_.fraction) +
                               " leaves nothing of a side");
      }
    }
    const int64_t side = config_.patches.patch_size;
    const int64_t rows = config_.patches.rows(size.height);
    const int64_t columns = config_.patches.columns(size.width);
    if (rows > kMaxPixels / side || columns > kMaxPixels / side ||
        rows * side > kMaxPixels / (columns * side)) {
      return LimitExceeded("patches: " + std::to_string(rows) + "x" + std::to_string(columns) +
                           " of " + std::to_string(side) + " pixels a side, the limit is " +
                           std::to_string(kMaxPixels) + " pixels");
    }
    ItemPlan plan;
    plan.feature_shape = {rows * columns, config_.patches.copies, side, side, 3};
    plan.geometry = GridThw{1, static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)};
    plan.tokens = config_.prompt.TokensWith(static_cast<uint64_t>(rows * columns));
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    return Run(image, plan, feature);
  }

  Status ProcessRows(RowSource* rows, const ItemPlan& plan, TensorView feature) const override {
    return Run(rows, plan, feature);
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
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  // Whether a side is rounded to 0 before it is lifted to 1.
  static bool Vanishes(int height, int width, double fraction) {
    const double longest = std::max(height, width);
    return fraction < 1 && std::min(height, width) * (longest * fraction / longest) + 0.5 < 1;
  }

  template <class Input>
  Status Run(const Input& input, const ItemPlan& plan, TensorView feature) const {
    MMCPP_ASSIGN(const auto writer, transforms::HwcPatchWriter::Make(
                                        plan.resized_height, plan.resized_width, config_.patches,
                                        config_.pixels.table, config_.padding, feature));
    return resample::ResizeTiles(input, {plan.resized_height, plan.resized_width},
                                 config_.pixels.filter, config_.pixels.convention,
                                 config_.patches.patch_size, [&writer](const resample::Tile& tile) {
                                   writer.Write(tile.y, tile.x, tile.height, tile.width, tile.rows,
                                                tile.row_bytes);
                                 });
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeInkling(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Inkling>(std::move(config)));
}

}  // namespace mmcpp::families
