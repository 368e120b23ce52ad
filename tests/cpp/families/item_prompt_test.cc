// Runs with and without neighbours.
#include "families/item_prompt.h"

#include <gtest/gtest.h>

#include <string>

#include "base/ensure.h"
#include "mmcpp/prompt.h"

namespace mmcpp::families {
namespace {

using Ids = std::vector<int64_t>;

Result<ItemPrompt> Read(const std::string& keys) {
  MMCPP_ASSIGN(SpecReader spec,
               SpecReader::Parse("{\"family\": \"test\", " + keys + "}", UnknownKeys::kError));
  ItemPrompt prompt = ItemPrompt::Read(&spec);
  MMCPP_TRY(spec.Finish());
  return prompt;
}

TEST(ItemPrompt, OnlyTheRunIsContent) {
  const auto prompt = Read(
      R"("image_token_id": 5, "placeholder_token_id": 9, "prefix_token_ids": [1, 2], "suffix_token_ids": [3])");
  ASSERT_TRUE(prompt.ok());
  std::vector<ItemPlan> plans(2);
  plans[0].tokens = prompt->TokensWith(2);
  plans[1].tokens = prompt->TokensWith(1);
  EXPECT_EQ(plans[0].tokens, 5u);
  const Ids ids = {7, 9, 5, 9};
  const auto layout = prompt->Layout(ids, plans);
  ASSERT_TRUE(layout.ok());
  const auto expanded = ApplyLayout(ids, *layout, 2, 100);
  ASSERT_TRUE(expanded.ok());
  EXPECT_EQ(expanded->input_ids, (Ids{7, 1, 2, 5, 5, 3, 5, 1, 2, 5, 3}));
  EXPECT_EQ(expanded->offsets[0].first, 3u);
  EXPECT_EQ(expanded->offsets[0].last, 4u);
  EXPECT_EQ(expanded->offsets[1].first, 9u);
  EXPECT_EQ(expanded->offsets[1].last, 9u);
  EXPECT_FALSE(prompt->Layout(Ids{9}, plans).ok());
}

TEST(ItemPrompt, LineBreaksThatMeetAreOneRun) {
  const auto prompt = Read(
      R"("image_token_id": 5, "placeholder_token_id": 9, "prefix_token_ids": [12, 1],
         "suffix_token_ids": [2, 12], "line_token_ids": [11, 12, 13])");
  ASSERT_TRUE(prompt.ok());
  const auto expanded = [&](const Ids& ids, size_t items) {
    std::vector<ItemPlan> plans(items);
    for (ItemPlan& plan : plans) plan.tokens = prompt->TokensWith(2);
    const auto layout = prompt->Layout(ids, plans);
    const auto result = ApplyLayout(ids, *layout, items, 100);
    EXPECT_TRUE(result.ok()) << result.error().message;
    for (const TokenRange& range : result->offsets) {
      EXPECT_EQ(result->input_ids[range.first - 1], 1);
      EXPECT_EQ(result->input_ids[range.last + 1], 2);
    }
    return result->input_ids;
  };
  EXPECT_EQ(expanded({7, 9, 8}, 1), (Ids{7, 12, 1, 5, 5, 2, 12, 8}));
  EXPECT_EQ(expanded({7, 11, 9, 8}, 1), (Ids{7, 13, 1, 5, 5, 2, 12, 8}));
  EXPECT_EQ(expanded({11, 9, 12, 11, 8}, 1), (Ids{13, 1, 5, 5, 2, 13, 12, 8}));
  EXPECT_EQ(expanded({9, 9}, 2), (Ids{12, 1, 5, 5, 2, 13, 11, 1, 5, 5, 2, 12}));
  EXPECT_EQ(expanded({9, 11, 9, 13}, 2), (Ids{12, 1, 5, 5, 2, 13, 12, 1, 5, 5, 2, 13, 12}));
  EXPECT_EQ(expanded({9, 8, 11, 9}, 2), (Ids{12, 1, 5, 5, 2, 12, 8, 13, 1, 5, 5, 2, 12}));
}

TEST(ItemPrompt, ThePlaceholderIsTheTokenUnlessGiven) {
  const auto prompt = Read(R"("image_token_id": 5)");
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->placeholder, 5);
  EXPECT_EQ(prompt->TokensWith(7), 7u);
  EXPECT_EQ(std::get<RepeatPattern>(prompt->Pattern(7)).count, 7u);
}

}  // namespace
}  // namespace mmcpp::families
