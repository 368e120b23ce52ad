// prompt/find.cc: vLLM's facts about matches and placeholders.
#include <gtest/gtest.h>

#include "prompt/update_cases.h"

namespace mmcpp {
namespace {

using test::Ids;
using test::Json;
using test::Placed;
using test::PromptCases;
using test::Replace;
using test::Same;
using test::Symbols;

std::vector<std::pair<size_t, size_t>> Spans(const Json& value) {
  return value.get<std::vector<std::pair<size_t, size_t>>>();
}

TEST(FindMatches, EqualTheReference) {
  for (const Json& fact : PromptCases()["matches"]) {
    const auto target = fact["target"].get<Ids>();
    std::vector<std::pair<size_t, size_t>> spans;
    for (const size_t begin :
         FindMatches(fact["prompt"].get<Ids>(), target, fact["start"].get<size_t>())) {
      spans.push_back({begin, begin + target.size()});
    }
    EXPECT_EQ(spans, Spans(fact["spans"])) << fact;
  }
}

// vLLM 0.18 searched texts with a regular expression, by which an empty text is everywhere; 0.33
// and we find it nowhere, as an empty token target.
TEST(FindMatches, TextsEqualTheReference) {
  size_t empty = 0;
  for (const Json& fact : PromptCases()["text_matches"]) {
    if (fact["target"].is_object()) continue;  // places: in planner tests
    const Ids target = Symbols(fact["target"]);
    std::vector<std::pair<size_t, size_t>> spans;
    for (const size_t begin : FindMatches(Symbols(fact["prompt"]), target)) {
      spans.push_back({begin, begin + target.size()});
    }
    if (target.empty()) {
      ++empty;
      EXPECT_TRUE(spans.empty());
      continue;
    }
    EXPECT_EQ(spans, Spans(fact["spans"])) << fact;
  }
  EXPECT_EQ(empty, 1u);
}

TEST(FindPlaceholders, EqualTheReference) {
  size_t compared = 0;
  for (const Json& fact : PromptCases()["found"]) {
    std::vector<ModalityUpdates> updates;
    for (const auto& [modality, items] : fact["contents"].items()) {
      updates.push_back({modality, {}, {}});
      for (const Json& alternatives : items) {
        auto& item = updates.back().items.emplace_back();
        for (const Json& content : alternatives) item.push_back(Replace({}, content.get<Ids>()));
      }
    }
    const auto found = FindPlaceholders(fact["prompt"].get<Ids>(), updates);
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(Same(Placed(updates, *found), fact["placed"])) << fact;
    ++compared;
  }
  EXPECT_EQ(compared, 105u);
}

TEST(FindPlaceholders, MaskOfAnotherLengthIsRefused) {
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({1}, {2, 3}, {true, false, true})}}, {}}};
  const auto found = FindPlaceholders(Ids{2, 3}, updates);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(found.error().message, "prompt: image item 0: a mask of 3 for a content of 2 token(s)");
}

}  // namespace
}  // namespace mmcpp
