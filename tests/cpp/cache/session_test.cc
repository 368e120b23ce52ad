// cache/session.cc: one maker for one key, waiting for it, taking over from one that gave up, and
// the rule that keeps sessions from waiting in a circle.
#include "cache/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "mmcpp/cache.h"

namespace mmcpp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{60000};

ItemCache::Value Number(int number) { return std::make_shared<const int>(number); }
int NumberOf(const ItemCache::Value& value) {
  return value == nullptr ? -1 : *static_cast<const int*>(value.get());
}
CacheSession Open(ItemCache* cache, const std::vector<std::string>& names) {
  std::vector<CacheKey> keys;
  for (const std::string& name : names) keys.push_back({name, ""});
  return *cache->Open(keys);
}

TEST(CacheSession, SecondRequestWaitsForTheFirst) {
  ItemCache cache({100, 100});
  CacheSession maker = Open(&cache, {"a"});
  CacheSession waiter = Open(&cache, {"a"});
  EXPECT_EQ(maker.state(0), CacheState::kOwned);
  EXPECT_EQ(waiter.state(0), CacheState::kPending);
  EXPECT_EQ(*waiter.Wait(0, milliseconds(1)), CacheState::kPending);
  EXPECT_EQ(waiter.value(0), nullptr);
  std::thread later([&] { ASSERT_TRUE(maker.Publish(0, Number(5), 1).ok()); });
  EXPECT_EQ(*waiter.Wait(0, kLong), CacheState::kHit);
  later.join();
  EXPECT_EQ(NumberOf(waiter.value(0)), 5);
  EXPECT_EQ(waiter.value(0), maker.value(0)) << "one value, not two equal ones";
  EXPECT_EQ(cache.Stats().shared, 1u);
}

TEST(CacheSession, WaitersHaveTheValueThoughThereIsNoRoom) {
  ItemCache cache({0, 100});
  CacheSession maker = Open(&cache, {"a"});
  CacheSession waiter = Open(&cache, {"a"});
  ASSERT_TRUE(maker.Publish(0, Number(5), 1).ok());
  EXPECT_EQ(*waiter.Wait(0, kLong), CacheState::kHit);
  EXPECT_EQ(NumberOf(waiter.value(0)), 5);
}

TEST(CacheSession, OneWaiterTakesOverFromAMakerThatGaveUp) {
  ItemCache cache({100, 100});
  CacheSession maker = Open(&cache, {"a"});
  std::atomic<int> made{0}, received{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, session = std::make_shared<CacheSession>(Open(&cache, {"a"}))] {
      const auto state = session->Wait(0, kLong);
      ASSERT_TRUE(state.ok());
      if (*state == CacheState::kOwned) {
        ++made;
        ASSERT_TRUE(session->Publish(0, Number(7), 1).ok());
      }
      if (NumberOf(session->value(0)) == 7) ++received;
    });
  }
  maker.Close();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(received, 4);
}

// Two requests that own what the other waits for would wait for ever.
TEST(CacheSession, WhatIsOwnedIsPublishedBeforeWaiting) {
  ItemCache cache({100, 100});
  CacheSession one = Open(&cache, {"a"});
  CacheSession two = Open(&cache, {"b", "a"});
  const auto refused = two.Wait(1, kLong);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().message, "cache: item 0 is to be published before waiting for another");
  ASSERT_TRUE(two.Publish(0, Number(1), 1).ok());
  ASSERT_TRUE(one.Publish(0, Number(2), 1).ok());
  EXPECT_EQ(*two.Wait(1, kLong), CacheState::kHit);
}

TEST(CacheSession, RepeatedKeysShareOneSlot) {
  ItemCache cache({100, 100});
  CacheSession session = Open(&cache, {"a", "b", "a"});
  EXPECT_EQ(session.state(2), CacheState::kRepeated);
  EXPECT_EQ(session.first(2), 0u);
  EXPECT_FALSE(session.Publish(2, Number(1), 1).ok()) << "published as its first occurrence";
  ASSERT_TRUE(session.Publish(0, Number(1), 1).ok());
  EXPECT_EQ(NumberOf(session.value(2)), 1);
}

TEST(CacheSession, BadCallsAreRefused) {
  ItemCache cache({100, 100});
  CacheSession session = Open(&cache, {"a"});
  EXPECT_FALSE(session.Publish(1, Number(1), 1).ok());
  EXPECT_FALSE(session.Publish(0, nullptr, 1).ok());
  EXPECT_FALSE(session.Wait(1, kLong).ok());
  ASSERT_TRUE(session.Publish(0, Number(1), 1).ok());
  EXPECT_FALSE(session.Publish(0, Number(1), 1).ok()) << "published before";
  EXPECT_EQ(*session.Wait(0, kLong), CacheState::kHit);
}

TEST(CacheSession, OutlivesItsCache) {
  auto cache = std::make_unique<ItemCache>(CacheOptions{100, 100});
  CacheSession session = Open(cache.get(), {"a"});
  cache.reset();
  ASSERT_TRUE(session.Publish(0, Number(1), 1).ok());
  EXPECT_EQ(NumberOf(session.value(0)), 1);
}

TEST(CacheSession, MovedFromSessionsMayBeDestroyed) {
  ItemCache cache({100, 100});
  CacheSession one = Open(&cache, {"a"});
  CacheSession two = std::move(one);
  one = Open(&cache, {"b"});
  EXPECT_EQ(two.state(0), CacheState::kOwned);
  EXPECT_EQ(one.state(0), CacheState::kOwned);
}

}  // namespace
}  // namespace mmcpp
