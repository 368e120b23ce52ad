// MiMo-V2.5: its own smart_resize, bilinear in float without antialiasing, patches in merge blocks,
// the placeholder repeated once per merged patch, positions that are M-RoPE's in shape alone.
// Equals get_visual_transform and _flatten_visual_inputs of sglang 0.5.23's MiMo-V2 with
// torch 2.13.
#include "families/mimo_v2.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/float_features.h"
#include "families/item_prompt.h"
#include "mmcpp/prompt.h"
#include "resample/float_resize.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxPatchSize = 1024;
constexpr int kMaxMergeSize = 64;
constexpr int kMaxTemporalPatchSize = 64;
constexpr uint64_t kMaxMinPixels = uint64_t{1} << 40;
constexpr uint64_t kMaxThreads = 65536;

struct Config {
  ItemPrompt prompt;
  size_t patch = 0, merge = 0, copies = 0;
  uint64_t min_pixels = 0, max_pixels = 0;
  std::array<float, 3> mean = {}, std = {};
  resample::FloatFilter filter = resample::FloatFilter::kBilinear;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.patch = static_cast<size_t>(spec.Size("patch_size", kMaxPatchSize));
  config.merge = static_cast<size_t>(spec.Size("merge_size", kMaxMergeSize));
  config.copies = static_cast<size_t>(spec.Size("temporal_patch_size", kMaxTemporalPatchSize));
  config.min_pixels = spec.UInt("min_pixels", 0, kMaxMinPixels);
  config.max_pixels = spec.UInt("max_pixels", 1, UINT64_MAX);
  config.mean = spec.Channels("image_mean");
  config.std = spec.Channels("image_std");
  for (float channel : config.std) {
    if (channel == 0) spec.Fail("image_std must be nonzero");
  }
  if (spec.UIntOr("torch_threads", 1, kMaxThreads, 1) > 1) {
    config.filter = resample::FloatFilter::kBilinearThreads;
  }
  if (spec.strict() && config.min_pixels > config.max_pixels) {
    spec.Fail("min_pixels " + std::to_string(config.min_pixels) + " is over max_pixels " +
              std::to_string(config.max_pixels));
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

resample::ByteValues Bytes() {
  resample::ByteValues values;
  for (auto& channel : values) {
    for (size_t i = 0; i < channel.size(); ++i) channel[i] = static_cast<float>(i);
  }
  return values;
}

class MimoV2 final : public Family {
 public:
  explicit MimoV2(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "mimo_v2"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    const auto factor = static_cast<int>(config_.patch * config_.merge);
    MMCPP_ASSIGN(const transforms::Size size,
                 transforms::SmartResize(height, width, factor, config_.min_pixels,
                                         config_.max_pixels, transforms::SmartResizeRule::kMimo));
    const auto patch = static_cast<int64_t>(config_.patch);
    const GridThw grid = {1, static_cast<uint32_t>(size.height / patch),
                          static_cast<uint32_t>(size.width / patch)};
    const uint64_t rows = uint64_t{grid.h} * grid.w;
    ItemPlan plan;
    plan.feature_shape = {static_cast<int64_t>(rows),
                          3 * static_cast<int64_t>(config_.copies) * patch * patch};
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(rows / config_.merge / config_.merge);
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    MMCPP_TRY(CheckFloatFeature(plan, feature));
    const auto width = static_cast<size_t>(plan.resized_width);
    return resample::ResizeFloatRows(
        image, plan.resized_height, plan.resized_width, config_.filter, bytes_,
        [&](int y, float* const planes[3]) {
          for (size_t c = 0; c < 3; ++c) {
            for (size_t x = 0; x < width; ++x) {
              planes[c][x] = (planes[c][x] - config_.mean[c]) / config_.std[c];
            }
            WriteRow(static_cast<size_t>(y), c, planes[c], width, feature);
          }
        });
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const GridThw grid = std::get<GridThw>(plan.geometry);
    const std::array<int64_t, 3> thw = {grid.t, grid.h, grid.w};
    std::vector<NamedTensor> aux(1);
    aux[0].name = "image_grid_thw";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(thw, {3}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

  /// Three rows of 0, 1, 2, ..., whatever the items.
  Result<Positions> ComputePositions(Span<const int64_t> input_ids,
                                     Span<const TokenRange> /*offsets*/,
                                     Span<const ItemPlan> /*items*/) const override {
    const size_t length = input_ids.size();
    if (length > kMaxMropeTokens) {
      return LimitExceeded("mrope: " + std::to_string(length) + " tokens, the limit is " +
                           std::to_string(kMaxMropeTokens));
    }
    MRope mrope;
    MMCPP_ASSIGN(mrope.position_ids,
                 Tensor::Allocate(DType::kI64, {3, static_cast<int64_t>(length)}));
    const Span<int64_t> ids = mrope.position_ids.As<int64_t>();
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i % length);
    return Positions{std::move(mrope)};
  }

 private:
  /// A channel's row y: patches by (rows / merge, columns / merge, merge, merge), inside a patch
  /// (channel, copy, y, x).
  void WriteRow(size_t y, size_t channel, const float* values, size_t width,
                const TensorView& feature) const {
    const size_t side = config_.patch, merge = config_.merge, copies = config_.copies;
    const size_t plane = side * side;
    const size_t block_row = y / (side * merge) * (width / (side * merge));
    for (size_t column = 0; column < width / side; ++column) {
      const size_t patch =
          (block_row + column / merge) * merge * merge + y / side % merge * merge + column % merge;
      for (size_t copy = 0; copy < copies; ++copy) {
        const size_t at = ((patch * 3 + channel) * copies + copy) * plane + y % side * side;
        StoreElements(values + column * side, side, feature, at);
      }
    }
  }

  const Config config_;
  const resample::ByteValues bytes_ = Bytes();
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeMimoV2(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<MimoV2>(std::move(config)));
}

}  // namespace mmcpp::families
