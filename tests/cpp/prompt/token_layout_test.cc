// prompt/token_layout.cc: every rule of the layout, its limits, and the property that an accepted
// layout covers the prompt once with offsets that point at what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "mmcpp/prompt.h"

namespace mmcpp {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

using Ids = std::vector<int64_t>;

TokenLayout Layout(std::vector<Segment> segments) { return TokenLayout{std::move(segments)}; }

Segment Text(size_t begin, size_t end) { return TextRange{begin, end}; }
Segment Repeat(size_t item, int64_t id, uint64_t count) {
  return MediaSegment{item, RepeatPattern{id, count}};
}
Segment Explicit(size_t item, Ids ids, size_t begin, size_t end) {
  return MediaSegment{item, ExplicitPattern{std::move(ids), begin, end}};
}

void ExpectRefused(const Ids& ids, std::vector<Segment> segments, size_t items,
                   const std::string& message) {
  const auto result = ApplyLayout(ids, Layout(std::move(segments)), items, kNoLimit);
  ASSERT_FALSE(result.ok()) << message;
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().message, message);
}

TEST(ApplyLayout, ExpandsTextAndItems) {
  const Ids ids = {5, 9, 6, 9, 7};
  auto result = ApplyLayout(ids,
                            Layout({Text(0, 1), Repeat(1, 9, 3), Text(2, 2), Text(2, 3),
                                    Explicit(0, {1, 2, 3, 4}, 1, 3), Text(4, 5)}),
                            2, kNoLimit);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->input_ids, (Ids{5, 9, 9, 9, 6, 1, 2, 3, 4, 7}));
  ASSERT_EQ(result->offsets.size(), 2u);
  EXPECT_EQ(result->offsets[1].first, 1u);
  EXPECT_EQ(result->offsets[1].last, 3u);
  EXPECT_EQ(result->offsets[0].first, 6u) << "the wrapper is no content";
  EXPECT_EQ(result->offsets[0].last, 7u);
}

// Insertions consume no source token, a longer placeholder several.
TEST(ApplyLayout, SegmentsMayConsumeAnyNumberOfSourceTokens) {
  const Ids ids = {5, 9, 8, 6};
  auto result = ApplyLayout(ids,
                            Layout({MediaSegment{0, RepeatPattern{1, 2}, 0}, Text(0, 1),
                                    MediaSegment{1, RepeatPattern{2, 1}, 2}, Text(3, 4),
                                    MediaSegment{2, RepeatPattern{3, 1}, 0}}),
                            3, kNoLimit);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->input_ids, (Ids{1, 1, 5, 2, 6, 3}));
  ExpectRefused({5}, {MediaSegment{0, RepeatPattern{1, 1}, 2}}, 1,
                "layout: media item 0 has no source placeholder at index 0");
}

TEST(ApplyLayout, TextRanges) {
  const Ids ids = {1, 2, 3};
  ExpectRefused(ids, {Text(0, 4)}, 0, "layout: text range 0..4 out of bounds");
  ExpectRefused(ids, {Text(2, 1)}, 0, "layout: text range 2..1 out of bounds");
  ExpectRefused(ids, {Text(0, 1), Text(2, 3)}, 0,
                "layout: text range 2..3 does not resume at source index 1");
  ExpectRefused(ids, {Text(0, 2), Text(1, 3)}, 0,
                "layout: text range 1..3 does not resume at source index 2");
  ExpectRefused(ids, {Text(0, 2)}, 0, "layout: covers 2 of 3 source token(s)");
}

TEST(ApplyLayout, Items) {
  const Ids ids = {9, 9};
  ExpectRefused({9}, {Repeat(0, 9, 1), Repeat(1, 9, 1)}, 2,
                "layout: media item 1 has no source placeholder at index 1");
  ExpectRefused(ids, {Repeat(0, 9, 0)}, 1, "layout: media item 0 expands to zero tokens");
  ExpectRefused(ids, {Explicit(0, {}, 0, 0)}, 1, "layout: media item 0 expands to zero tokens");
  ExpectRefused(ids, {Repeat(1, 9, 1), Repeat(0, 9, 1)}, 1, "layout: media item 1 out of range");
  ExpectRefused(ids, {Repeat(0, 9, 1), Repeat(0, 9, 1)}, 2, "layout: media item 0 placed twice");
  ExpectRefused(ids, {Repeat(2, 9, 1), Repeat(0, 9, 1)}, 4, "layout: media item 1 not placed");
  ExpectRefused(ids, {Explicit(0, {1, 2}, 1, 1), Text(1, 2)}, 1,
                "layout: media item 0 content range 1..1 outside its 2 token(s)");
  ExpectRefused(ids, {Explicit(0, {1, 2}, 1, 3), Text(1, 2)}, 1,
                "layout: media item 0 content range 1..3 outside its 2 token(s)");
}

TEST(ApplyLayout, ChecksInTheReferencesOrder) {
  // An item that is wrong in every way is first one without a placeholder, then one of no tokens.
  ExpectRefused({}, {Repeat(7, 9, 0)}, 0,
                "layout: media item 7 has no source placeholder at index 0");
  ExpectRefused({9}, {Repeat(7, 9, 0)}, 0, "layout: media item 7 expands to zero tokens");
  ExpectRefused({9}, {Explicit(7, {1}, 5, 6)}, 0, "layout: media item 7 out of range");
}

TEST(ApplyLayout, LimitsBeforeAllocating) {
  const auto expect_limit = [](std::vector<Segment> segments, const Ids& ids, size_t items,
                               uint64_t limit, const std::string& message) {
    const auto result = ApplyLayout(ids, Layout(std::move(segments)), items, limit);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kLimitExceeded);
    EXPECT_EQ(result.error().message, message);
  };
  expect_limit({Text(0, 1), Repeat(0, 9, 10)}, {1, 9}, 1, 10,
               "layout: the prompt expands to 11 tokens, the limit is 10");
  EXPECT_TRUE(ApplyLayout(Ids{1, 9}, Layout({Text(0, 1), Repeat(0, 9, 10)}), 1, 11).ok());
  expect_limit({Repeat(0, 9, uint64_t{1} << 62)}, {9}, 1, 1 << 20,
               "layout: the prompt expands to 4611686018427387904 tokens, the limit is 1048576");
  // Two counts whose sum wraps around 64 bits.
  expect_limit({Repeat(0, 9, kNoLimit), Repeat(1, 9, 3)}, {9, 9}, 2, 100,
               "layout: the prompt expands to 18446744073709551615 tokens, the limit is 100");
  // Without a limit of the caller, offsets set one.
  expect_limit({Repeat(0, 9, (uint64_t{1} << 32) + 1)}, {9}, 1, kNoLimit,
               "layout: the prompt expands to 4294967297 tokens, the limit is 4294967296");
}

TEST(LayoutByPlaceholder, SplitsAtPlaceholders) {
  const auto layout = LayoutByPlaceholder(Ids{9, 1, 2, 9, 9, 3}, 9, std::vector<uint64_t>{1, 2, 3});
  ASSERT_TRUE(layout.ok());
  ASSERT_EQ(layout->segments.size(), 5u) << "no empty text segments";
  const auto prompt = ApplyLayout(Ids{9, 1, 2, 9, 9, 3}, *layout, 3, 100);
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->input_ids, (Ids{9, 1, 2, 9, 9, 9, 9, 9, 3}));
  EXPECT_EQ(prompt->offsets[2].first, 5u);
  EXPECT_EQ(prompt->offsets[2].last, 7u);
}

TEST(LayoutByPlaceholder, CountsMustAgree) {
  const auto check = [](const Ids& ids, size_t items, const std::string& message) {
    const auto layout = LayoutByPlaceholder(ids, 9, std::vector<uint64_t>(items, 1));
    ASSERT_FALSE(layout.ok());
    EXPECT_EQ(layout.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(layout.error().message, message);
  };
  check({1, 2}, 1, "prompt has 0 media placeholder(s) but 1 media item(s)");
  check({9, 9}, 1, "prompt has 2 media placeholder(s) but 1 media item(s)");
  check({9}, 0, "prompt has 1 media placeholder(s) but 0 media item(s)");
}

// A random layout over ids that are their own index; source token values tell where text came from.
struct RandomLayout {
  Ids ids;
  TokenLayout layout;
  std::vector<TokenPattern> patterns;  // by item
};

RandomLayout MakeRandom(std::mt19937* random) {
  const auto pick = [&](size_t n) { return static_cast<size_t>((*random)() % n); };
  const size_t items = pick(5);
  std::vector<size_t> order(items);
  for (size_t i = 0; i < items; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), *random);
  RandomLayout made;
  made.patterns.resize(items);
  const auto text = [&] {
    const size_t begin = made.ids.size();
    for (size_t n = pick(4); n > 0; --n) made.ids.push_back(static_cast<int64_t>(made.ids.size()));
    made.layout.segments.emplace_back(TextRange{begin, made.ids.size()});
  };
  for (size_t item : order) {
    for (size_t n = pick(3); n > 0; --n) text();
    made.ids.push_back(-1);
    const int64_t base = 1000 * (static_cast<int64_t>(item) + 1);
    if (pick(2) == 0) {
      made.patterns[item] = RepeatPattern{base, 1 + pick(6)};
    } else {
      ExplicitPattern pattern;
      for (size_t n = 1 + pick(6); n > 0; --n) {
        pattern.ids.push_back(base + static_cast<int64_t>(pattern.ids.size()));
      }
      pattern.content_begin = pick(pattern.ids.size());
      pattern.content_end =
          pattern.content_begin + 1 + pick(pattern.ids.size() - pattern.content_begin);
      made.patterns[item] = pattern;
    }
    made.layout.segments.emplace_back(MediaSegment{item, made.patterns[item]});
  }
  text();
  return made;
}

Ids ContentOf(const TokenPattern& pattern) {
  if (const auto* repeat = std::get_if<RepeatPattern>(&pattern)) {
    return Ids(static_cast<size_t>(repeat->count), repeat->id);
  }
  const auto& ids = std::get<ExplicitPattern>(pattern);
  return Ids(ids.ids.begin() + static_cast<std::ptrdiff_t>(ids.content_begin),
             ids.ids.begin() + static_cast<std::ptrdiff_t>(ids.content_end));
}

TEST(ApplyLayoutProperty, CoversThePromptOnceAndOffsetsPointAtContent) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const RandomLayout made = MakeRandom(&random);
    const auto prompt = ApplyLayout(made.ids, made.layout, made.patterns.size(), 1000);
    ASSERT_TRUE(prompt.ok()) << prompt.error().message;
    // Text tokens appear once, in order: what is left after taking out the items' tokens.
    Ids text, expected_text;
    for (int64_t id : prompt->input_ids) {
      if (id < 1000) text.push_back(id);
    }
    for (int64_t id : made.ids) {
      if (id >= 0) expected_text.push_back(id);
    }
    ASSERT_EQ(text, expected_text);
    for (size_t item = 0; item < made.patterns.size(); ++item) {
      const TokenRange range = prompt->offsets[item];
      const Ids content(prompt->input_ids.begin() + range.first,
                        prompt->input_ids.begin() + range.last + 1);
      ASSERT_EQ(content, ContentOf(made.patterns[item]));
    }
  }
}

TEST(ApplyLayoutProperty, DamagedLayoutsAreRefusedOrStillComplete) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    RandomLayout made = MakeRandom(&random);
    if (made.layout.segments.empty()) continue;
    const size_t at = random() % made.layout.segments.size();
    made.layout.segments.erase(made.layout.segments.begin() + static_cast<std::ptrdiff_t>(at));
    const auto prompt = ApplyLayout(made.ids, made.layout, made.patterns.size(), 1000);
    // Only an empty text segment can go without being missed.
    const RandomLayout& m = made;
    size_t consumed = 0;
    for (const Segment& segment : m.layout.segments) {
      const auto* text = std::get_if<TextRange>(&segment);
      consumed += text != nullptr ? text->end - text->begin : 1;
    }
    ASSERT_EQ(prompt.ok(), consumed == m.ids.size());
  }
}

TEST(LayoutByPattern, PlacesPatternsInOrder) {
  const Ids ids = {1, 9, 9, 2};
  std::vector<TokenPattern> patterns = {ExplicitPattern{{5, 6, 5}, 1, 2}, RepeatPattern{7, 2}};
  const auto layout = LayoutByPattern(ids, 9, patterns);
  ASSERT_TRUE(layout.ok());
  const auto prompt = ApplyLayout(ids, *layout, 2, 100);
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->input_ids, (Ids{1, 5, 6, 5, 7, 7, 2}));
  patterns.pop_back();
  EXPECT_FALSE(LayoutByPattern(ids, 9, patterns).ok());
}

}  // namespace
}  // namespace mmcpp
