// prompt/prompt_update.cc: carrying out and checking plans, their form as a layout, places, and
// hostile arguments.
#include "mmcpp/prompt_update.h"

#include <gtest/gtest.h>

#include <limits>

#include "mmcpp/prompt.h"
#include "prompt/update_cases.h"

namespace mmcpp {
namespace {

using test::Ids;
using test::Insert;
using test::Json;
using test::PromptCases;
using test::Replace;
using test::Symbols;
using test::Target;

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

UpdatePlan Plan(const Ids& prompt, const std::vector<ModalityUpdates>& updates,
                UpdateRules rules = UpdateRules::kFixed) {
  auto plan = PlanUpdates(prompt, updates, rules);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return *std::move(plan);
}

// Where a target is: the first match of one update alone.
TEST(PlanUpdates, TargetsStandWhereTheReferenceFindsThem) {
  for (const char* section : {"targets", "text_matches"}) {
    for (const Json& fact : PromptCases()[section]) {
      const Ids prompt = Symbols(fact["prompt"]);
      const bool empty = fact["target"].is_string() && fact["target"].get<std::string>().empty();
      if (empty) continue;  // an empty text is nowhere: see find_test.cc
      const std::vector<ModalityUpdates> updates = {
          {"a", {{{UpdateMode::kReplace, Target(fact["target"]), {{-1}, {}}}}}, {}}};
      for (const UpdateRules rules : {UpdateRules::kFixed, UpdateRules::kVllm}) {
        const UpdatePlan plan = Plan(prompt, updates, rules);
        ASSERT_EQ(plan.updates.size(), fact["spans"].empty() ? 0u : 1u) << fact;
        if (plan.updates.empty()) continue;
        EXPECT_EQ(plan.updates[0].begin, fact["spans"][0][0].get<size_t>()) << fact;
        EXPECT_EQ(plan.updates[0].end, fact["spans"][0][1].get<size_t>()) << fact;
      }
    }
  }
}

TEST(PlanUpdates, ReplacingEveryMatchEqualsTheReference) {
  for (const Json& fact : PromptCases()["replaced"]) {
    const auto prompt = fact["prompt"].get<Ids>();
    std::vector<ModalityUpdates> updates = {{"a", {}, {}}};
    updates[0].items.assign(prompt.size(),
                            {Replace(fact["target"].get<Ids>(), fact["content"].get<Ids>())});
    const auto expanded = ApplyPlan(prompt, updates, Plan(prompt, updates));
    ASSERT_TRUE(expanded.ok());
    EXPECT_EQ(expanded->tokens, fact["result"].get<Ids>()) << fact;
  }
}

TEST(PlanUpdates, SurplusIsWhatNoItemUses) {
  const Ids prompt = {7, 1, 7, 7, 8, 2};
  const std::vector<ModalityUpdates> updates = {{"image", {{Replace({7}, {70})}}, {}},
                                                {"video", {}, {{7, 8}, {2}}}};
  const UpdatePlan plan = Plan(prompt, updates);
  ASSERT_EQ(plan.surplus.size(), 3u);
  EXPECT_EQ(plan.surplus[0].begin, 2u);
  EXPECT_EQ(plan.surplus[0].modality, 0u);
  EXPECT_EQ(plan.surplus[1].begin, 3u) << "the shorter of [7] and [7, 8]";
  EXPECT_EQ(plan.surplus[1].end, 4u);
  EXPECT_EQ(plan.surplus[2].begin, 5u);
  EXPECT_EQ(plan.surplus[2].modality, 1u);
}

TEST(PlanUpdates, AKeptTargetIsNoSurplus) {
  const std::vector<ModalityUpdates> updates = {{"a", {{Insert({7}, {1})}}, {{7}}}};
  EXPECT_TRUE(Plan({7, 2}, updates).surplus.empty());
  EXPECT_EQ(Plan({7, 7}, updates).surplus.size(), 1u);
}

TEST(PlanUpdates, MaskOfAnotherLengthIsRefused) {
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({1}, {2}, {true, false})}}, {}}};
  const auto plan = PlanUpdates(Ids{1}, updates);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, ErrorCode::kInvalidArgument);
}

TEST(ApplyPlan, LimitIsCheckedBeforeAnythingIsWritten) {
  const std::vector<ModalityUpdates> updates = {{"image", {{Replace({1}, Ids(100, 5))}}, {}}};
  const Ids prompt = {1, 2};
  const UpdatePlan plan = Plan(prompt, updates);
  EXPECT_TRUE(ApplyPlan(prompt, updates, plan, 101).ok());
  const auto refused = ApplyPlan(prompt, updates, plan, 100);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(refused.error().message, "prompt: expands to 101 tokens, the limit is 100");
}

TEST(ApplyPlan, PlanOfSomethingElseIsRefused) {
  const std::vector<ModalityUpdates> updates = {{"image", {{Replace({1}, {5})}}, {}}};
  const UpdatePlan plan = Plan({0, 0, 1}, updates);
  EXPECT_FALSE(ApplyPlan(Ids{1}, updates, plan).ok()) << "a shorter prompt";
  EXPECT_FALSE(ApplyPlan(Ids{0, 0, 1}, {}, plan).ok()) << "no updates";
}

TEST(CheckPlan, NamesBothCounts) {
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({7}, {1})}}, {}},
      {"video", {{Replace({8}, {1})}, {Replace({8}, {1})}, {Replace({8}, {1})}}, {}}};
  const auto too_few = CheckPlan(updates, Plan({7, 8, 8}, updates), true);
  ASSERT_FALSE(too_few.ok());
  EXPECT_EQ(too_few.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(too_few.error().message,
            "prompt: 3 video item(s) but 2 placeholder(s): item 2 has no place");
  EXPECT_EQ(too_few.error().item, 3);

  const UpdatePlan surplus = Plan({7, 8, 8, 8, 0, 7}, updates);
  EXPECT_TRUE(CheckPlan(updates, surplus, false).ok());
  const auto too_many = CheckPlan(updates, surplus, true);
  ASSERT_FALSE(too_many.ok());
  EXPECT_EQ(too_many.error().message,
            "prompt: 1 image item(s) but 2 placeholder(s): the one at token 5 belongs to no item");
}

TEST(CheckPlan, PlanOfSomethingElseIsRefused) {
  const std::vector<ModalityUpdates> updates = {{"image", {{Replace({7}, {1})}}, {}}};
  UpdatePlan plan = Plan({7}, updates);
  plan.applied[0][0] = 5;
  EXPECT_FALSE(CheckPlan(updates, plan, true).ok());
  plan.applied[0].push_back(0);
  EXPECT_FALSE(CheckPlan(updates, plan, true).ok());
  EXPECT_FALSE(CheckPlan({}, plan, true).ok());
}

// The layout says what ApplyPlan does, wherever a layout can say it.
TEST(LayoutFromPlan, ExpandsToTheSame) {
  size_t compared = 0;
  for (const Json& fact : PromptCases()["plans"]) {
    const auto prompt = fact["prompt"].get<Ids>();
    const auto updates = test::Updates(fact["updates"]);
    const UpdatePlan plan = Plan(prompt, updates);
    const auto layout = LayoutFromPlan(prompt, updates, plan);
    if (!layout.ok()) {
      EXPECT_EQ(layout.error().code, ErrorCode::kInvalidArgument);
      continue;
    }
    size_t items = 0;
    std::vector<size_t> first_item;
    for (const ModalityUpdates& modality : updates) {
      first_item.push_back(items);
      items += modality.items.size();
    }
    const auto by_layout = ApplyLayout(prompt, *layout, items, kNoLimit);
    ASSERT_TRUE(by_layout.ok()) << by_layout.error().message << fact;
    const auto expanded = ApplyPlan(prompt, updates, plan);
    ASSERT_TRUE(expanded.ok());
    EXPECT_EQ(by_layout->input_ids, expanded->tokens) << fact;
    ASSERT_EQ(expanded->placements.size(), items);
    for (const Placement& placement : expanded->placements) {
      const TokenRange& range = by_layout->offsets[first_item[placement.modality] + placement.item];
      EXPECT_EQ(range.first, placement.start);
      EXPECT_EQ(range.last, placement.start + placement.length - 1);
    }
    ++compared;
  }
  EXPECT_GE(compared, 40u);
}

TEST(LayoutFromPlan, ContentRangeRunsFromFirstToLastEmbeddedToken) {
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({7}, {1, 2, 3, 2, 4}, {false, true, false, true, false})}}, {}}};
  const Ids prompt = {7};
  const auto layout = LayoutFromPlan(prompt, updates, Plan(prompt, updates));
  ASSERT_TRUE(layout.ok());
  const auto expanded = ApplyLayout(prompt, *layout, 1, kNoLimit);
  ASSERT_TRUE(expanded.ok());
  EXPECT_EQ(expanded->offsets[0].first, 1u);
  EXPECT_EQ(expanded->offsets[0].last, 3u);
}

TEST(LayoutFromPlan, WhatALayoutCannotSayIsRefused) {
  const auto refused = [](const Ids& prompt, const std::vector<ModalityUpdates>& updates,
                          UpdateRules rules) {
    const auto layout = LayoutFromPlan(prompt, updates, Plan(prompt, updates, rules));
    return layout.ok() ? std::string("accepted") : layout.error().message;
  };
  EXPECT_EQ(refused({1}, {{"image", {{Replace({7}, {1})}}, {}}}, UpdateRules::kFixed),
            "prompt: 1 image item(s) but 0 placeholder(s): item 0 has no place");
  EXPECT_EQ(refused({7}, {{"image", {{Replace({7}, {})}}, {}}}, UpdateRules::kFixed),
            "prompt: the content of image item 0 is empty");
  EXPECT_EQ(refused({7}, {{"image", {{Replace({7}, {1}, {false})}}, {}}}, UpdateRules::kFixed),
            "prompt: a content without a token for embeddings");
  const PromptUpdate at_start = {UpdateMode::kReplace, {UpdateTarget::Kind::kStart, {}}, {{8}, {}}};
  EXPECT_EQ(refused({1, 2}, {{"a", {{Insert({2}, {9})}}, {}}, {"b", {{at_start}}, {}}},
                    UpdateRules::kVllm),
            "prompt: the plan emits source tokens twice");
}

TEST(LayoutFromPlan, RunsStayShort) {
  const std::vector<ModalityUpdates> updates = {{"image", {{Replace({7}, Ids(5000, 7))}}, {}}};
  const Ids prompt = {7};
  const auto layout = LayoutFromPlan(prompt, updates, Plan(prompt, updates));
  ASSERT_TRUE(layout.ok());
  const auto& media = std::get<MediaSegment>(layout->segments[0]);
  ASSERT_TRUE(std::holds_alternative<RepeatPattern>(media.pattern));
  EXPECT_EQ(std::get<RepeatPattern>(media.pattern).count, 5000u);
}

}  // namespace
}  // namespace mmcpp
