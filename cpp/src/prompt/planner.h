// Updates prepared for planning: targets as patterns and places, items grouped into queues. Shared
// by the two sets of rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mmcpp/prompt_update.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"
#include "prompt/pattern_set.h"

namespace mmcpp::prompt {

/// One alternative of a queue: tokens to look for, or a place in this prompt.
struct Alternative {
  UpdateMode mode = UpdateMode::kReplace;
  UpdateTarget::Kind kind = UpdateTarget::Kind::kTokens;
  int32_t pattern = PatternSet::kNone;  // kTokens; kNone also for an empty target
  size_t place = kNoPosition;           // the other kinds; kNoPosition where the prompt has none
};

/// Items whose alternatives have the same modes and targets, first come first served.
struct Queue {
  std::vector<Alternative> alternatives;
  std::vector<size_t> items;  // flat numbers, rising: a smaller one has priority
  size_t head = 0;            // items before this are served
  size_t alternative = 0;     // where FixedPlanner stands

  bool empty() const { return head == items.size(); }
  size_t priority() const { return items[head]; }
};

struct ItemName {
  size_t modality = 0, item = 0;
};

struct PreparedUpdates {
  PatternSet patterns;
  std::vector<size_t>
      placeholder_of;  // by pattern: the first modality it stands for, or kNoPosition
  std::vector<Queue> queues;
  std::vector<ItemName> items;  // by flat number
  bool only_token_replacements = true;
};

/// Groups and compiles `updates`. Errors: as PlanUpdates.
Result<PreparedUpdates> Prepare(Span<const int64_t> prompt, Span<const ModalityUpdates> updates);

/// kInvalidArgument for a mask of another length than its content.
Status CheckContents(Span<const ModalityUpdates> updates);

/// What a planner decided for one item: the match [begin, end), kept by an insertion.
struct Decision {
  size_t item = 0;  // flat number
  size_t alternative = 0;
  UpdateMode mode = UpdateMode::kReplace;
  size_t begin = 0, end = 0;
};

/// Decisions in the order of the expanded prompt, by the rules of kFixed.
std::vector<Decision> PlanFixed(PreparedUpdates* prepared, Span<const int32_t> states);

/// Decisions in the order of the expanded prompt, by the rules of kVllm.
std::vector<Decision> PlanVllm(PreparedUpdates* prepared, Span<const int64_t> prompt,
                               Span<const ModalityUpdates> updates);

/// Occurrences of placeholder patterns outside `taken`, spans [begin, end) in order of begin.
std::vector<SurplusPlaceholder> FindSurplus(const PreparedUpdates& prepared,
                                            Span<const int32_t> states,
                                            std::vector<TextRange> taken);

}  // namespace mmcpp::prompt
