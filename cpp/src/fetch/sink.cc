// The growing, bounded buffer of a source.
#include "fetch/sink.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/ensure.h"

namespace mmcpp::fetch {

Error SourceTooLarge(uint64_t max_bytes) {
  return LimitExceeded("fetch: more than " + std::to_string(max_bytes) + " bytes");
}

Error BudgetSpent(uint64_t budget_bytes) {
  return LimitExceeded("fetch: the request's sources take more than " +
                       std::to_string(budget_bytes) + " bytes");
}

uint64_t Sink::room() const { return std::min(max_bytes_ - size_, budget_->left()); }

Status Sink::Append(Bytes bytes) {
  if (bytes.size() > max_bytes_ - size_) return SourceTooLarge(max_bytes_);
  if (!budget_->Take(bytes.size())) return BudgetSpent(budget_->size());
  const uint64_t needed = size_ + bytes.size();
  if (needed > buffer_.size()) {
    if (auto grown = Grow(needed); !grown.ok()) {
      budget_->Return(bytes.size());
      return grown;
    }
  }
  if (bytes.size() > 0) std::memcpy(buffer_.data() + size_, bytes.data(), bytes.size());
  size_ = needed;
  return Ok{};
}

Status Sink::Grow(uint64_t needed) {
  // A length that a stranger states is believed once an eighth of it has arrived, so that an empty
  // promise costs nothing; without one, capacity doubles.
  constexpr uint64_t kFirst = uint64_t{256} << 10;
  const bool believed = expected_ >= needed && (expected_ <= kFirst || expected_ / 8 <= needed);
  const uint64_t wanted = believed ? expected_ : std::max(kFirst, needed * 2);
  const uint64_t capacity = std::max(needed, std::min(wanted, max_bytes_));
  MMCPP_ASSIGN(Buffer grown, Buffer::Allocate(capacity));
  if (size_ > 0) std::memcpy(grown.data(), buffer_.data(), size_);
  buffer_ = std::move(grown);
  return Ok{};
}

Buffer Sink::Take() {
  buffer_.Truncate(size_);
  size_ = 0;
  return std::move(buffer_);
}

void Sink::Reset() {
  budget_->Return(size_);
  size_ = 0;
  buffer_ = Buffer();
}

}  // namespace mmcpp::fetch
