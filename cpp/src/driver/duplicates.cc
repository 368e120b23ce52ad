// Only sources of the same kind and size are hashed, each once, so that the cost stays linear in
// the bytes whatever they hold; equal hashes are confirmed byte by byte.
#include "driver/duplicates.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "base/ensure.h"
#include "mmcpp/hash.h"

namespace mmcpp::driver {
namespace {

/// Kind, then bytes, or height and width.
using Shape = std::tuple<bool, size_t, int>;

Shape ShapeOf(const MediaSource& source) {
  if (const auto* view = std::get_if<ImageView>(&source)) {
    return {false, static_cast<size_t>(view->height), view->width};
  }
  return {true, std::get_if<Bytes>(&source)->size(), 0};
}

uint64_t HashOf(const MediaSource& source) {
  if (const auto* view = std::get_if<ImageView>(&source)) return PixelHash(*view);
  return ContentHash(*std::get_if<Bytes>(&source));
}

/// Of sources of one shape.
bool SameBytes(const MediaSource& a, const MediaSource& b) {
  const auto* view = std::get_if<ImageView>(&a);
  if (view == nullptr) {
    const Bytes &left = *std::get_if<Bytes>(&a), &right = *std::get_if<Bytes>(&b);
    return left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0;
  }
  const ImageView& other = *std::get_if<ImageView>(&b);
  for (int y = 0; y < view->height; ++y) {
    if (std::memcmp(view->row(y), other.row(y), static_cast<size_t>(view->width) * 3) != 0) {
      return false;
    }
  }
  return true;
}

Result<Tensor> CopyTensor(const Tensor& tensor) {
  MMCPP_ASSIGN(Tensor copy, Tensor::Allocate(tensor.dtype(), tensor.shape()));
  if (tensor.byte_count() > 0) std::memcpy(copy.data(), tensor.data(), tensor.byte_count());
  return copy;
}

}  // namespace

std::vector<size_t> FindDuplicates(Span<const MediaSource> media) {
  std::map<Shape, std::vector<size_t>> groups;
  for (size_t i = 0; i < media.size(); ++i) groups[ShapeOf(media[i])].push_back(i);
  std::vector<size_t> first(media.size());
  for (const auto& [shape, members] : groups) {
    std::map<uint64_t, size_t> seen;
    for (const size_t i : members) {
      first[i] = i;
      if (members.size() == 1) continue;
      const size_t earlier = seen.emplace(HashOf(media[i]), i).first->second;
      if (earlier != i && SameBytes(media[earlier], media[i])) first[i] = earlier;
    }
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
