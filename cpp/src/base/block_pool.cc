// Large blocks: from the system in huge pages, and kept for a while after use.
#include "base/block_pool.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdint>
#include <new>

#include "mmcpp/tensor.h"

// AddressSanitizer watches the ends of what operator new gives, and not of mappings.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define MMCPP_MAPS_BLOCKS 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef MMCPP_MAPS_BLOCKS
#endif
#endif

namespace mmcpp {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMaxPooledBytes = size_t{128} << 20;

std::align_val_t AlignmentOf(size_t size) {
  return std::align_val_t{size < BlockPool::kSmallest ? Buffer::kAlignment : kHugePage};
}

#if defined(__linux__)
// Whole huge pages only: no more memory is taken than was asked for, and none is split. Advice may
// fail.
void Advise(Block block, int advice) {
  if (block.capacity < BlockPool::kSmallest) return;
  (void)madvise(block.data, block.capacity / kHugePage * kHugePage, advice);
}
#endif

#if defined(MMCPP_MAPS_BLOCKS)
// Not malloc: once it has freed a block, glibc takes those of that size (up to 32 MiB) from heaps,
// which give memory back from their ends alone. Pictures of any size on eight threads held twice as
// much, and more with time.
constexpr size_t kLargestPage = size_t{64} << 10;  // of any system

size_t MappedBytes(size_t size) { return (size + kLargestPage - 1) / kLargestPage * kLargestPage; }

/// Null if there is no memory. Mapped with room for alignment, which is cut off again.
void* Map(size_t size) {
  const size_t bytes = MappedBytes(size);
  void* const mapped =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  uint8_t* const begin = static_cast<uint8_t*>(mapped);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(mapped) % kHugePage) % kHugePage;
  if (before > 0) (void)munmap(begin, before);
  (void)munmap(begin + before + bytes, kHugePage - before);
  return begin + before;
}
#endif

void* NewBlock(size_t size) {
#if defined(MMCPP_MAPS_BLOCKS)
  if (size >= BlockPool::kSmallest) return Map(size);
#endif
  return ::operator new(size, AlignmentOf(size), std::nothrow);
}

}  // namespace

Block AllocateBlock(size_t size) {
  // PTRDIFF_MAX bounds every object; operator new takes no more either.
  if (size > static_cast<size_t>(PTRDIFF_MAX)) return {};
  Block block{NewBlock(size), size};
  if (block.data == nullptr) return {};
#if defined(__linux__)
  Advise(block, MADV_HUGEPAGE);
#endif
  return block;
}

void FreeBlock(Block block) {
#if defined(MMCPP_MAPS_BLOCKS)
  if (block.capacity >= BlockPool::kSmallest) {
    (void)munmap(block.data, MappedBytes(block.capacity));
    return;
  }
#endif
  ::operator delete(block.data, AlignmentOf(block.capacity));
}

BlockPool::BlockPool(size_t max_bytes) : max_bytes_(max_bytes) {
  waiting_.reserve(max_bytes / kSmallest);  // so that Put never allocates
}

BlockPool::~BlockPool() {
  for (const Waiting& waiting : waiting_) FreeBlock(waiting.block);
}

BlockPool& BlockPool::Global() {
  // Never destroyed: buffers may outlive static objects.
  static auto* pool = new BlockPool(kMaxPooledBytes);
  return *pool;
}

void BlockPool::FreeOldest() noexcept {
  const Block block = waiting_.front().block;
  waiting_.erase(waiting_.begin());
  bytes_ -= block.capacity;
  FreeBlock(block);
}

void BlockPool::FreeWhatWaitedLong(Clock::time_point now) noexcept {
  while (!waiting_.empty() && now - waiting_.front().since >= kLongestWait) FreeOldest();
}

Block BlockPool::Take(size_t size, Clock::time_point now) noexcept {
  if (size < kSmallest) return {};
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  size_t best = waiting_.size();
  for (size_t i = 0; i < waiting_.size(); ++i) {
    const size_t capacity = waiting_[i].block.capacity;
    if (capacity < size || capacity - size > size / 8) continue;
    if (best == waiting_.size() || capacity <= waiting_[best].block.capacity) best = i;
  }
  Block block;
  if (best != waiting_.size()) {
    block = waiting_[best].block;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(best));
    bytes_ -= block.capacity;
  }
  FreeWhatWaitedLong(now);
  return block;
}

void BlockPool::Put(Block block, Clock::time_point now) noexcept {
  if (block.capacity < kSmallest || block.capacity > max_bytes_) return FreeBlock(block);
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock) return FreeBlock(block);
  FreeWhatWaitedLong(now);
  while (bytes_ + block.capacity > max_bytes_) FreeOldest();
#if defined(__linux__) && defined(MADV_FREE)
  Advise(block, MADV_FREE);
#endif
  waiting_.push_back({block, now});
  bytes_ += block.capacity;
}

size_t BlockPool::Clear() noexcept {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock) return 0;
  const size_t bytes = bytes_;
  while (!waiting_.empty()) FreeOldest();
  return bytes;
}

}  // namespace mmcpp
