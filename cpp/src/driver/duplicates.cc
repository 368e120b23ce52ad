// Equal hashes are confirmed byte by byte: the cost is linear in the bytes whatever they hold, and
// a collision that somebody made costs nothing but the saving.
#include "driver/duplicates.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "base/ensure.h"

namespace mmcpp::driver {
namespace {

bool SameBytes(Bytes a, Bytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

bool SamePixels(const ImageView& a, const ImageView& b) {
  if (a.height != b.height || a.width != b.width || a.channels != b.channels) return false;
  const size_t row_bytes = static_cast<size_t>(a.width) * static_cast<size_t>(a.channels);
  for (int y = 0; y < a.height; ++y) {
    if (std::memcmp(a.row(y), b.row(y), row_bytes) != 0) return false;
  }
  return true;
}

bool Same(const MediaSource& a, const MediaSource& b) {
  if (a.index() != b.index()) return false;
  if (const auto* view = std::get_if<ImageView>(&a)) {
    return SamePixels(*view, *std::get_if<ImageView>(&b));
  }
  return SameBytes(*std::get_if<Bytes>(&a), *std::get_if<Bytes>(&b));
}

Result<Tensor> CopyTensor(const Tensor& tensor) {
  MMCPP_ASSIGN(Tensor copy, Tensor::Allocate(tensor.dtype(), tensor.shape()));
  if (tensor.byte_count() > 0) std::memcpy(copy.data(), tensor.data(), tensor.byte_count());
  return copy;
}

}  // namespace

std::vector<size_t> FindDuplicates(Span<const MediaSource> media, Span<const SourceHash> hashes) {
  std::map<uint64_t, size_t> seen;
  std::vector<size_t> first(media.size());
  for (size_t i = 0; i < media.size(); ++i) {
    const size_t earlier = seen.emplace(hashes[i].hash, i).first->second;
    first[i] = Same(media[earlier], media[i]) ? earlier : i;
  }
  return first;
}

Result<OutputItem> CopyItem(const OutputItem& item) {
  OutputItem copy;
  MMCPP_ASSIGN(copy.feature, CopyTensor(item.feature));
  for (const NamedTensor& aux : item.aux) {
    MMCPP_ASSIGN(Tensor tensor, CopyTensor(aux.tensor));
    copy.aux.push_back({aux.name, std::move(tensor)});
  }
  copy.plan = item.plan;
  copy.content_hash = item.content_hash;
  copy.info = item.info;
  copy.encoded = item.encoded;
  return copy;
}

}  // namespace mmcpp::driver
