// prompt/mrope.cc: the reference's vectors, a slow second definition on random prompts, and refusal
// of everything that does not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "mmcpp/prompt.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

struct Prompt {
  size_t length = 0;
  std::vector<TokenRange> ranges;
  std::vector<GridThw> grids;
  uint32_t merge = 2;
};

Result<MRope> Positions(const Prompt& prompt) {
  return MropePositions(prompt.length, prompt.ranges, prompt.grids, prompt.merge);
}

std::vector<int64_t> Row(const MRope& mrope, size_t row) {
  const auto values = mrope.position_ids.As<int64_t>();
  const size_t length = values.size() / 3;
  return {values.begin() + row * length, values.begin() + (row + 1) * length};
}

Prompt FromGolden(const nlohmann::json& golden, const char* length_key) {
  Prompt prompt;
  prompt.length = golden.at(length_key);
  prompt.merge = golden.at("merge");
  for (const auto& item : golden.at("items")) {
    prompt.ranges.push_back({item[0], item[1]});
    prompt.grids.push_back({item[2], item[3], item[4]});
  }
  return prompt;
}

TEST(MropePositions, ReferenceRows) {
  int cases = 0;
  for (const auto& golden : test::ReferenceCrate().at("mrope_rows")) {
    const auto result = Positions(FromGolden(golden, "length"));
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->position_ids.shape(), (std::vector<int64_t>{3, golden.at("length")}));
    EXPECT_EQ(result->delta, golden.at("delta").get<int64_t>());
    if (golden.contains("row0")) {
      EXPECT_EQ(Row(*result, 0), golden.at("row0").get<std::vector<int64_t>>());
    } else {
      for (size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(Row(*result, row), golden.at("rows").at(row).get<std::vector<int64_t>>());
      }
    }
    ++cases;
  }
  EXPECT_EQ(cases, 2);
}

TEST(MropePositions, TextAlone) {
  const auto result = Positions({3, {}, {}, 2});
  ASSERT_TRUE(result.ok());
  for (size_t row = 0; row < 3; ++row)
    EXPECT_EQ(Row(*result, row), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(result->delta, 0);
  const auto empty = Positions({0, {}, {}, 2});
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->position_ids.shape(), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(empty->delta, 0);
}

// Token by token, straight from the rule: where a token stands and what came before it.
void CheckAgainstRule(const Prompt& prompt) {
  std::vector<int64_t> rows[3];
  int64_t largest = -1;
  size_t item = 0;
  while (rows[0].size() < prompt.length) {
    const int64_t base = largest + 1;
    if (item == prompt.ranges.size() || rows[0].size() != prompt.ranges[item].first) {
      for (auto& row : rows) row.push_back(base);
      largest = base;
      continue;
    }
    const GridThw grid = prompt.grids[item++];
    const int64_t height = grid.h / prompt.merge, width = grid.w / prompt.merge;
    for (int64_t n = 0; n < grid.t * height * width; ++n) {
      rows[0].push_back(base + n / width / height);
      rows[1].push_back(base + n / width % height);
      rows[2].push_back(base + n % width);
    }
    largest = base + std::max({int64_t{grid.t}, height, width}) - 1;
  }
  const auto result = Positions(prompt);
  ASSERT_TRUE(result.ok()) << result.error().message;
  for (size_t row = 0; row < 3; ++row) ASSERT_EQ(Row(*result, row), rows[row]);
  EXPECT_EQ(result->delta, largest + 1 - static_cast<int64_t>(prompt.length));
}

TEST(MropePositions, RandomPromptsFollowTheRule) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Prompt prompt;
    prompt.merge = 1 + random() % 3;
    for (size_t items = random() % 4; items > 0; --items) {
      prompt.length += random() % 5;
      const GridThw grid = {static_cast<uint32_t>(1 + random() % 2),
                            static_cast<uint32_t>(prompt.merge * (1 + random() % 4)),
                            static_cast<uint32_t>(prompt.merge * (1 + random() % 4))};
      const auto tokens =
          static_cast<uint32_t>(grid.t * (grid.h / prompt.merge) * (grid.w / prompt.merge));
      const auto first = static_cast<uint32_t>(prompt.length);
      prompt.ranges.push_back({first, first + tokens - 1});
      prompt.grids.push_back(grid);
      prompt.length += tokens;
    }
    prompt.length += random() % 5;
    CheckAgainstRule(prompt);
    if (HasFatalFailure()) return;
  }
}

void ExpectRefused(const Prompt& prompt, const std::string& message,
                   ErrorCode code = ErrorCode::kInvalidArgument) {
  const auto result = Positions(prompt);
  ASSERT_FALSE(result.ok()) << message;
  EXPECT_EQ(result.error().code, code);
  EXPECT_EQ(result.error().message, message);
}

TEST(MropePositions, RefusesRangesOutOfOrderOrBounds) {
  ExpectRefused({4, {{0, 4}}, {{1, 2, 2}}, 2}, "mrope: item range (0,4) out of order/bounds");
  ExpectRefused({9, {{4, 4}, {3, 3}}, {{1, 2, 2}, {1, 2, 2}}, 2},
                "mrope: item range (3,3) out of order/bounds");
  ExpectRefused({9, {{4, 3}}, {{1, 2, 2}}, 2}, "mrope: item range (4,3) out of order/bounds");
  ExpectRefused({0, {{0, 0}}, {{1, 2, 2}}, 2}, "mrope: item range (0,0) out of order/bounds");
  const uint32_t max = std::numeric_limits<uint32_t>::max();
  ExpectRefused({9, {{0, max}}, {{1, 2, 2}}, 2},
                "mrope: item range (0,4294967295) out of order/bounds");
}

TEST(MropePositions, RefusesGridsThatDoNotFillTheirSpan) {
  const std::string message = "mrope: token span does not match grid";
  ExpectRefused({9, {{0, 7}}, {{1, 4, 6}}, 2}, message);
  ExpectRefused({9, {{0, 0}}, {{1, 1, 1}}, 2}, message);  // merges to nothing
  ExpectRefused({9, {{0, 0}}, {{0, 2, 2}}, 2}, message);
  // Products that wrap around 32 and 64 bits to the right answer: 2^31 * 2^31 * 4 + 1 is not 1.
  const uint32_t half = uint32_t{1} << 31;
  ExpectRefused({9, {{0, 0}}, {{half, half, 4}}, 1}, message);
  ExpectRefused({9, {{0, 0}}, {{0xffffffffu, 0xffffffffu, 0xffffffffu}}, 1}, message);
}

TEST(MropePositions, RefusesWhatTheReferenceCrashedOn) {
  ExpectRefused({9, {{0, 0}}, {{1, 2, 2}}, 0}, "mrope: merge_size must be positive, got 0");
  ExpectRefused({9, {{0, 0}}, {}, 2}, "mrope: 1 range(s) but 0 grid(s)");
  ExpectRefused({size_t{1} << 60, {}, {}, 2},
                "mrope: 1152921504606846976 tokens, the limit is 67108864",
                ErrorCode::kLimitExceeded);
}

TEST(VideoMropePositions, StepsOfTimeAndWhatFollows) {
  // A token, a video of 5 steps of 1 x 2 tokens that count 1.5, another token.
  const MropeItem video = {{1, 10}, {10, 2, 4}, 2, 1.5F};
  const auto result = VideoMropePositions(12, Span<const MropeItem>(&video, 1), 2);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(Row(*result, 0), (std::vector<int64_t>{0, 1, 1, 2, 2, 4, 4, 5, 5, 7, 7, 3}));
  EXPECT_EQ(Row(*result, 1), (std::vector<int64_t>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3}));
  EXPECT_EQ(Row(*result, 2), (std::vector<int64_t>{0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3}));
  EXPECT_EQ(result->delta, 8 - 12) << "of the largest, which is not the last";
}

TEST(VideoMropePositions, Refusals) {
  const auto refusal = [](MropeItem item) {
    const auto result = VideoMropePositions(9, Span<const MropeItem>(&item, 1), 1);
    return result.ok() ? std::string("none") : result.error().message;
  };
  EXPECT_EQ(refusal({{0, 7}, {2, 2, 2}, 1, 0}), "none");
  EXPECT_EQ(refusal({{0, 7}, {2, 2, 2}, 0, 1}), "mrope: temporal_merge must be positive, got 0");
  EXPECT_EQ(refusal({{0, 7}, {2, 2, 2}, 2, 1}), "mrope: token span does not match grid");
  EXPECT_EQ(refusal({{0, 7}, {2, 2, 2}, 1, -1}), "mrope: a time step of -1.000000 for 2 steps");
  for (const float step :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 2e9F}) {
    EXPECT_NE(refusal({{0, 7}, {2, 2, 2}, 1, step}), "none") << step;
  }
}

}  // namespace
}  // namespace mmcpp
