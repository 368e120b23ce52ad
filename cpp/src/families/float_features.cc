// Floats on their way into a feature.
#include "families/float_features.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/ensure.h"
#include "base/half.h"

namespace mmcpp::families {

Status CheckFloatFeature(const ItemPlan& plan, const TensorView& feature) {
  if (feature.dtype == DType::kU8) {
    return Unsupported(
        "feature: no uint8: pixels that are resampled in float are no whole numbers");
  }
  if (feature.dtype != DType::kF32 && feature.dtype != DType::kBf16 &&
      feature.dtype != DType::kF16) {
    return InvalidArgument(std::string("feature: no ") + DTypeName(feature.dtype) +
                           "; float32, bfloat16 and float16 there are");
  }
  const auto& shape = plan.feature_shape;
  if (!std::equal(shape.begin(), shape.end(), feature.shape.begin(), feature.shape.end())) {
    return InvalidArgument("feature: the output has not the shape that was planned");
  }
  if (reinterpret_cast<uintptr_t>(feature.data) % DTypeSize(feature.dtype) != 0) {
    return InvalidArgument("feature: the output is not aligned to its elements");
  }
  return Ok{};
}

void StoreElements(const float* values, size_t n, const TensorView& feature, size_t first) {
  if (feature.dtype == DType::kF32) {
    std::memcpy(static_cast<float*>(feature.data) + first, values, n * sizeof(float));
    return;
  }
  uint16_t* out = static_cast<uint16_t*>(feature.data) + first;
  for (size_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint16_t>(ElementBits(values[i], feature.dtype));
  }
}

}  // namespace mmcpp::families
