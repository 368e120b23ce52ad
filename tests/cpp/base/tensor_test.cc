// Buffer and Tensor: alignment, sizes that overflow, hand-over without a copy.
#include "mmcpp/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace mmcpp {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(Tensor, BuffersAreAlignedAndMove) {
  for (size_t size : {1, 63, 64, 65, 100'000}) {
    auto buffer = Buffer::Allocate(size);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % Buffer::kAlignment, 0u);
    EXPECT_EQ(buffer->size(), size);
    const uint8_t* data = buffer->data();
    Buffer moved = *std::move(buffer);
    EXPECT_EQ(moved.data(), data);
    EXPECT_EQ(buffer->size(), 0u);  // NOLINT(bugprone-use-after-move): what is left is defined
    moved.Truncate(size + 1);
    EXPECT_EQ(moved.size(), size);
    moved.Truncate(size / 2);
    EXPECT_EQ(moved.size(), size / 2);
    EXPECT_EQ(moved.data(), data);
  }
  EXPECT_EQ(Buffer::Allocate(0)->data(), nullptr);
}

TEST(Tensor, WhatNoMemoryHoldsIsAnError) {
  EXPECT_EQ(Buffer::Allocate(SIZE_MAX).error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(Tensor::Allocate(DType::kU8, {kHuge}).error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(Tensor::Allocate(DType::kI64, {kHuge}).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(Tensor::Allocate(DType::kU8, {kHuge, 3}).error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(Tensor::Allocate(DType::kU8, {2, -1}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Tensor, ShapesGiveSizes) {
  const std::vector<std::pair<DType, size_t>> sizes = {
      {DType::kU8, 1},  {DType::kBool, 1}, {DType::kF16, 2}, {DType::kBf16, 2},
      {DType::kI32, 4}, {DType::kF32, 4},  {DType::kI64, 8}};
  for (const auto& [dtype, size] : sizes) {
    auto tensor = Tensor::Allocate(dtype, {2, 3, 5});
    ASSERT_TRUE(tensor.ok());
    EXPECT_EQ(DTypeSize(dtype), size) << DTypeName(dtype);
    EXPECT_EQ(tensor->byte_count(), 30 * size);
    EXPECT_EQ(tensor->element_count(), 30u);
    EXPECT_EQ(tensor->dtype(), dtype);
  }
  EXPECT_EQ(Tensor::Allocate(DType::kF32, {})->element_count(), 1u);  // a scalar
  EXPECT_EQ(Tensor::Allocate(DType::kF32, {4, 0, kHuge})->element_count(), 0u);
}

TEST(Tensor, ValuesAreCopiedAndTyped) {
  const std::vector<int64_t> values = {1, -2, 3, 4, 5, 6};
  auto tensor = Tensor::Of<int64_t>(values, {2, 3});
  ASSERT_TRUE(tensor.ok());
  const auto got = std::as_const(*tensor).As<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(got.begin(), got.end()), values);
  EXPECT_TRUE(tensor->As<float>().empty());
  EXPECT_EQ(Tensor::Of<int64_t>(values, {5}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Tensor::Of<float>({}, {0}).ok());
}

TEST(Tensor, ReleaseHandsOverTheSameBytes) {
  auto tensor = Tensor::Allocate(DType::kU8, {7});
  const uint8_t* data = tensor->data();
  EXPECT_EQ(tensor->view().data, data);
  const Buffer buffer = (*std::move(tensor)).Release();
  EXPECT_EQ(buffer.data(), data);
  EXPECT_EQ(buffer.size(), 7u);
}

}  // namespace
}  // namespace mmcpp
