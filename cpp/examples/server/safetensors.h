// Tensors in the format safetensors, written from the memory where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mmcpp/span.h"
#include "mmcpp/tensor.h"

namespace mmcpp::server {

class Safetensors {
 public:
  /// Borrows `data`.
  void Add(std::string name, DType dtype, std::vector<int64_t> shape, const void* data);
  void Add(const std::string& name, const Tensor& tensor) {
    Add(name, tensor.dtype(), tensor.shape(), tensor.data());
  }
  void AddMetadata(const std::string& key, std::string value) { metadata_[key] = std::move(value); }

  /// Writes the header; nothing may be added afterwards.
  void Finish();

  size_t size() const { return size_; }
  /// The bytes from `offset` on that are in one piece.
  Bytes At(size_t offset) const;

 private:
  struct Entry {
    std::string name;
    DType dtype = DType::kU8;
    std::vector<int64_t> shape;
    const uint8_t* data = nullptr;
    size_t bytes = 0, offset = 0;
  };
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
  std::string header_;
  size_t size_ = 0;
};

}  // namespace mmcpp::server
