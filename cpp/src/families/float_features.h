// What families share whose pictures are resampled in float.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mmcpp/family.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp::families {

/// kInvalidArgument unless `feature` has the plan's shape, an element type of floats and their
/// alignment; kUnsupported for u8, which would round what is no whole number.
Status CheckFloatFeature(const ItemPlan& plan, const TensorView& feature);

/// Writes n values as elements [first, first + n) of a checked feature, rounded to nearest even.
void StoreElements(const float* values, size_t n, const TensorView& feature, size_t first);

}  // namespace mmcpp::families
