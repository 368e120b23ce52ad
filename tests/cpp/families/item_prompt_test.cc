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

TEST(ItemPrompt, ThePlaceholderIsTheTokenUnlessGiven) {
  const auto prompt = Read(R"("image_token_id": 5)");
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->placeholder, 5);
  EXPECT_EQ(prompt->TokensWith(7), 7u);
  EXPECT_EQ(std::get<RepeatPattern>(prompt->Pattern(7)).count, 7u);
}

}  // namespace
}  // namespace mmcpp::families
