// prompt/planner_fixed.cc: vLLM's facts, with the listed deliberate differences; and the rules as
// their comment states them, against a slow planner that looks at every match anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "prompt/update_cases.h"

namespace mmcpp {
namespace {

using test::Applied;
using test::Ids;
using test::Insert;
using test::Json;
using test::Placed;
using test::PromptCases;
using test::Replace;
using test::Same;
using test::Symbols;
using test::Updates;

struct Expanded {
  UpdatePlan plan;
  UpdatedPrompt prompt;
};

Expanded Expand(const Ids& prompt, const std::vector<ModalityUpdates>& updates) {
  auto plan = PlanUpdates(prompt, updates);
  EXPECT_TRUE(plan.ok());
  auto expanded = ApplyPlan(prompt, updates, *plan);
  EXPECT_TRUE(expanded.ok());
  return {*std::move(plan), *std::move(expanded)};
}

TEST(PlanFixed, TokenPlansEqualTheReferenceOrAreListed) {
  size_t differences = 0;
  for (const Json& fact : PromptCases()["plans"]) {
    const bool listed = fact.contains("fixed");
    if (listed) {
      ++differences;
      EXPECT_TRUE(PromptCases()["why"].contains(fact["fixed"]["why"].get<std::string>())) << fact;
    }
    const Json& expected = listed ? fact["fixed"] : fact;
    const auto updates = Updates(fact["updates"]);
    const Expanded got = Expand(fact["prompt"].get<Ids>(), updates);
    EXPECT_EQ(got.prompt.tokens, expected["tokens"].get<Ids>()) << fact;
    EXPECT_TRUE(Same(Applied(updates, got.plan), expected["applied"])) << fact;
    EXPECT_TRUE(Same(Placed(updates, got.prompt.placements), expected["placed"])) << fact;
  }
  EXPECT_EQ(differences, 25u) << "a difference more needs a reason, a difference less a new count";
}

TEST(PlanFixed, TextPlansEqualTheReference) {
  for (const Json& fact : PromptCases()["text_plans"]) {
    const auto updates = Updates(fact["updates"]);
    const Expanded got = Expand(Symbols(fact["prompt"]), updates);
    EXPECT_EQ(got.prompt.tokens, Symbols(fact["text"])) << fact;
    EXPECT_TRUE(Same(Applied(updates, got.plan), fact["applied"])) << fact;
  }
}

// The rules of PlanUpdates, said once more without any index: at each position every waiting item
// is asked. Quadratic and worse.
class SlowPlanner {
 public:
  SlowPlanner(const Ids& prompt, const std::vector<ModalityUpdates>& updates) : prompt_(prompt) {
    for (const ModalityUpdates& modality : updates) {
      for (const auto& alternatives : modality.items) items_.push_back({&alternatives});
    }
  }

  std::vector<size_t> Applied() {
    Settle(0);
    for (size_t at = 0; at < prompt_.size();) {
      at = Visit(at);
      Settle(at);
    }
    std::vector<size_t> applied;
    for (const Item& item : items_) applied.push_back(item.done ? item.current : kNoAlternative);
    return applied;
  }

 private:
  struct Item {
    const std::vector<PromptUpdate>* alternatives;
    size_t current = 0;
    bool done = false;
  };

  bool StandsAt(const Ids& tokens, size_t at) const {
    return !tokens.empty() && tokens.size() <= prompt_.size() - at &&
           std::equal(tokens.begin(), tokens.end(), prompt_.begin() + static_cast<int64_t>(at));
  }
  bool OccursFrom(const Ids& tokens, size_t from) const {
    for (size_t at = from; at < prompt_.size(); ++at) {
      if (StandsAt(tokens, at)) return true;
    }
    return false;
  }
  std::optional<size_t> Place(const UpdateTarget& target) const {
    if (target.kind == UpdateTarget::Kind::kStart) return 0;
    if (target.kind == UpdateTarget::Kind::kEnd) return prompt_.size();
    const bool begins = target.tokens.empty() || StandsAt(target.tokens, 0);
    return begins ? std::optional<size_t>(target.tokens.size()) : std::nullopt;
  }

  /// Moves every item to its first alternative that has a match at `at` or later.
  void Settle(size_t at) {
    for (Item& item : items_) {
      for (; !item.done && item.current < item.alternatives->size(); ++item.current) {
        const UpdateTarget& target = (*item.alternatives)[item.current].target;
        if (target.kind == UpdateTarget::Kind::kTokens) {
          if (OccursFrom(target.tokens, at)) break;
          continue;
        }
        const auto place = Place(target);
        if (!place) continue;
        const bool inside = std::any_of(replaced_.begin(), replaced_.end(), [&](const auto& span) {
          return span.first < *place && *place < span.second;
        });
        if (inside) continue;
        places_.insert(*place);
        item.done = true;
        break;
      }
    }
  }

  size_t Visit(size_t at) {
    for (size_t length = 1; length <= prompt_.size() - at; ++length) {
      for (Item& item : items_) {
        if (item.done || item.current == item.alternatives->size()) continue;
        const PromptUpdate& update = (*item.alternatives)[item.current];
        if (update.target.kind != UpdateTarget::Kind::kTokens ||
            update.target.tokens.size() != length || !StandsAt(update.target.tokens, at)) {
          continue;
        }
        if (update.mode == UpdateMode::kInsert) {
          item.done = true;
          kept_until_ = std::max(kept_until_, at + length);
          continue;
        }
        const auto place = places_.upper_bound(at);
        if (at < kept_until_ || (place != places_.end() && *place < at + length)) continue;
        item.done = true;
        replaced_.push_back({at, at + length});
        return at + length;
      }
    }
    return at + 1;
  }

  const Ids& prompt_;
  std::vector<Item> items_;
  std::vector<std::pair<size_t, size_t>> replaced_;
  std::set<size_t> places_;
  size_t kept_until_ = 0;
};

class RandomUpdates {
 public:
  explicit RandomUpdates(uint32_t seed) : rng_(seed) {}

  Ids Prompt() { return Tokens(Below(25)); }

  std::vector<ModalityUpdates> Updates() {
    std::vector<ModalityUpdates> updates(1 + Below(3));
    for (size_t m = 0; m < updates.size(); ++m) {
      updates[m].modality = std::string(1, static_cast<char>('a' + m));
      const auto shared = Alternatives();
      const bool share = Below(2) == 0;
      for (size_t i = Below(5); i-- > 0;) {
        updates[m].items.push_back(share ? shared : Alternatives());
        for (PromptUpdate& update : updates[m].items.back()) {
          update.content.tokens = Ids(Below(4), static_cast<int64_t>(100 * (m + 1) + i));
        }
      }
    }
    return updates;
  }

 private:
  size_t Below(size_t bound) { return rng_() % bound; }
  Ids Tokens(size_t count) {
    Ids ids(count);
    for (int64_t& id : ids) id = static_cast<int64_t>(Below(3));
    return ids;
  }
  std::vector<PromptUpdate> Alternatives() {
    std::vector<PromptUpdate> alternatives(1 + Below(3));
    for (PromptUpdate& update : alternatives) {
      update.mode = Below(2) == 0 ? UpdateMode::kInsert : UpdateMode::kReplace;
      const size_t kind = Below(12);
      if (kind == 0) update.target.kind = UpdateTarget::Kind::kStart;
      if (kind == 1) update.target.kind = UpdateTarget::Kind::kEnd;
      if (kind == 2) update.target = {UpdateTarget::Kind::kPrefix, Tokens(Below(3))};
      if (kind > 2) update.target.tokens = Tokens(Below(4));
    }
    return alternatives;
  }

  std::mt19937 rng_;
};

TEST(PlanFixed, EqualsThePlannerWithoutAnIndex) {
  RandomUpdates random(11);
  for (int round = 0; round < 4000; ++round) {
    const Ids prompt = random.Prompt();
    const auto updates = random.Updates();
    const Expanded got = Expand(prompt, updates);
    std::vector<size_t> applied;
    for (const auto& items : got.plan.applied) {
      applied.insert(applied.end(), items.begin(), items.end());
    }
    ASSERT_EQ(applied, SlowPlanner(prompt, updates).Applied()) << "round " << round;
  }
}

// Whatever was planned, the source is emitted once and in order, and contents stand where the
// placements say.
TEST(PlanFixed, NothingIsLostOrEmittedTwice) {
  RandomUpdates random(12);
  for (int round = 0; round < 2000; ++round) {
    const Ids prompt = random.Prompt();
    const auto updates = random.Updates();
    const Expanded got = Expand(prompt, updates);
    size_t at = 0;
    for (const PlannedUpdate& planned : got.plan.updates) {
      ASSERT_GE(planned.begin, at);
      at = planned.end;
    }
    for (const Placement& placement : got.prompt.placements) {
      const auto& content =
          updates[placement.modality].items[placement.item][placement.alternative].content.tokens;
      ASSERT_EQ(placement.length, content.size());
      ASSERT_TRUE(std::equal(content.begin(), content.end(),
                             got.prompt.tokens.begin() + static_cast<int64_t>(placement.start)));
    }
  }
}

TEST(PlanFixed, ItemsWithTheirOwnTargetsMayStandInAnyOrder) {
  const Ids prompt = {12, 11};
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({11}, {1})}, {Replace({12}, {2, 2})}}, {}}};
  const Expanded got = Expand(prompt, updates);
  EXPECT_EQ(got.prompt.tokens, (Ids{2, 2, 1}));
  ASSERT_EQ(got.prompt.placements.size(), 2u);
  EXPECT_EQ(got.prompt.placements[0].item, 0u) << "item order, not prompt order";
  EXPECT_EQ(got.prompt.placements[0].start, 2u);
  EXPECT_EQ(got.prompt.placements[1].start, 0u);
}

TEST(PlanFixed, InsertionKeepsItsTargetFromReplacement) {
  const Ids prompt = {1, 2, 3};
  const std::vector<ModalityUpdates> updates = {{"a", {{Insert({1, 2}, {9})}}, {}},
                                                {"b", {{Replace({2, 3}, {8})}}, {}}};
  const Expanded got = Expand(prompt, updates);
  EXPECT_EQ(got.prompt.tokens, (Ids{1, 2, 9, 3}));
  EXPECT_EQ(got.plan.applied[1][0], kNoAlternative);
}

}  // namespace
}  // namespace mmcpp
