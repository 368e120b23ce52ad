// Format: header's length (u64, little-endian), header (JSON), then the tensors' bytes without
// gaps.
#include "safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace mmcpp::server {
namespace {

const char* TypeName(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return "U8";
    case DType::kI32:
      return "I32";
    case DType::kI64:
      return "I64";
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBf16:
      return "BF16";
    case DType::kBool:
      break;
  }
  return "BOOL";
}

}  // namespace

void Safetensors::Add(std::string name, DType dtype, std::vector<int64_t> shape, const void* data) {
  Entry entry;
  entry.name = std::move(name);
  entry.dtype = dtype;
  entry.shape = std::move(shape);
  entry.data = static_cast<const uint8_t*>(data);
  entry.bytes = DTypeSize(dtype);
  for (const int64_t side : entry.shape) entry.bytes *= static_cast<size_t>(side);
  entries_.push_back(std::move(entry));
}

void Safetensors::Finish() {
  // Large elements first, so that all are aligned.
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return DTypeSize(a.dtype) > DTypeSize(b.dtype);
  });
  nlohmann::json header = nlohmann::json::object();
  header["__metadata__"] = metadata_;
  size_t offset = 0;
  for (const Entry& entry : entries_) {
    header[entry.name] = {{"dtype", TypeName(entry.dtype)},
                          {"shape", entry.shape},
                          {"data_offsets", {offset, offset + entry.bytes}}};
    offset += entry.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  header_.clear();
  for (int shift = 0; shift < 64; shift += 8) {
    header_ += static_cast<char>(static_cast<uint64_t>(text.size()) >> shift & 255);
  }
  header_ += text;
  size_ = header_.size();
  for (Entry& entry : entries_) {
    entry.offset = size_;
    size_ += entry.bytes;
  }
}

Bytes Safetensors::At(size_t offset) const {
  if (offset < header_.size()) {
    return {reinterpret_cast<const uint8_t*>(header_.data()) + offset, header_.size() - offset};
  }
  for (const Entry& entry : entries_) {
    if (offset < entry.offset + entry.bytes) {
      const size_t skip = offset - entry.offset;
      return {entry.data + skip, entry.bytes - skip};
    }
  }
  return {};
}

}  // namespace mmcpp::server
