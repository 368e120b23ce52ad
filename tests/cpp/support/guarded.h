// Bytes that end where a page ends, with an unreadable page behind: a read or write past the end
// is a crash, in release builds too.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace mmcpp::test {

class Guarded {
 public:
  static constexpr uint8_t kMark = 0xa5;  // of the bytes before

  explicit Guarded(const std::vector<uint8_t>& bytes) : size_(bytes.size()) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (size_ + kMargin + page - 1) / page * page + page;
    map_ = static_cast<uint8_t*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED) std::abort();
    mprotect(map_ + mapped_ - page, page, PROT_NONE);
    data_ = map_ + mapped_ - page - size_;
    std::memset(map_, kMark, static_cast<size_t>(data_ - map_));
    if (size_ > 0) std::memcpy(data_, bytes.data(), size_);
  }
  ~Guarded() {
    if (map_ != nullptr) munmap(map_, mapped_);
  }
  Guarded(Guarded&& other) noexcept
      : map_(std::exchange(other.map_, nullptr)),
        data_(other.data_),
        size_(other.size_),
        mapped_(other.mapped_) {}
  Guarded& operator=(Guarded&&) = delete;

  uint8_t* data() { return data_; }
  size_t size() const { return size_; }
  /// Whether nothing was written before the first byte (of what is in the same page).
  bool Intact() const {
    for (const uint8_t* p = map_; p < data_; ++p) {
      if (*p != kMark) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 64;
  uint8_t* map_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;
};

}  // namespace mmcpp::test
