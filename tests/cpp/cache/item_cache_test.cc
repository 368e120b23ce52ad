// cache/item_cache.cc: what is stored, in which order it goes, what is never evicted, and that the
// byte bound holds at every moment under threads.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mmcpp/cache.h"

namespace mmcpp {
namespace {

using std::chrono::milliseconds;
using Names = std::vector<std::string>;

ItemCache::Value Text(const std::string& text) { return std::make_shared<const std::string>(text); }
std::string TextOf(const ItemCache::Value& value) {
  return value == nullptr ? "" : *static_cast<const std::string*>(value.get());
}

std::vector<CacheKey> Keys(const Names& names) {
  std::vector<CacheKey> keys;
  for (const std::string& name : names) keys.push_back({name, ""});
  return keys;
}

CacheSession Open(ItemCache* cache, const Names& names) {
  auto session = cache->Open(Keys(names));
  EXPECT_TRUE(session.ok());
  return *std::move(session);
}

/// A request: makes what it owns, each value of `bytes` bytes; gives the indices it made.
std::vector<size_t> Request(ItemCache* cache, const Names& names, size_t bytes) {
  CacheSession session = Open(cache, names);
  std::vector<size_t> made;
  for (size_t i = 0; i < names.size(); ++i) {
    if (session.state(i) != CacheState::kOwned) continue;
    EXPECT_TRUE(session.Publish(i, Text(names[i]), bytes).ok());
    made.push_back(i);
  }
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(TextOf(session.value(i)), names[i]);
  return made;
}

using Indices = std::vector<size_t>;

TEST(ItemCache, MakesEachValueOnce) {
  ItemCache cache({100, 100});
  EXPECT_EQ(Request(&cache, {"a", "b", "a"}, 10), (Indices{0, 1})) << "a repeats in the request";
  EXPECT_EQ(Request(&cache, {"b", "c"}, 10), (Indices{1}));
  const CacheStats stats = cache.Stats();
  EXPECT_EQ(stats.misses, 3u);
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.repeated, 1u);
  EXPECT_EQ(stats.hit_bytes, 10u);
  EXPECT_EQ(stats.bytes, 30u);
  EXPECT_EQ(stats.entries, 3u);
  EXPECT_EQ(stats.pinned_bytes, 0u);
}

TEST(ItemCache, EvictsTheLeastRecentlyUsed) {
  ItemCache cache({30, 100});
  Request(&cache, {"a", "b", "c"}, 10);
  Request(&cache, {"a"}, 10);
  EXPECT_EQ(cache.KeysByAge(), (Names{"b", "c", "a"}));
  EXPECT_TRUE(cache.Touch("b"));
  EXPECT_FALSE(cache.Touch("x"));
  Request(&cache, {"d"}, 10);
  EXPECT_EQ(cache.KeysByAge(), (Names{"a", "b", "d"}));
  EXPECT_FALSE(cache.Contains("c"));
  EXPECT_EQ(cache.Stats().evicted, 1u);
}

// The reference's caches evict what the same request found a moment before, and then fail.
TEST(ItemCache, NothingThatAnOpenSessionHoldsIsEvicted) {
  ItemCache cache({12, 100});
  Request(&cache, {"h"}, 5);
  CacheSession session = Open(&cache, {"h", "b", "e"});
  EXPECT_EQ(session.state(0), CacheState::kHit);
  ASSERT_TRUE(session.Publish(1, Text("b"), 3).ok());
  ASSERT_TRUE(session.Publish(2, Text("e"), 6).ok());
  EXPECT_EQ(TextOf(session.value(0)), "h");
  EXPECT_EQ(TextOf(session.value(2)), "e") << "the request has it though there was no room";
  EXPECT_FALSE(cache.Contains("e"));
  EXPECT_EQ(cache.Stats().not_stored, 1u);
  EXPECT_EQ(cache.Stats().pinned_bytes, 8u);
  session.Close();
  Request(&cache, {"e"}, 6);
  EXPECT_EQ(cache.KeysByAge(), (Names{"b", "e"}));
}

TEST(ItemCache, ValuesLargerThanTheCachePassThrough) {
  ItemCache cache({10, 100});
  Request(&cache, {"small"}, 4);
  Request(&cache, {"large"}, 11);
  EXPECT_EQ(cache.KeysByAge(), (Names{"small"})) << "nothing was evicted for it";
  ItemCache none({0, 100});
  EXPECT_EQ(Request(&none, {"a"}, 1), (Indices{0}));
  EXPECT_EQ(Request(&none, {"a"}, 1), (Indices{0}));
  EXPECT_EQ(none.Stats().entries, 0u);
}

TEST(ItemCache, EntriesAreBoundedToo) {
  ItemCache cache({100, 2});
  Request(&cache, {"a", "b"}, 0);
  Request(&cache, {"c"}, 0);
  EXPECT_EQ(cache.KeysByAge(), (Names{"b", "c"}));
  EXPECT_EQ(Request(&cache, {"d", "e", "f"}, 0), (Indices{0, 1, 2}));
  EXPECT_EQ(cache.Stats().entries, 2u);
}

TEST(ItemCache, InvalidatedValuesAreMadeAnew) {
  ItemCache cache({100, 100});
  Request(&cache, {"a", "b"}, 10);
  CacheSession holder = Open(&cache, {"a"});
  EXPECT_TRUE(cache.Invalidate("a"));
  EXPECT_FALSE(cache.Invalidate("a"));
  EXPECT_EQ(TextOf(holder.value(0)), "a") << "who holds it keeps it";
  EXPECT_EQ(Request(&cache, {"a"}, 10), (Indices{0}));
  holder.Close();
  EXPECT_EQ(cache.KeysByAge(), (Names{"b", "a"}));
  cache.Clear();
  EXPECT_EQ(cache.Stats().entries, 0u);
  EXPECT_EQ(cache.Stats().bytes, 0u);
  EXPECT_EQ(cache.Stats().invalidated, 3u);
}

TEST(ItemCache, WhatIsBeingMadeWhileItIsInvalidatedIsNotStored) {
  ItemCache cache({100, 100});
  CacheSession maker = Open(&cache, {"a"});
  EXPECT_TRUE(cache.Invalidate("a"));
  CacheSession next = Open(&cache, {"a"});
  EXPECT_EQ(next.state(0), CacheState::kOwned) << "made anew, not waited for";
  ASSERT_TRUE(next.Publish(0, Text("new"), 1).ok());
  ASSERT_TRUE(maker.Publish(0, Text("old"), 1).ok());
  EXPECT_EQ(TextOf(maker.value(0)), "old");
  EXPECT_EQ(TextOf(Open(&cache, {"a"}).value(0)), "new");
}

TEST(ItemCache, AKeyOfOtherContentIsRefused) {
  ItemCache cache({100, 100});
  const auto open = [&](const std::string& content) {
    return cache.Open(std::vector<CacheKey>{{"id", content}});
  };
  auto first = open("10x10");
  ASSERT_TRUE(first.ok());
  const auto meanwhile = open("1000x1000");
  ASSERT_FALSE(meanwhile.ok()) << "while it is being made";
  ASSERT_TRUE(first->Publish(0, Text("v"), 1).ok());
  const auto after = open("1000x1000");
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(after.error().message, "cache: the key \"id\" stands for another content already");
  EXPECT_TRUE(open("10x10").ok());
  EXPECT_TRUE(open("").ok()) << "not checked";
  const auto within = cache.Open(std::vector<CacheKey>{{"x", "1"}, {"x", "2"}});
  EXPECT_FALSE(within.ok());
  EXPECT_EQ(open("10x10")->state(0), CacheState::kHit);
}

TEST(ItemCache, ARefusedRequestHoldsNothing) {
  ItemCache cache({100, 100});
  Request(&cache, {"a"}, 10);
  { ASSERT_TRUE(cache.Open(std::vector<CacheKey>{{"id", "1"}})->Publish(0, Text("v"), 1).ok()); }
  const auto refused = cache.Open(std::vector<CacheKey>{{"a", ""}, {"new", ""}, {"id", "2"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(cache.Stats().pinned_bytes, 0u);
  EXPECT_EQ(Open(&cache, {"new"}).state(0), CacheState::kOwned) << "nobody is making it";
}

TEST(ItemCache, ValuesAreDestroyedOutsideOfTheLock) {
  ItemCache cache({10, 100});
  struct AsksTheCache {
    ItemCache* cache;
    ~AsksTheCache() { (void)cache->Stats(); }  // would wait for itself under the lock
  };
  const auto put = [&](const std::string& key) {
    CacheSession session = Open(&cache, {key});
    ASSERT_TRUE(
        session.Publish(0, std::make_shared<const AsksTheCache>(AsksTheCache{&cache}), 10).ok());
  };
  put("a");
  put("b");  // evicts a
  EXPECT_TRUE(cache.Invalidate("b"));
  put("c");
  cache.Clear();
}

// 16 threads, 10,000 requests over 500 pictures, room for 10: no wrong value, no deadlock, and the
// bound holds whenever it is looked at.
TEST(ItemCache, HoldsUnderThreads) {
  constexpr size_t kBytes = 7;
  ItemCache cache({10 * kBytes, 100});
  std::atomic<int> wrong{0}, over{0}, abandoned{0};
  const auto work = [&](uint32_t seed) {
    std::mt19937 rng(seed);
    for (int round = 0; round < 625; ++round) {
      Names names;
      for (size_t count = 1 + rng() % 4; count-- > 0;) {
        names.push_back(std::to_string(rng() % 2 == 0 ? rng() % 12 : rng() % 500));
      }
      CacheSession session = Open(&cache, names);
      if (rng() % 50 == 0) {
        ++abandoned;  // the request fails: whoever waits makes it
        continue;
      }
      const auto make = [&](size_t i) {
        if (!session.Publish(i, Text(names[i]), kBytes).ok()) ++wrong;
      };
      for (size_t i = 0; i < names.size(); ++i) {
        if (session.state(i) == CacheState::kOwned) make(i);
      }
      for (size_t i = 0; i < names.size(); ++i) {
        const auto state = session.Wait(i, milliseconds(60000));
        if (!state.ok() || *state == CacheState::kPending) {
          ++wrong;
        } else if (*state == CacheState::kOwned) {
          make(session.first(i));
        }
        if (TextOf(session.value(i)) != names[i]) ++wrong;
      }
      const CacheStats stats = cache.Stats();
      if (stats.bytes > 10 * kBytes || stats.pinned_bytes > stats.bytes) ++over;
      if (rng() % 100 == 0) cache.Invalidate(names[0]);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 16; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(over, 0);
  EXPECT_GT(abandoned, 0);
  const CacheStats stats = cache.Stats();
  EXPECT_EQ(stats.pinned_bytes, 0u);
  EXPECT_LE(stats.entries, 10u);
  EXPECT_GT(stats.hits, 0u);
}

}  // namespace
}  // namespace mmcpp
