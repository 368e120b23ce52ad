// Which freed blocks wait, which are given out again, and that all of this is nobody's business.
#include "base/block_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "mmcpp/tensor.h"

namespace mmcpp {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(AllocateBlock, AlignsAndFails) {
  for (const size_t size : {size_t{1}, kMiB, 4 * kMiB, 9 * kMiB + 5}) {
    const Block block = AllocateBlock(size);
    ASSERT_NE(block.data, nullptr);
    EXPECT_EQ(block.capacity, size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % Buffer::kAlignment, 0u);
    std::memset(block.data, 0xab, size);
    FreeBlock(block);
  }
  EXPECT_EQ(AllocateBlock(SIZE_MAX).data, nullptr);
  EXPECT_EQ(AllocateBlock(SIZE_MAX / 2).data, nullptr);
}

TEST(BlockPool, GivesTheSmallestBlockThatFits) {
  BlockPool pool(64 * kMiB);
  EXPECT_EQ(pool.Take(5 * kMiB).data, nullptr);
  const Block small = AllocateBlock(8 * kMiB), large = AllocateBlock(9 * kMiB);
  pool.Put(large);
  pool.Put(small);
  EXPECT_EQ(pool.Take(9 * kMiB + 1).data, nullptr);
  EXPECT_EQ(pool.Take(7 * kMiB).data, nullptr) << "more than an eighth too large";
  const Block taken = pool.Take(8 * kMiB - 1);
  EXPECT_EQ(taken.data, small.data);
  EXPECT_EQ(taken.capacity, 8 * kMiB);
  EXPECT_EQ(pool.Take(8 * kMiB).data, large.data);
  EXPECT_EQ(pool.Take(8 * kMiB).data, nullptr) << "each is given once";
  std::memset(large.data, 0xab, large.capacity);
  FreeBlock(small);
  FreeBlock(large);
}

TEST(BlockPool, KeepsTheLatestUpToItsSum) {
  BlockPool pool(24 * kMiB);
  const Block a = AllocateBlock(8 * kMiB), b = AllocateBlock(10 * kMiB),
              c = AllocateBlock(12 * kMiB);
  pool.Put(a);
  pool.Put(b);
  pool.Put(c);  // a goes
  EXPECT_EQ(pool.Take(8 * kMiB).data, nullptr);
  pool.Put(AllocateBlock(25 * kMiB));  // never stays
  pool.Put(AllocateBlock(4 * kMiB - 1));
  EXPECT_EQ(pool.Take(4 * kMiB - 1).data, nullptr) << "too small to wait";
  EXPECT_EQ(pool.Take(10 * kMiB).data, b.data);
  EXPECT_EQ(pool.Take(12 * kMiB).data, c.data);
  FreeBlock(b);
  FreeBlock(c);
}

TEST(BlockPool, OfEqualBlocksTheLatestIsUsed) {
  BlockPool pool(64 * kMiB);
  const Block first = AllocateBlock(8 * kMiB), second = AllocateBlock(8 * kMiB);
  pool.Put(first);
  pool.Put(second);
  EXPECT_EQ(pool.Take(8 * kMiB).data, second.data);
  EXPECT_EQ(pool.Take(8 * kMiB).data, first.data);
  FreeBlock(first);
  FreeBlock(second);
}

// What a peak left over goes, and what is in use stays.
TEST(BlockPool, FreesWhatWaitedLong) {
  BlockPool pool(64 * kMiB);
  const BlockPool::Clock::time_point start;
  const auto after = [&start](int tenths) { return start + tenths * BlockPool::kLongestWait / 10; };
  const Block used = AllocateBlock(8 * kMiB);
  pool.Put(AllocateBlock(8 * kMiB), start);
  pool.Put(AllocateBlock(6 * kMiB), after(1));
  pool.Put(used, after(2));
  for (int tenth = 2; tenth < 10; ++tenth) {
    ASSERT_EQ(pool.Take(8 * kMiB, after(tenth)).data, used.data);
    pool.Put(used, after(tenth));
  }
  ASSERT_EQ(pool.Take(8 * kMiB, after(10)).data, used.data);  // frees the first
  EXPECT_EQ(pool.Take(8 * kMiB, after(10)).data, nullptr);
  pool.Put(used, after(11));  // frees the second
  EXPECT_EQ(pool.Take(6 * kMiB, after(11)).data, nullptr);
  EXPECT_EQ(pool.Clear(), 8 * kMiB);
}

TEST(BlockPool, ClearsOnRequest) {
  BlockPool pool(64 * kMiB);
  pool.Put(AllocateBlock(8 * kMiB));
  pool.Put(AllocateBlock(5 * kMiB));
  EXPECT_EQ(pool.Clear(), 13 * kMiB);
  EXPECT_EQ(pool.Clear(), 0u);
  EXPECT_EQ(pool.Take(8 * kMiB).data, nullptr);
  { const auto buffer = Buffer::Allocate(7 * kMiB); }
  EXPECT_GE(FreeWaitingBuffers(), 7 * kMiB);
  EXPECT_EQ(FreeWaitingBuffers(), 0u);
}

TEST(BlockPool, ServesBuffersFromAnyThread) {
  std::vector<std::thread> threads;
  for (uint8_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (size_t round = 0; round < 20; ++round) {
        auto buffer = Buffer::Allocate(4 * kMiB + round % 3 * kMiB);
        ASSERT_TRUE(buffer.ok());
        for (size_t i = 0; i < buffer->size(); i += 4096) buffer->data()[i] = t;
        for (size_t i = 0; i < buffer->size(); i += 4096) ASSERT_EQ(buffer->data()[i], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BlockPool, ATruncatedBufferComesBackWhole) {
  const uint8_t* data = nullptr;
  {
    auto buffer = Buffer::Allocate(33 * kMiB + 77);
    ASSERT_TRUE(buffer.ok());
    data = buffer->data();
    buffer->Truncate(1);
  }
  const auto again = Buffer::Allocate(33 * kMiB + 77);
  EXPECT_EQ(again->data(), data);
}

}  // namespace
}  // namespace mmcpp
