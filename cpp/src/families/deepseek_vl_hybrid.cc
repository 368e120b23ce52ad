// DeepSeek-VL with two encoders: the picture by its longer side in the middle of a square of the
// mean colour; and that square, its padding with it, resized once more. Equals
// DeepseekVLHybridImageProcessor of transformers 5.24.
#include "families/deepseek_vl_hybrid.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "families/spec_parts.h"
#include "transforms/longest_edge.h"

namespace mmcpp::families {
namespace {

using transforms::Size;

constexpr int kMaxSide = 8192;
constexpr uint64_t kMaxTokens = uint64_t{1} << 20;

struct Config {
  ItemPrompt prompt;
  uint64_t tokens_per_image = 0;
  int high_res_size = 0, size = 0;
  int min_padded_side = 0;
  std::array<uint8_t, 3> background = {};
  PixelRules high_res_pixels, pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.tokens_per_image = spec.UInt("tokens_per_image", 1, kMaxTokens);
  config.high_res_size = spec.Size("high_res_size", kMaxSide);
  config.size = spec.Size("size", kMaxSide);
  config.min_padded_side = spec.Size("min_padded_side", kMaxSide);
  config.background = ReadColor(&spec, "high_res_background");
  config.pixels = PixelRules::Read(&spec);
  config.high_res_pixels =
      PixelRules::Read(&spec, Filter::kBicubic, transforms::NormRule::kFused, "high_res_");
  if (config.min_padded_side > config.size || config.min_padded_side > config.high_res_size) {
    spec.Fail("min_padded_side " + std::to_string(config.min_padded_side) +
              " is over the sides of a square");
  }
  MMCPP_TRY(spec.Finish());
  return config;
}

// The picture in the middle of a square.
Result<Image> InSquare(const Image& image, int side, const std::array<uint8_t, 3>& color) {
  MMCPP_ASSIGN(Image square, Image::Allocate(side, side));
  for (int y = 0; y < side; ++y) {
    uint8_t* pixel = square.row(y);
    for (int x = 0; x < side; ++x, pixel += color.size()) {
      std::memcpy(pixel, color.data(), color.size());
    }
  }
  const int top = (side - image.height()) / 2;
  const size_t left = static_cast<size_t>((side - image.width()) / 2);
  for (int y = 0; y < image.height(); ++y) {
    std::memcpy(square.row(top + y) + left * color.size(), image.row(y), image.row_bytes());
  }
  return square;
}

class DeepseekVlHybrid final : public Family {
 public:
  explicit DeepseekVlHybrid(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "deepseek_vl_hybrid"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_TRY(ResizedSize(height, width));
    const int64_t low = config_.size;
    const int64_t high = config_.high_res_size;
    ItemPlan plan;
    plan.feature_shape = {3 * (low * low + high * high)};
    plan.feature_parts = {{feature_name(), {1, 3, low, low}},
                          {"high_res_pixel_values", {1, 3, high, high}}};
    plan.geometry = TileGrid{};
    plan.tokens = config_.prompt.TokensWith(config_.tokens_per_image);
    plan.resized_height = config_.high_res_size;
    plan.resized_width = config_.high_res_size;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    const PixelRules& rules = config_.high_res_pixels;
    const int low = config_.size;
    const int high = config_.high_res_size;
    MMCPP_ENSURE(feature.shape.size() == 1 && feature.shape[0] == plan.feature_shape[0]);
    MMCPP_ASSIGN(const Size size, ResizedSize(image.height, image.width));
    MMCPP_ASSIGN(const Image resized,
                 Resize(image, size.height, size.width, rules.filter, rules.convention));
    MMCPP_ASSIGN(const Image square, InSquare(resized, high, config_.background));
    TensorView part = {feature.data, feature.dtype, plan.feature_parts[0].shape};
    MMCPP_TRY(ResizeToPlanes(square, {low, low}, config_.pixels, {low, low}, part));
    const size_t pixels = static_cast<size_t>(low) * static_cast<size_t>(low);
    part.data = static_cast<uint8_t*>(feature.data) + 3 * pixels * DTypeSize(feature.dtype);
    part.shape = plan.feature_parts[1].shape;
    return ResizeToPlanes(square, {high, high}, rules, {high, high}, part);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& /*plan*/) const override {
    return std::vector<NamedTensor>();
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    return config_.prompt.Layout(input_ids, items);
  }

 private:
  Result<Size> ResizedSize(int height, int width) const {
    return transforms::RoundLongestEdge(height, width, config_.high_res_size,
                                        config_.min_padded_side);
  }

  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakeDeepseekVlHybrid(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<DeepseekVlHybrid>(std::move(config)));
}

}  // namespace mmcpp::families
