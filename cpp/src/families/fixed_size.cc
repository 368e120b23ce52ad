// Every picture at one size: stretched, resized by its shorter side and cut out of the middle, or
// by its longer side and put in the middle of the mean colour. Equals CLIPImageProcessor,
// SiglipImageProcessor, BitImageProcessor, LlavaImageProcessor (without padding),
// Gemma3ImageProcessor (without crops), JanusImageProcessor and DeepseekVLImageProcessor of
// transformers 5.24.
#include "families/fixed_size.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "families/spec_parts.h"
#include "transforms/longest_edge.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxSide = 8192;
constexpr uint64_t kMaxTokens = uint64_t{1} << 20;

struct Config {
  ItemPrompt prompt;
  uint64_t tokens_per_image = 0;
  transforms::Size size;
  int shortest_edge = 0;                   ///< 0: stretched or padded
  int min_padded_side = 0;                 ///< 0: stretched or cut
  std::array<uint8_t, 3> background = {};  ///< of padding
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.tokens_per_image = spec.UInt("tokens_per_image", 1, kMaxTokens);
  config.size.height = spec.Size("height", kMaxSide);
  config.size.width = spec.Size("width", kMaxSide);
  config.shortest_edge = static_cast<int>(spec.UIntOr("shortest_edge", 1, kMaxSide, 0));
  config.min_padded_side = static_cast<int>(spec.UIntOr("min_padded_side", 1, kMaxSide, 0));
  config.pixels = PixelRules::Read(&spec);
  config.background = ReadColor(&spec, "background");
  const int longer = std::max(config.size.height, config.size.width);
  if (config.shortest_edge != 0 && config.shortest_edge < longer) {
    spec.Fail("shortest_edge " + std::to_string(config.shortest_edge) + " is under the " +
              std::to_string(longer) + " that are cut out");
  }
  const bool square = config.size.height == config.size.width;
  if (config.min_padded_side != 0 &&
      (config.shortest_edge != 0 || !square || config.min_padded_side > config.size.height)) {
    spec.Fail("min_padded_side " + std::to_string(config.min_padded_side) +
              " asks for a square that is no shorter, and for no shortest_edge");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

class FixedSize final : public Family {
 public:
  explicit FixedSize(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "fixed_size"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_TRY(ResizedSize(height, width));
    ItemPlan plan;
    plan.feature_shape = {1, 3, config_.size.height, config_.size.width};
    plan.geometry = TileGrid{};
    plan.tokens = config_.prompt.TokensWith(config_.tokens_per_image);
    plan.resized_height = config_.size.height;
    plan.resized_width = config_.size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& /*plan*/,
                     TensorView feature) const override {
    MMCPP_ASSIGN(const transforms::Size size, ResizedSize(image.height, image.width));
    const transforms::Size seen = config_.size;
    const transforms::PlaneTiles tile = {seen.height, seen.width};
    if (config_.min_padded_side != 0) {
      return ResizeToPlanes(image, size, config_.pixels, tile, feature,
                            (seen.height - size.height) / 2, (seen.width - size.width) / 2,
                            config_.background);
    }
    return ResizeToPlanes(image, size, config_.pixels, tile, feature,
                          -((size.height - seen.height) / 2), -((size.width - seen.width) / 2));
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& /*plan*/) const override {
    return std::vector<NamedTensor>();
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  Result<transforms::Size> ResizedSize(int height, int width) const {
    if (config_.shortest_edge != 0) {
      return transforms::FitShortestEdge(height, width, config_.shortest_edge);
    }
    if (config_.min_padded_side != 0) {
      return transforms::RoundLongestEdge(height, width, config_.size.height,
                                          config_.min_padded_side);
    }
    if (height <= 0 || width <= 0) return InvalidArgument("empty image");
    return config_.size;
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeFixedSize(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<FixedSize>(std::move(config)));
}

}  // namespace mmcpp::families
