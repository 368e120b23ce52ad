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

#include "par/par.h"

namespace mmcpp::par {
namespace {

std::atomic<bool> g_forked{false};

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

oneapi::tbb::task_arena& Arena() {
  // Never destroyed: threads may still be inside when static objects go.
  static auto* arena = [] {
    pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_relaxed); });
    return new oneapi::tbb::task_arena(ThreadCount());
  }();
  return *arena;
}

}  // namespace

void ForRange(size_t n, size_t grain, RangeFn body) {
  if (n == 0) return;
  if (n <= grain || Concurrency() <= 1) return body(0, n);
  Arena().execute([&] {
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<size_t>(0, n, std::max<size_t>(grain, 1)),
        [&](const oneapi::tbb::blocked_range<size_t>& range) { body(range.begin(), range.end()); });
  });
}

size_t Concurrency() noexcept {
  if (g_forked.load(std::memory_order_relaxed)) return 1;
  return static_cast<size_t>(std::max(Arena().max_concurrency(), 1));
}

const char* ExecutorName() noexcept { return "tbb"; }

}  // namespace mmcpp::par
