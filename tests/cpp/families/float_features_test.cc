// families/float_features.cc: what a feature may be, and its elements.
#include "families/float_features.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/half.h"

namespace mmcpp::families {
namespace {

TEST(FloatFeatures, WhatMayBeWrittenTo) {
  ItemPlan plan;
  plan.feature_shape = {2, 3};
  std::vector<float> memory(8);
  const auto code = [&](DType dtype, const std::vector<int64_t>& shape, size_t offset) {
    const Status status =
        CheckFloatFeature(plan, {reinterpret_cast<uint8_t*>(memory.data()) + offset, dtype, shape});
    return status.ok() ? ErrorCode::kInternal : status.error().code;
  };
  for (const DType dtype : {DType::kF32, DType::kBf16, DType::kF16}) {
    EXPECT_EQ(code(dtype, {2, 3}, 0), ErrorCode::kInternal) << "accepted";
    EXPECT_EQ(code(dtype, {2, 3}, 1), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(dtype, {3, 2}, 0), ErrorCode::kInvalidArgument);
    EXPECT_EQ(code(dtype, {2}, 0), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(code(DType::kU8, {2, 3}, 0), ErrorCode::kUnsupported);
  EXPECT_EQ(code(DType::kI32, {2, 3}, 0), ErrorCode::kInvalidArgument);
}

TEST(FloatFeatures, ElementsAreRounded) {
  const std::vector<float> values = {1.0f, -0.3333333f, 1234.567f};
  const std::vector<int64_t> shape = {4};
  for (const DType dtype : {DType::kBf16, DType::kF16}) {
    std::vector<uint16_t> out(4, 7);
    StoreElements(values.data(), 3, {out.data(), dtype, shape}, 1);
    EXPECT_EQ(out[0], 7);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(out[i + 1], ElementBits(values[i], dtype));
  }
  std::vector<float> out(4, 7);
  StoreElements(values.data(), 3, {out.data(), DType::kF32, shape}, 1);
  EXPECT_EQ(out, (std::vector<float>{7, 1.0f, -0.3333333f, 1234.567f}));
}

}  // namespace
}  // namespace mmcpp::families
