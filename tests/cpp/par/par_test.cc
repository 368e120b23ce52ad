// The threading seam, under whichever executor this program is linked with: ranges cover, results
// keep their order, the lowest failing index wins, a forked child still works.
#include "par/par.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/ensure.h"

namespace mmcpp::par {

// Only the chaos executor defines it; elsewhere its address is null.
void SetChaosSeed(uint64_t seed) noexcept __attribute__((weak));

namespace {

void ForEachSeed(const std::function<void()>& body) {
  if (SetChaosSeed == nullptr) return body();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SetChaosSeed(seed);
    body();
  }
}

TEST(Par, RangesCoverEachIndexOnce) {
  ForEachSeed([] {
    for (size_t n : {0, 1, 2, 3, 7, 64, 1000}) {
      for (size_t grain : {0, 1, 3, 100, 2000}) {
        std::vector<int> visits(n);
        ForRange(n, grain, [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) ++visits[i];
        });
        EXPECT_EQ(visits, std::vector<int>(n, 1));
      }
    }
  });
}

TEST(Par, NestedLoopsCoverToo) {
  ForEachSeed([] {
    std::vector<int> visits(12 * 30);
    ForRange(12, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        ForRange(30, 1, [&visits, i](size_t first, size_t last) {
          for (size_t j = first; j < last; ++j) ++visits[i * 30 + j];
        });
      }
    });
    EXPECT_EQ(visits, std::vector<int>(12 * 30, 1));
  });
}

TEST(Par, EveryCallTakesAThreadFromTheLoops) {
  const size_t all = Concurrency();
  const bool shares = std::string(ExecutorName()) == "tbb";
  std::vector<std::unique_ptr<Call>> calls;
  for (size_t i = 0; i < all + 2; ++i) {
    calls.push_back(std::make_unique<Call>());
    EXPECT_EQ(Concurrency(), shares ? std::max<size_t>(all - std::min(i, all - 1), 1) : all);
  }
  if (SetChaosSeed == nullptr) {
    int ranges = 0;  // no atomic: this thread is the only one
    ForRange(1000, 1, [&ranges](size_t, size_t) { ++ranges; });
    EXPECT_EQ(ranges, 1);
  }
  calls.clear();
  EXPECT_EQ(Concurrency(), all);
}

TEST(Par, MapKeepsOrder) {
  ForEachSeed([] {
    auto squares = TryMap<size_t>(100, [](size_t i) -> Result<size_t> { return i * i; });
    ASSERT_TRUE(squares.ok());
    ASSERT_EQ(squares->size(), 100u);
    for (size_t i = 0; i < 100; ++i) EXPECT_EQ((*squares)[i], i * i);
  });
}

TEST(Par, RangesThatFailGiveTheLowestError) {
  ForEachSeed([] {
    std::atomic<size_t> seen{0};
    const auto status = TryRanges(100, 1, [&](size_t begin, size_t end) -> Status {
      seen += end - begin;
      if (begin <= 60 && 60 < end) return InvalidArgument("60");
      if (begin <= 90 && 90 < end) return InvalidArgument("90");
      return Ok{};
    });
    EXPECT_EQ(seen, 100u);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "60");
    const auto oom = TryRanges(9, 1, [](size_t, size_t) -> Status { throw std::bad_alloc(); });
    ASSERT_FALSE(oom.ok());
    EXPECT_EQ(oom.error().code, ErrorCode::kOutOfMemory);
    EXPECT_TRUE(TryRanges(9, 2, [](size_t, size_t) -> Status { return Ok{}; }).ok());
  });
}

TEST(Par, LowestFailingIndexWinsAndEveryIndexRuns) {
  ForEachSeed([] {
    std::atomic<int> runs{0};
    const auto result = TryMap<int>(50, [&](size_t i) -> Result<int> {
      ++runs;
      if (i % 10 == 7) return InvalidArgument("item " + std::to_string(i));
      return 0;
    });
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, "item 7");
    EXPECT_EQ(runs, 50);
  });
}

TEST(Par, AChildAfterForkRuns) {
  const auto sum = [] {
    std::vector<size_t> values(1000);
    ForRange(values.size(), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) values[i] = i;
    });
    return std::accumulate(values.begin(), values.end(), size_t{0});
  };
  ASSERT_EQ(sum(), 499'500u);  // the executor's threads, if it has any, are there now
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(sum() == 499'500u ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Par, ChaosIsDisorder) {
  if (SetChaosSeed == nullptr) GTEST_SKIP() << "another executor";
  SetChaosSeed(0);
  std::vector<size_t> begins;
  ForRange(100, 1, [&](size_t begin, size_t) { begins.push_back(begin); });
  EXPECT_GT(begins.size(), 2u);
  EXPECT_TRUE(std::is_sorted(begins.begin(), begins.end()));
  std::atomic<bool> disordered{false};
  for (uint64_t seed = 1; seed < 10; ++seed) {
    SetChaosSeed(seed);
    std::atomic<size_t> last{0};
    ForRange(100, 1, [&](size_t begin, size_t) {
      if (last.exchange(begin) > begin) disordered = true;
    });
  }
  EXPECT_TRUE(disordered);
}

}  // namespace
}  // namespace mmcpp::par
