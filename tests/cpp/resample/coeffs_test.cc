// Filter windows: what the kernels rely on holds for every filter and many sizes, and hand-made
// cases have the weights that the filters' formulas give.
#include "resample/coeffs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <numeric>

namespace mmcpp::resample {
namespace {

constexpr Filter kAllFilters[] = {Filter::kBox, Filter::kBilinear, Filter::kHamming,
                                  Filter::kBicubic, Filter::kLanczos};

std::vector<int32_t> WeightsOf(const AxisWeights& axis, size_t i) {
  const int32_t* weights = axis.weights.data() + i * axis.stride;
  return {weights, weights + axis.count[i]};
}

// The promises of simd::ResampleAxis: windows inside the input and ascending, weights within
// kMaxWeight, sums that a pixel of 255 cannot carry out of int32.
void CheckPromises(const AxisWeights& axis) {
  int32_t most = 0;
  for (size_t i = 0; i < axis.first.size(); ++i) {
    ASSERT_GE(axis.first[i], i == 0 ? 0 : axis.first[i - 1]);
    ASSERT_GE(axis.count[i], 1);
    ASSERT_LE(axis.first[i] + axis.count[i], axis.in_size);
    ASSERT_LE(static_cast<size_t>(axis.count[i]), axis.stride);
    most = std::max(most, axis.count[i]);
    int64_t sum = 0;
    for (int32_t weight : WeightsOf(axis, i)) {
      ASSERT_LE(std::abs(weight), simd::kMaxWeight);
      sum += std::abs(weight);
    }
    ASSERT_LT(sum * 255 + (int64_t{1} << (axis.precision - 1)),
              std::numeric_limits<int32_t>::max());
  }
  EXPECT_EQ(most, axis.max_count);
  EXPECT_GE(axis.precision, 1);
  EXPECT_LE(axis.precision, 22);
}

TEST(MakeAxisWeights, KeepsTheKernelsPromises) {
  const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 28, 100, 1000, 3001};
  for (const Convention convention : {Convention::kPillow13, Convention::kAtenU8}) {
    for (const Filter filter : kAllFilters) {
      for (int in : sizes) {
        for (int out : sizes) {
          const auto axis = MakeAxisWeights(in, out, filter, convention);
          ASSERT_TRUE(axis.ok());
          CheckPromises(*axis);
        }
      }
    }
  }
}

TEST(MakeAxisWeights, HalvingWithBoxAveragesPairs) {
  const auto axis = MakeAxisWeights(6, 3, Filter::kBox, Convention::kPillow13);
  ASSERT_TRUE(axis.ok());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(axis->first[i], static_cast<int>(i) * 2);
    EXPECT_EQ(WeightsOf(*axis, i), (std::vector<int32_t>{1 << 21, 1 << 21}));
  }
}

TEST(MakeAxisWeights, DoublingWithBilinear) {
  const auto axis = MakeAxisWeights(2, 4, Filter::kBilinear, Convention::kPillow13);
  ASSERT_TRUE(axis.ok());
  EXPECT_EQ(WeightsOf(*axis, 0), (std::vector<int32_t>{1 << 22}));
  EXPECT_EQ(WeightsOf(*axis, 1), (std::vector<int32_t>{3 << 20, 1 << 20}));
  EXPECT_EQ(WeightsOf(*axis, 2), (std::vector<int32_t>{1 << 20, 3 << 20}));
}

TEST(MakeAxisWeights, AtenPrecisionIsTheMostThatInt16Holds) {
  // A single weight of 1: 2^15 does not fit, 2^14 does.
  const auto identity = MakeAxisWeights(1, 5, Filter::kBicubic, Convention::kAtenU8);
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->precision, 14);
  EXPECT_EQ(WeightsOf(*identity, 0), (std::vector<int32_t>{1 << 14}));
  // Strong reductions have small weights; the precision stops at 22.
  EXPECT_EQ(MakeAxisWeights(4096, 2, Filter::kBicubic, Convention::kAtenU8)->precision, 22);
}

TEST(MakeAxisWeights, HugeTablesAreRefusedBeforeTheyAreMade) {
  const int most = std::numeric_limits<int>::max();
  for (const Filter filter : kAllFilters) {
    for (const auto& [in, out] :
         {std::pair{1, most}, {most, most}, {most, most / 2}, {3, 1 << 28}}) {
      const auto axis = MakeAxisWeights(in, out, filter, Convention::kPillow13);
      ASSERT_FALSE(axis.ok()) << in << " -> " << out;
      EXPECT_EQ(axis.error().code, ErrorCode::kLimitExceeded);
    }
  }
}

}  // namespace
}  // namespace mmcpp::resample
