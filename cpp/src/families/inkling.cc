// Thinking Machines' Inkling: the picture scaled by a fraction up to a longest edge (Lanczos), cut
// into patches whose channels stay interleaved, one token a patch. Equals InklingImageProcessor of
// sglang 0.5.23 and, with temporal_patch_size 1 and Pillow 12, the module `inkling` of the crate
// sglang-mm 0.5.23.
#include "families/inkling.h"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
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
// Padding is the byte -1, so to speak.
constexpr float kPadding = static_cast<float>(-1.0 / 255.0);

struct Config {
  ItemPrompt prompt;
  transforms::HwcPatches patches;
  std::optional<double> fraction;
  std::optional<int64_t> longest_edge;
  Convention convention = Convention::kPillow13;
};

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
  if (spec.UIntOr("pillow_generation", 12, 13, 13) == 12) config.convention = Convention::kPillow12;
  if (spec.strict()) CheckRescale(config, &spec);
  MMCPP_TRY(spec.Finish());
  return config;
}

class Inkling final : public Family {
 public:
  explicit Inkling(Config config)
      : config_(std::move(config)),
        table_(transforms::MakeNormTable(transforms::NormRule::kReciprocal, kMean, kStd)) {
    for (size_t i = 0; i < padding_.size(); ++i) padding_[i] = (kPadding - kMean[i]) / kStd[i];
  }

  const char* name() const noexcept override { return "inkling"; }
  const char* feature_name() const noexcept override { return "vision_patches_bthwc"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    transforms::Size size = {height, width};
    if (height <= 0 || width <= 0) return InvalidArgument("empty image");
    if (config_.fraction) {
      MMCPP_ASSIGN(size, transforms::ScaleLongestEdge(height, width, *config_.fraction,
                                                      config_.longest_edge));
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
  template <class Input>
  Status Run(const Input& input, const ItemPlan& plan, TensorView feature) const {
    MMCPP_ASSIGN(const auto writer,
                 transforms::HwcPatchWriter::Make(plan.resized_height, plan.resized_width,
                                                  config_.patches, table_, padding_, feature));
    return resample::ResizeTiles(
        input, plan.resized_height, plan.resized_width, Filter::kLanczos, config_.convention,
        config_.patches.patch_size, [&writer](const resample::Tile& tile) {
          writer.Write(tile.y, tile.x, tile.height, tile.width, tile.rows, tile.row_bytes);
        });
  }

  const Config config_;
  const transforms::NormTable table_;
  std::array<float, 3> padding_ = {};
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeInkling(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Inkling>(std::move(config)));
}

}  // namespace mmcpp::families
