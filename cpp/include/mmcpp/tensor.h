// The carriers of results: aligned bytes, and dense row-major tensors over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mmcpp/export.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp {

enum class DType : uint8_t { kU8, kI32, kI64, kF32, kF16, kBf16, kBool };

/// Bytes of one element.
MMCPP_EXPORT size_t DTypeSize(DType dtype) noexcept;
/// "uint8", "int32", "int64", "float32", "float16", "bfloat16", "bool".
MMCPP_EXPORT const char* DTypeName(DType dtype) noexcept;

/// The C++ element type of a DType, for typed access; f16 and bf16 are raw uint16_t bits and have
/// none.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType kValue = DType::kU8;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType kValue = DType::kI32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType kValue = DType::kI64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType kValue = DType::kF32;
};

/// Owned bytes: aligned to kAlignment, uninitialised, move-only. Freed buffers of 4 MiB and more
/// wait for the next of their size: the latest of them, 128 MiB in all, and on Linux as pages that
/// the system takes back when it runs short. One that has waited for a second is freed when
/// another is allocated or freed; FreeWaitingBuffers frees all.
class MMCPP_EXPORT Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// `size` uninitialised bytes; kOutOfMemory if the system has none.
  static Result<Buffer> Allocate(size_t size);

  /// Keeps the first `size` bytes, at most size(); the memory stays as it is.
  void Truncate(size_t size) noexcept {
    if (size < size_) size_ = size;
  }

  uint8_t* data() noexcept { return data_; }
  const uint8_t* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// Frees the memory that waits for its next use, as a server may when it has nothing to do; how
/// many bytes it was. Thread-safe.
MMCPP_EXPORT size_t FreeWaitingBuffers() noexcept;

/// A borrowed, writable, dense tensor: where a caller wants a result written.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Span<const int64_t> shape;
};

/// An owned, dense, row-major tensor; 64-byte aligned, move-only.
class MMCPP_EXPORT Tensor {
 public:
  Tensor() = default;

  /// An uninitialised tensor. kInvalidArgument for a negative side, kLimitExceeded when the byte
  /// count overflows size_t, kOutOfMemory when the system has none.
  static Result<Tensor> Allocate(DType dtype, std::vector<int64_t> shape);

  /// A copy of `values` with the given shape; kInvalidArgument unless the counts agree.
  template <class T>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): moved from, unseen in a template
  static Result<Tensor> Of(Span<const T> values, std::vector<int64_t> shape) {
    return CopyOf(DTypeOf<T>::kValue, values.data(), values.size(), std::move(shape));
  }

  DType dtype() const noexcept { return dtype_; }
  const std::vector<int64_t>& shape() const noexcept { return shape_; }
  size_t element_count() const noexcept { return buffer_.size() / DTypeSize(dtype_); }
  size_t byte_count() const noexcept { return buffer_.size(); }
  uint8_t* data() noexcept { return buffer_.data(); }
  const uint8_t* data() const noexcept { return buffer_.data(); }

  /// Typed access; an empty span if T is not this tensor's element type.
  template <class T>
  Span<const T> As() const noexcept {
    if (dtype_ != DTypeOf<T>::kValue) return {};
    return {reinterpret_cast<const T*>(buffer_.data()), element_count()};
  }
  template <class T>
  Span<T> As() noexcept {
    if (dtype_ != DTypeOf<T>::kValue) return {};
    return {reinterpret_cast<T*>(buffer_.data()), element_count()};
  }

  TensorView view() noexcept { return {buffer_.data(), dtype_, shape_}; }

  /// Gives up the bytes, for a hand-over without a copy (numpy capsule, shared memory).
  Buffer Release() && { return std::move(buffer_); }

 private:
  static Result<Tensor> CopyOf(DType dtype, const void* data, size_t count,
                               std::vector<int64_t> shape);

  DType dtype_ = DType::kF32;
  std::vector<int64_t> shape_;
  Buffer buffer_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace mmcpp
