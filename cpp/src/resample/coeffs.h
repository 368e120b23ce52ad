// Filter windows of one axis in fixed point, as each convention computes them.
#pragma once

#include <cstdint>
#include <vector>

#include "mmcpp/resize.h"
#include "mmcpp/status.h"
#include "simd/kernels.h"

namespace mmcpp::resample {

/// The windows and weights of one axis; simd::ResampleAxis says what they mean.
struct AxisWeights {
  int32_t in_size = 0;
  int32_t out_size = 0;
  int32_t precision = 0;
  int32_t max_count = 0;
  size_t stride = 0;
  std::vector<int32_t> first, count, weights;

  /// A view without packed weights; valid as long as this object is not moved from.
  simd::ResampleAxis View() const;
};

/// The convention must have the filter and sizes must be positive. kLimitExceeded for a table of
/// more than 2^28 weights, where Pillow gives MemoryError.
Result<AxisWeights> MakeAxisWeights(int in_size, int out_size, Filter filter,
                                    Convention convention);

}  // namespace mmcpp::resample
