// Buffer and Tensor: allocation and hand-over.
#include "mmcpp/tensor.h"

#include <cstring>
#include <utility>

#include "base/block_pool.h"
#include "base/checked.h"
#include "base/ensure.h"

namespace mmcpp {

size_t DTypeSize(DType dtype) noexcept {
  switch (dtype) {
    case DType::kU8:
    case DType::kBool:
      return 1;
    case DType::kF16:
    case DType::kBf16:
      return 2;
    case DType::kI32:
    case DType::kF32:
      return 4;
    case DType::kI64:
      return 8;
  }
  return 1;
}

const char* DTypeName(DType dtype) noexcept {
  switch (dtype) {
    case DType::kU8:
      return "uint8";
    case DType::kI32:
      return "int32";
    case DType::kI64:
      return "int64";
    case DType::kF32:
      return "float32";
    case DType::kF16:
      return "float16";
    case DType::kBf16:
      return "bfloat16";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

Buffer::~Buffer() { BlockPool::Global().Put({data_, capacity_}); }

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

size_t FreeWaitingBuffers() noexcept { return BlockPool::Global().Clear(); }

Result<Buffer> Buffer::Allocate(size_t size) {
  Buffer buffer;
  if (size == 0) return buffer;
  Block block = BlockPool::Global().Take(size);
  if (block.data == nullptr) block = AllocateBlock(size);
  if (block.data == nullptr) {
    return Error{ErrorCode::kOutOfMemory,
                 "memory: cannot allocate " + std::to_string(size) + " bytes"};
  }
  buffer.data_ = static_cast<uint8_t*>(block.data);
  buffer.size_ = size;
  buffer.capacity_ = block.capacity;
  return buffer;
}

Result<Tensor> Tensor::Allocate(DType dtype, std::vector<int64_t> shape) {
  size_t bytes = DTypeSize(dtype);
  for (int64_t side : shape) {
    if (side < 0) return InvalidArgument("tensor: negative side " + std::to_string(side));
    if (!CheckedMul(bytes, static_cast<size_t>(side), &bytes)) {
      return Error{ErrorCode::kLimitExceeded, "tensor: byte count overflows"};
    }
  }
  Tensor tensor;
  MMCPP_ASSIGN(tensor.buffer_, Buffer::Allocate(bytes));
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  return tensor;
}

Result<Tensor> Tensor::CopyOf(DType dtype, const void* data, size_t count,
                              std::vector<int64_t> shape) {
  MMCPP_ASSIGN(Tensor tensor, Allocate(dtype, std::move(shape)));
  if (tensor.element_count() != count) {
    return InvalidArgument("tensor: " + std::to_string(count) + " values for a shape of " +
                           std::to_string(tensor.element_count()));
  }
  if (count > 0) std::memcpy(tensor.data(), data, tensor.byte_count());
  return tensor;
}

}  // namespace mmcpp
