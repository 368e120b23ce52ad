// The executor of the wheel, over oneTBB; the only file that sees it.
//
// The arena is made at the first fan-out, so importing starts no thread. Its size is MMCPP_THREADS,
// or the smaller of 8 and the processors this process may use. After fork the child has no workers
// and may hang in the scheduler (oneTBB 2021.8: 1 child in 40), so a child runs inline.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "par/par.h"

namespace mmcpp::par {
namespace {

std::atomic<bool> g_forked{false};
std::atomic<int> g_calls{0};

int ThreadCount() {
  // More workers than processors only makes oneTBB print a warning and use fewer.
  const int usable = oneapi::tbb::info::default_concurrency();
  if (const char* text = std::getenv("MMCPP_THREADS")) {
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && count > 0)
      return static_cast<int>(std::min<long>(count, usable));
  }
  return std::min(8, usable);
}

/// How many threads can run at a time, of `wanted`; the caller is one of them. Where the system
/// refuses a thread, for its number or for memory, oneTBB throws, and from a worker ends the
/// process.
int StartableThreads(int wanted) {
  std::mutex mutex;
  std::vector<std::thread> threads;
  {
    const std::lock_guard<std::mutex> none_ends_yet(mutex);
    try {
      while (static_cast<int>(threads.size()) + 1 < wanted) {
        threads.emplace_back([&mutex] { const std::lock_guard<std::mutex> wait(mutex); });
      }
    } catch (const std::exception&) {  // no thread, no memory: as many as there are, then
    }
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(threads.size()) + 1;
}

/// Null where one thread is all there is.
oneapi::tbb::task_arena* MakeArena() noexcept {
  try {
    const int threads = StartableThreads(ThreadCount());
    if (threads <= 1) return nullptr;
    pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_relaxed); });
    auto arena = std::make_unique<oneapi::tbb::task_arena>(threads);
    arena->initialize();
    return arena.release();
  } catch (const std::exception&) {  // no memory for the scheduler
    return nullptr;
  }
}

oneapi::tbb::task_arena* Arena() noexcept {
  // Never destroyed: threads may still be inside when static objects go.
  static auto* const kArena = MakeArena();
  return kArena;
}

}  // namespace

void ForRange(size_t n, size_t grain, RangeFn body) {
  if (n == 0) return;
  if (n <= grain || Concurrency() <= 1) return body(0, n);
  Arena()->execute([&] {
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<size_t>(0, n, std::max<size_t>(grain, 1)),
        [&](const oneapi::tbb::blocked_range<size_t>& range) { body(range.begin(), range.end()); });
  });
}

size_t Concurrency() noexcept {
  if (g_forked.load(std::memory_order_relaxed)) return 1;
  if (Arena() == nullptr) return 1;
  const int others = std::max(g_calls.load(std::memory_order_relaxed) - 1, 0);
  return static_cast<size_t>(std::max(Arena()->max_concurrency() - others, 1));
}

Call::Call() noexcept { g_calls.fetch_add(1, std::memory_order_relaxed); }
Call::~Call() { g_calls.fetch_sub(1, std::memory_order_relaxed); }

const char* ExecutorName() noexcept { return "tbb"; }

}  // namespace mmcpp::par
