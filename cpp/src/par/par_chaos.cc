// The executor of tests: uneven ranges in a seeded, shuffled order on real threads, to expose code
// whose outcome depends on order or on who else runs.
#include "par/par_chaos.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "par/par.h"

namespace mmcpp::par {
namespace {

constexpr int kThreads = 3;
std::atomic<uint64_t> g_seed{1};
std::atomic<uint64_t> g_calls{0};
thread_local bool t_inside = false;  // a nested loop runs on its caller: no explosion of threads

}  // namespace

void SetChaosSeed(uint64_t seed) noexcept {
  g_seed = seed;
  g_calls = 0;
}

void ForRange(size_t n, size_t /*grain*/, RangeFn body) {
  if (n == 0) return;
  const uint64_t seed = g_seed;
  std::mt19937_64 random(seed * 1'000'003 + g_calls++);
  std::vector<std::pair<size_t, size_t>> ranges;
  for (size_t begin = 0; begin < n;) {
    const size_t count = 1 + random() % (n / 3 + 1);
    const size_t end = std::min(n, begin + count);
    ranges.emplace_back(begin, end);
    begin = end;
  }
  if (seed != 0) std::shuffle(ranges.begin(), ranges.end(), random);
  if (seed == 0 || t_inside) {
    for (const auto& [begin, end] : ranges) body(begin, end);
    return;
  }
  std::atomic<size_t> next{0};
  const auto work = [&] {
    t_inside = true;
    for (size_t i = next++; i < ranges.size(); i = next++) body(ranges[i].first, ranges[i].second);
    t_inside = false;
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < kThreads; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

size_t Concurrency() noexcept { return kThreads; }

Call::Call() noexcept = default;
Call::~Call() {}  // NOLINT(performance-trivially-destructible): not under every executor

const char* ExecutorName() noexcept { return "chaos"; }

}  // namespace mmcpp::par
