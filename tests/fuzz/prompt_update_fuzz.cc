// Any updates over any prompt of few symbols: plans place what they say, emit the prompt once, and
// what is found or detected stands where it is said to stand.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "byte_reader.h"
#include "mmcpp/prompt.h"
#include "mmcpp/prompt_update.h"

namespace mmcpp::fuzz {
namespace {

constexpr uint64_t kMaxTokens = 2048;

void Require(bool condition) {
  if (!condition) std::abort();
}

using Ids = std::vector<int64_t>;

Ids ReadIds(ByteReader* in, size_t limit) {
  Ids ids(in->Below(limit));
  for (int64_t& id : ids) id = static_cast<int64_t>(in->Below(3));
  return ids;
}

PromptUpdate ReadUpdate(ByteReader* in) {
  PromptUpdate update;
  const size_t kind = in->Below(16);
  update.mode = kind % 2 == 0 ? UpdateMode::kReplace : UpdateMode::kInsert;
  if (kind / 2 < 3) update.target.kind = static_cast<UpdateTarget::Kind>(1 + kind / 2);
  update.target.tokens = ReadIds(in, 5);
  update.content.tokens = ReadIds(in, 9);
  if (in->Below(8) == 0) update.content.embed_mask.assign(in->Below(9), in->Below(2) == 1);
  return update;
}

std::vector<ModalityUpdates> ReadUpdates(ByteReader* in) {
  std::vector<ModalityUpdates> updates(in->Below(4));
  for (ModalityUpdates& modality : updates) {
    modality.items.resize(in->Below(6));
    for (auto& item : modality.items) {
      for (size_t count = in->Below(4); count-- > 0;) item.push_back(ReadUpdate(in));
    }
    if (in->Below(4) == 0) modality.placeholders.push_back(ReadIds(in, 4));
  }
  return updates;
}

void CheckPlacements(const Ids& tokens, const std::vector<ModalityUpdates>& updates,
                     const std::vector<Placement>& placements) {
  for (const Placement& placement : placements) {
    const Ids& content =
        updates[placement.modality].items[placement.item][placement.alternative].content.tokens;
    Require(!content.empty() && placement.length == content.size());
    Require(placement.start <= tokens.size() - placement.length);
    Require(std::equal(content.begin(), content.end(),
                       tokens.begin() + static_cast<int64_t>(placement.start)));
  }
}

void CheckPlan(const Ids& prompt, const std::vector<ModalityUpdates>& updates, UpdateRules rules) {
  const auto plan = PlanUpdates(prompt, updates, rules);
  if (!plan.ok()) {
    Require(plan.error().code == ErrorCode::kInvalidArgument);
    return;
  }
  const auto expanded = ApplyPlan(prompt, updates, *plan, kMaxTokens);
  if (!expanded.ok()) {
    Require(expanded.error().code == ErrorCode::kLimitExceeded);
    return;
  }
  Require(expanded->tokens.size() <= kMaxTokens);
  CheckPlacements(expanded->tokens, updates, expanded->placements);
  if (rules == UpdateRules::kVllm) return;

  size_t at = 0;
  size_t kept = prompt.size();
  size_t added = 0;
  for (const PlannedUpdate& planned : plan->updates) {
    Require(planned.begin >= at && planned.end <= prompt.size());
    at = planned.end;
    kept -= planned.end - planned.begin;
    added +=
        updates[planned.modality].items[planned.item][planned.alternative].content.tokens.size();
  }
  Require(expanded->tokens.size() == kept + added);
  for (const SurplusPlaceholder& surplus : plan->surplus) {
    for (const PlannedUpdate& planned : plan->updates) {
      if (planned.begin == planned.end) continue;  // a place may be within a placeholder
      Require(surplus.end <= planned.begin || planned.end <= surplus.begin);
    }
  }
  const auto layout = LayoutFromPlan(prompt, updates, *plan);
  if (!layout.ok()) return;
  size_t items = 0;
  for (const ModalityUpdates& modality : updates) items += modality.items.size();
  const auto by_layout = ApplyLayout(prompt, *layout, items, kMaxTokens);
  Require(by_layout.ok() && by_layout->input_ids == expanded->tokens);
}

void CheckSearch(const Ids& prompt, const std::vector<ModalityUpdates>& updates) {
  const auto found = FindPlaceholders(prompt, updates);
  const auto detection = DetectUpdates(prompt, updates);
  Require(found.ok() == detection.ok());
  if (!found.ok()) return;
  CheckPlacements(prompt, updates, *found);
  CheckPlacements(prompt, updates, detection->found);
  std::vector<bool> taken(prompt.size(), false);
  for (const Placement& placement : detection->found) {
    for (size_t i = 0; i < placement.length; ++i) {
      Require(!taken[placement.start + i]);
      taken[placement.start + i] = true;
    }
  }
  size_t items = 0;
  for (const ModalityUpdates& modality : updates) items += modality.items.size();
  Require(detection->found.size() + detection->missing.size() == items);
  Require((detection->state == UpdateState::kApplied) == detection->missing.empty());
  for (const SurplusPlaceholder& surplus : detection->surplus) {
    for (size_t i = surplus.begin; i < surplus.end; ++i) Require(!taken[i]);
  }
}

}  // namespace
}  // namespace mmcpp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mmcpp::fuzz::ByteReader in(data, size);
  const auto prompt = mmcpp::fuzz::ReadIds(&in, 40);
  const auto updates = mmcpp::fuzz::ReadUpdates(&in);
  mmcpp::fuzz::CheckPlan(prompt, updates, mmcpp::UpdateRules::kFixed);
  mmcpp::fuzz::CheckPlan(prompt, updates, mmcpp::UpdateRules::kVllm);
  mmcpp::fuzz::CheckSearch(prompt, updates);
  return 0;
}
