// prompt/planner_vllm.cc: every observed plan of vLLM, its quirks included.
#include <gtest/gtest.h>

#include "prompt/update_cases.h"

namespace mmcpp {
namespace {

using test::Applied;
using test::Ids;
using test::Json;
using test::Placed;
using test::PromptCases;
using test::Same;
using test::Symbols;
using test::Updates;

TEST(PlanVllm, TokenPlansEqualTheReference) {
  size_t compared = 0;
  for (const Json& fact : PromptCases()["plans"]) {
    const auto prompt = fact["prompt"].get<Ids>();
    const auto updates = Updates(fact["updates"]);
    const auto plan = PlanUpdates(prompt, updates, UpdateRules::kVllm);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto expanded = ApplyPlan(prompt, updates, *plan);
    ASSERT_TRUE(expanded.ok()) << expanded.error().message;
    EXPECT_EQ(expanded->tokens, fact["tokens"].get<Ids>()) << fact;
    EXPECT_TRUE(Same(Applied(updates, *plan), fact["applied"])) << fact;
    EXPECT_TRUE(Same(Placed(updates, expanded->placements), fact["placed"])) << fact;
    ++compared;
  }
  EXPECT_GE(compared, 240u);
}

TEST(PlanVllm, TextPlansEqualTheReference) {
  size_t compared = 0;
  for (const Json& fact : PromptCases()["text_plans"]) {
    const Ids prompt = Symbols(fact["prompt"]);
    const auto updates = Updates(fact["updates"]);
    const auto plan = PlanUpdates(prompt, updates, UpdateRules::kVllm);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto expanded = ApplyPlan(prompt, updates, *plan);
    ASSERT_TRUE(expanded.ok()) << expanded.error().message;
    EXPECT_EQ(expanded->tokens, Symbols(fact["text"])) << fact;
    EXPECT_TRUE(Same(Applied(updates, *plan), fact["applied"])) << fact;
    ++compared;
  }
  EXPECT_GE(compared, 100u);
}

}  // namespace
}  // namespace mmcpp
