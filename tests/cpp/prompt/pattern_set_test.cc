// prompt/pattern_set.cc: what the automaton reports at each position equals a direct comparison of
// every pattern there, for nested, overlapping and repeated patterns.
#include "prompt/pattern_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace mmcpp::prompt {
namespace {

using Ids = std::vector<int64_t>;

bool StandsAt(const Ids& prompt, const Ids& pattern, size_t at) {
  return pattern.size() <= prompt.size() - at &&
         std::equal(pattern.begin(), pattern.end(), prompt.begin() + static_cast<int64_t>(at));
}

void ExpectEqualsDirectSearch(const Ids& prompt, const std::vector<Ids>& patterns) {
  PatternSet set;
  for (size_t p = 0; p < patterns.size(); ++p) {
    auto number = set.Add(patterns[p]);
    ASSERT_TRUE(number.ok());
    ASSERT_EQ(*number, static_cast<int32_t>(p));
  }
  set.Build();
  const auto states = set.Scan(prompt);
  std::vector<size_t> last(patterns.size(), kNoPosition);
  for (size_t at = 0; at < prompt.size(); ++at) {
    std::vector<int32_t> expected;
    for (size_t p = 0; p < patterns.size(); ++p) {
      if (!StandsAt(prompt, patterns[p], at)) continue;
      expected.push_back(static_cast<int32_t>(p));
      last[p] = at;
    }
    std::sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) {
      return patterns[static_cast<size_t>(a)].size() > patterns[static_cast<size_t>(b)].size();
    });
    std::vector<int32_t> found;
    for (int32_t p = set.Longest(states[at]); p != PatternSet::kNone; p = set.NextShorter(p)) {
      found.push_back(p);
    }
    ASSERT_EQ(found, expected) << "at " << at;
  }
  EXPECT_EQ(set.LastStarts(states), last);
}

TEST(PatternSet, NestedRuns) {
  ExpectEqualsDirectSearch({1, 1, 1, 1, 2, 1, 1}, {{1}, {1, 1}, {1, 1, 1}, {1, 2}, {2, 1}});
}

TEST(PatternSet, RandomPatternsOfFewSymbols) {
  std::mt19937 rng(7);
  for (int round = 0; round < 500; ++round) {
    const int64_t alphabet = 1 + static_cast<int64_t>(rng() % 3);
    const auto draw = [&](size_t size) {
      Ids ids(size);
      for (int64_t& id : ids) id = static_cast<int64_t>(rng() % static_cast<uint64_t>(alphabet));
      return ids;
    };
    std::vector<Ids> patterns;
    for (size_t p = rng() % 6; p-- > 0;) {
      const Ids pattern = draw(1 + rng() % 5);
      if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) {
        patterns.push_back(pattern);
      }
    }
    ExpectEqualsDirectSearch(draw(rng() % 40), patterns);
  }
}

TEST(PatternSet, EqualPatternsHaveOneNumber) {
  PatternSet set;
  EXPECT_EQ(*set.Add(Ids{5, 6}), 0);
  EXPECT_EQ(*set.Add(Ids{6}), 1);
  EXPECT_EQ(*set.Add(Ids{5, 6}), 0);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(set.length(0), 2u);
}

TEST(PatternSet, EmptyPatternIsRefused) {
  PatternSet set;
  const auto number = set.Add(Ids{});
  ASSERT_FALSE(number.ok());
  EXPECT_EQ(number.error().code, ErrorCode::kInvalidArgument);
}

TEST(PatternSet, NoPatterns) { ExpectEqualsDirectSearch({1, 2, 3}, {}); }

}  // namespace
}  // namespace mmcpp::prompt
