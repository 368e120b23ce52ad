// Pixtral, Mistral Small 3.1 and later, LightOnOCR: the picture reduced until its longer side fits,
// both sides rounded up to whole patches; features of a batch padded with zeros below and to the
// right; in the prompt a row of tokens for each row of patches. Equals PixtralImageProcessor of
// transformers 5.24.
#include "families/pixtral.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "families/item_prompt.h"
#include "families/resize_planes.h"
#include "transforms/size_rules.h"

namespace mmcpp::families {
namespace {

constexpr int kMaxSide = 16384;

struct Config {
  ItemPrompt prompt;
  std::vector<int64_t> row_end, end;
  int longest_edge = 0;
  int patch_size = 0;
  int token_size = 0;  ///< pixels that a token stands for along a side
  PixelRules pixels;
};

Result<Config> ReadConfig(SpecReader spec) {
  Config config;
  config.prompt = ItemPrompt::Read(&spec);
  config.row_end = spec.Ints("row_end_token_ids");
  config.end = spec.Ints("end_token_ids");
  config.longest_edge = spec.Size("longest_edge", kMaxSide);
  config.patch_size = spec.Size("patch_size", kMaxSide);
  config.token_size = static_cast<int>(
      spec.UIntOr("token_size", 1, kMaxSide, static_cast<uint64_t>(config.patch_size)));
  config.pixels = PixelRules::Read(&spec);
  if (config.row_end.size() > 1) spec.Fail("row_end_token_ids: expected one token or none");
  if (config.end.size() > 1) spec.Fail("end_token_ids: expected one token or none");
  MMCPP_TRY(spec.Finish());
  return config;
}

class Pixtral final : public Family {
 public:
  explicit Pixtral(Config config) : config_(std::move(config)) {}

  const char* name() const noexcept override { return "pixtral"; }
  const char* feature_name() const noexcept override { return "pixel_values"; }
  bool PadsFeatures() const noexcept override { return true; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    MMCPP_ASSIGN(
        const transforms::Size size,
        transforms::FitLongestEdge(height, width, config_.longest_edge, config_.patch_size));
    const GridThw grid = {1, static_cast<uint32_t>(size.height / config_.token_size),
                          static_cast<uint32_t>(size.width / config_.token_size)};
    if (grid.h == 0 || grid.w == 0) {
      return InvalidArgument("resize: " + std::to_string(height) + "x" + std::to_string(width) +
                             " is less than one token of " + std::to_string(config_.token_size) +
                             " pixels");
    }
    const uint64_t breaks = (uint64_t{grid.h} - 1) * config_.row_end.size() + config_.end.size();
    ItemPlan plan;
    plan.feature_shape = {1, 3, size.height, size.width};
    plan.geometry = grid;
    plan.tokens = config_.prompt.TokensWith(uint64_t{grid.h} * grid.w + breaks);
    plan.resized_height = size.height;
    plan.resized_width = size.width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    return ResizeToPlanes(image, {plan.resized_height, plan.resized_width}, config_.pixels,
                          {plan.resized_height, plan.resized_width}, feature);
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan& plan) const override {
    const std::array<int64_t, 2> size = {plan.resized_height, plan.resized_width};
    std::vector<NamedTensor> aux(1);
    aux[0].name = "image_sizes";
    MMCPP_ASSIGN(aux[0].tensor, Tensor::Of<int64_t>(size, {2}));
    return aux;
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    if (config_.row_end.empty() && config_.end.empty()) {
      return config_.prompt.Layout(input_ids, items);
    }
    return config_.prompt.Layout(input_ids, items, [this](const ItemPlan& item, ItemTokens* to) {
      const auto& grid = std::get<GridThw>(item.geometry);
      for (uint32_t row = 0; row < grid.h; ++row) {
        to->AddRun(grid.w);
        to->Add(row + 1 < grid.h ? config_.row_end : config_.end);
      }
    });
  }

 private:
  const Config config_;
};

}  // namespace

Result<std::unique_ptr<const Family>> MakePixtral(SpecReader spec) {
  MMCPP_ASSIGN(Config config, ReadConfig(std::move(spec)));
  return std::unique_ptr<const Family>(std::make_unique<Pixtral>(std::move(config)));
}

}  // namespace mmcpp::families
