// A family that lives outside the library, by the public headers alone: the feature is a picture's
// mean colour, and each placeholder becomes a wrapper around two tokens.
#include <mmcpp/driver.h>
#include <mmcpp/family.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kPlaceholder = 7, kBegin = 8, kEnd = 9;

class MeanColor final : public mmcpp::Family {
 public:
  const char* name() const noexcept override { return "mean_color"; }
  const char* feature_name() const noexcept override { return "colors"; }

  mmcpp::Result<mmcpp::ItemPlan> PlanItem(int height, int width) const override {
    if (height > 100 || width > 100) {
      return mmcpp::Error{mmcpp::ErrorCode::kInvalidArgument, "mean_color: too large"};
    }
    mmcpp::ItemPlan plan;
    plan.feature_shape = {1, 3};
    plan.geometry = mmcpp::GridThw{1, 1, 2};
    plan.tokens = 4;
    plan.resized_height = height;
    plan.resized_width = width;
    return plan;
  }

  mmcpp::Status ProcessItem(const mmcpp::ImageView& image, const mmcpp::ItemPlan&,
                            mmcpp::TensorView feature) const override {
    if (feature.dtype != mmcpp::DType::kF32) {
      return mmcpp::Error{mmcpp::ErrorCode::kInvalidArgument, "mean_color: float32 only"};
    }
    auto* mean = static_cast<float*>(feature.data);
    for (int channel = 0; channel < 3; ++channel) {
      int64_t sum = 0;
      for (int y = 0; y < image.height; ++y) {
        for (int x = 0; x < image.width; ++x) sum += image.row(y)[3 * x + channel];
      }
      mean[channel] = static_cast<float>(sum) / static_cast<float>(image.height * image.width);
    }
    return mmcpp::Ok{};
  }

  mmcpp::Result<std::vector<mmcpp::NamedTensor>> Aux(const mmcpp::ItemPlan& plan) const override {
    const std::vector<int64_t> size = {plan.resized_height, plan.resized_width};
    auto tensor = mmcpp::Tensor::Of(mmcpp::Span<const int64_t>(size), {2});
    if (!tensor.ok()) return std::move(tensor).error();
    std::vector<mmcpp::NamedTensor> aux;
    aux.push_back({"sizes", *std::move(tensor)});
    return aux;
  }

  mmcpp::Result<mmcpp::TokenLayout> Layout(
      mmcpp::Span<const int64_t> ids, mmcpp::Span<const mmcpp::ItemPlan> items) const override {
    mmcpp::TokenLayout layout;
    size_t item = 0, copied = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != kPlaceholder) continue;
      layout.segments.push_back(mmcpp::TextRange{copied, i});
      layout.segments.push_back(mmcpp::MediaSegment{
          item++, mmcpp::ExplicitPattern{{kBegin, kPlaceholder, kPlaceholder, kEnd}, 1, 3}, 1});
      copied = i + 1;
    }
    if (item != items.size()) {
      return mmcpp::Error{mmcpp::ErrorCode::kInvalidArgument, "mean_color: placeholders"};
    }
    layout.segments.push_back(mmcpp::TextRange{copied, ids.size()});
    return layout;
  }
};

}  // namespace

int main() {
  const std::vector<uint8_t> pixels = {10, 20, 30, 20, 40, 60}, large(101 * 3);
  const mmcpp::MediaSource pictures[] = {mmcpp::ImageView{pixels.data(), 2, 1, 3}};
  const std::vector<int64_t> prompt = {1, kPlaceholder, 2};
  mmcpp::Request request;
  request.input_ids = prompt;
  request.media = {pictures, 1};
  const MeanColor family;
  const auto response = mmcpp::Process(family, request);
  if (!response.ok()) return 1;
  if (response->input_ids != std::vector<int64_t>{1, kBegin, kPlaceholder, kPlaceholder, kEnd, 2}) {
    return 2;
  }
  if (response->offsets.size() != 1 || response->offsets[0].first != 2 ||
      response->offsets[0].last != 3) {
    return 3;
  }
  const auto mean = response->items[0].feature.As<float>();
  if (mean.size() != 3 || mean[0] != 15 || mean[1] != 30 || mean[2] != 45) return 4;

  // Its refusal is the request's, with the index of the picture.
  const mmcpp::MediaSource refused[] = {mmcpp::ImageView{large.data(), 101, 1, 3}};
  request.media = {refused, 1};
  const auto failed = mmcpp::Process(family, request);
  if (failed.ok() || failed.error().item != 0) return 5;
  return failed.error().message == "image 0: mean_color: too large" ? 0 : 6;
}
