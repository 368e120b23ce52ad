// A family of the simplest kind, for tests of what surrounds one: the feature is the pixels, a
// picture's height is its number of tokens.
#pragma once

#include <cstring>
#include <new>
#include <vector>

#include "mmcpp/family.h"
#include "mmcpp/prompt.h"

namespace mmcpp::test {

class FakeFamily : public Family {
 public:
  static constexpr int64_t kPlaceholder = 9;
  static constexpr int kRefusedWidth = 13;    // by PlanItem
  static constexpr int kBrokenWidth = 17;     // by ProcessItem
  static constexpr int kMemoryHogWidth = 19;  // ProcessItem throws std::bad_alloc

  const char* name() const noexcept override { return "fake"; }
  const char* feature_name() const noexcept override { return "pixels"; }

  Result<ItemPlan> PlanItem(int height, int width) const override {
    if (width == kRefusedWidth) return Error{ErrorCode::kInvalidArgument, "fake: unlucky width"};
    ItemPlan plan;
    plan.feature_shape = {int64_t{height} * width, 3};
    plan.geometry = GridThw{1, static_cast<uint32_t>(height), static_cast<uint32_t>(width)};
    plan.tokens = static_cast<uint64_t>(height);
    plan.resized_height = height;
    plan.resized_width = width;
    return plan;
  }

  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    if (image.width == kBrokenWidth) return Error{ErrorCode::kInternal, "fake: broken"};
    if (image.width == kMemoryHogWidth) throw std::bad_alloc();
    if (feature.dtype != DType::kU8 || feature.shape.size() != plan.feature_shape.size()) {
      return Error{ErrorCode::kInternal, "fake: unexpected tensor"};
    }
    auto* out = static_cast<uint8_t*>(feature.data);
    const size_t row = static_cast<size_t>(image.width) * 3;
    for (int y = 0; y < image.height; ++y, out += row) std::memcpy(out, image.row(y), row);
    return Ok{};
  }

  Result<std::vector<NamedTensor>> Aux(const ItemPlan&) const override {
    return std::vector<NamedTensor>();
  }

  Result<TokenLayout> Layout(Span<const int64_t> input_ids,
                             Span<const ItemPlan> items) const override {
    std::vector<uint64_t> counts;
    for (const ItemPlan& item : items) counts.push_back(item.tokens);
    return LayoutByPlaceholder(input_ids, kPlaceholder, counts);
  }
};

}  // namespace mmcpp::test
