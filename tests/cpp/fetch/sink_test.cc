// The sink: exact at its limits, honest to the budget, and not impressed by promises.
#include "fetch/sink.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mmcpp::fetch {
namespace {

std::vector<uint8_t> Noise(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 2654435761u >> 16);
  return bytes;
}

TEST(Sink, KeepsWhatArrives) {
  const std::vector<uint8_t> bytes = Noise(3'000'000);
  for (const uint64_t expected : {uint64_t{0}, uint64_t{10}, uint64_t{3'000'000}, ~uint64_t{0}}) {
    for (const size_t step : {size_t{1000}, size_t{65536}, bytes.size()}) {
      ByteBudget budget(4'000'000);
      Sink sink(3'500'000, &budget);
      sink.Expect(expected);
      for (size_t at = 0; at < bytes.size(); at += step) {
        const size_t count = std::min(step, bytes.size() - at);
        ASSERT_TRUE(sink.Append({bytes.data() + at, count}).ok());
      }
      const Buffer buffer = sink.Take();
      ASSERT_EQ(buffer.size(), bytes.size());
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), buffer.data()));
      EXPECT_EQ(budget.left(), 1'000'000u);
    }
  }
}

TEST(Sink, LimitsAreExact) {
  const std::vector<uint8_t> bytes = Noise(101);
  ByteBudget large(1000), small(60);
  Sink sink(100, &large);
  EXPECT_TRUE(sink.Append({bytes.data(), 100}).ok());
  EXPECT_TRUE(sink.Append({}).ok());
  const auto over = sink.Append({bytes.data(), 1});
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().message, "fetch: more than 100 bytes");
  EXPECT_EQ(over.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(sink.Take().size(), 100u);

  Sink poor(100, &small);
  EXPECT_TRUE(poor.Append({bytes.data(), 60}).ok());
  const auto spent = poor.Append({bytes.data(), 1});
  ASSERT_FALSE(spent.ok());
  EXPECT_EQ(spent.error().message, "fetch: the request's sources take more than 60 bytes");
}

TEST(Sink, WhatIsNotTakenGoesBack) {
  const std::vector<uint8_t> bytes = Noise(50);
  ByteBudget budget(100);
  {
    Sink sink(100, &budget);
    ASSERT_TRUE(sink.Append(bytes).ok());
    EXPECT_EQ(budget.left(), 50u);
    sink.Reset();
    EXPECT_EQ(budget.left(), 100u);
    ASSERT_TRUE(sink.Append(bytes).ok());
  }
  EXPECT_EQ(budget.left(), 100u);
}

TEST(Sink, APromiseAloneTakesNoMemory) {
  // Were the promise believed, the allocation would fail.
  ByteBudget budget(~uint64_t{0});
  Sink sink(~uint64_t{0}, &budget);
  sink.Expect(uint64_t{1} << 60);
  const std::vector<uint8_t> bytes = Noise(10);
  EXPECT_TRUE(sink.Append(bytes).ok());
  EXPECT_EQ(sink.Take().size(), 10u);
}

TEST(ByteBudget, TakesAllOrNothing) {
  ByteBudget budget(10);
  EXPECT_TRUE(budget.Take(4));
  EXPECT_FALSE(budget.Take(7));
  EXPECT_TRUE(budget.Take(6));
  EXPECT_FALSE(budget.Take(1));
  EXPECT_TRUE(budget.Take(0));
  budget.Return(3);
  EXPECT_EQ(budget.left(), 3u);
  EXPECT_EQ(budget.size(), 10u);
}

}  // namespace
}  // namespace mmcpp::fetch
