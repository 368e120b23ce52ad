// Large blocks of memory that wait for their next use. Fresh pages cost more to get than to fill: a
// picture of 12 megapixels takes a fifth of its decode in page faults.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

namespace mmcpp {

/// Memory from AllocateBlock; null data: none.
struct Block {
  void* data = nullptr;
  size_t capacity = 0;
};

/// Fresh memory; null if the system has none. Large blocks are asked for in huge pages.
Block AllocateBlock(size_t size);
void FreeBlock(Block block);

/// The rule: of freed blocks of 4 MiB and more, the latest stay, up to a fixed sum. Their contents
/// are given up, so that the system takes their pages back, without asking, when it runs short. The
/// latest that fits is the next to be used, so that what a peak left over stays unused; it is freed
/// by the first call that finds it to have waited for kLongestWait, after which fresh pages cost
/// next to nothing. A process under a steady load so holds what that load uses, not what its
/// highest peak did.
class BlockPool {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kSmallest = size_t{4} << 20;
  static constexpr std::chrono::seconds kLongestWait{1};

  explicit BlockPool(size_t max_bytes);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// The process's pool, of at most 128 MiB.
  static BlockPool& Global();

  /// The smallest waiting block that holds `size` bytes and is at most an eighth too large; of
  /// equals the latest; none if there is no such block.
  Block Take(size_t size, Clock::time_point now = Clock::now()) noexcept;
  /// Takes in a block that is no longer used, or frees it.
  void Put(Block block, Clock::time_point now = Clock::now()) noexcept;
  /// Frees all blocks that wait; how many bytes they were.
  size_t Clear() noexcept;

 private:
  struct Waiting {
    Block block;
    Clock::time_point since;
  };

  void FreeOldest() noexcept;
  void FreeWhatWaitedLong(Clock::time_point now) noexcept;

  // Only tried, never waited for: a process may fork while another of its threads holds it.
  std::mutex mutex_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  std::vector<Waiting> waiting_;  // oldest first
};

}  // namespace mmcpp
