// Updates as values: preparing them for a planner, carrying out a plan, checking it, and giving it
// as the driver's layout.
#include "mmcpp/prompt_update.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "prompt/planner.h"

namespace mmcpp {
namespace prompt {
namespace {

/// Where a place is in this prompt, or kNoPosition for a prefix that the prompt does not have.
size_t PlaceOf(const UpdateTarget& target, Span<const int64_t> prompt) {
  switch (target.kind) {
    case UpdateTarget::Kind::kStart:
      return 0;
    case UpdateTarget::Kind::kEnd:
      return prompt.size();
    default:
      break;
  }
  const bool begins = target.tokens.size() <= prompt.size() &&
                      std::equal(target.tokens.begin(), target.tokens.end(), prompt.begin());
  return begins ? target.tokens.size() : kNoPosition;
}

class Preparer {
 public:
  explicit Preparer(Span<const int64_t> prompt) : prompt_(prompt) {}

  Result<PreparedUpdates> Run(Span<const ModalityUpdates> updates) && {
    for (size_t m = 0; m < updates.size(); ++m) {
      for (size_t i = 0; i < updates[m].items.size(); ++i) {
        MMCPP_TRY(AddItem(m, updates[m].items[i]));
        result_.items.push_back({m, i});
      }
      for (const auto& tokens : updates[m].placeholders) {
        if (!tokens.empty()) MMCPP_TRY(AddPlaceholder(m, tokens));
      }
    }
    result_.placeholder_of.resize(result_.patterns.size(), kNoPosition);
    result_.patterns.Build();
    return std::move(result_);
  }

 private:
  Status AddItem(size_t modality, const std::vector<PromptUpdate>& updates) {
    std::vector<Alternative> alternatives;
    std::vector<uint64_t> signature;
    for (const PromptUpdate& update : updates) {
      Alternative alternative{update.mode, update.target.kind, PatternSet::kNone, kNoPosition};
      if (update.target.kind != UpdateTarget::Kind::kTokens) {
        alternative.place = PlaceOf(update.target, prompt_);
      } else if (!update.target.tokens.empty()) {
        MMCPP_ASSIGN(alternative.pattern, result_.patterns.Add(update.target.tokens));
        if (update.mode == UpdateMode::kReplace) {
          MMCPP_TRY(AddPlaceholder(modality, update.target.tokens));
        }
      }
      if (update.mode != UpdateMode::kReplace ||
          update.target.kind != UpdateTarget::Kind::kTokens) {
        result_.only_token_replacements = false;
      }
      signature.insert(
          signature.end(),
          {static_cast<uint64_t>(update.mode), static_cast<uint64_t>(update.target.kind),
           static_cast<uint64_t>(alternative.pattern), static_cast<uint64_t>(alternative.place)});
      alternatives.push_back(alternative);
    }
    const auto [entry, is_new] = queue_of_.try_emplace(std::move(signature), queue_of_.size());
    if (is_new) {
      result_.queues.emplace_back();
      result_.queues.back().alternatives = std::move(alternatives);
    }
    result_.queues[entry->second].items.push_back(result_.items.size());
    return Ok{};
  }

  Status AddPlaceholder(size_t modality, Span<const int64_t> tokens) {
    MMCPP_ASSIGN(const int32_t pattern, result_.patterns.Add(tokens));
    auto& owners = result_.placeholder_of;
    if (owners.size() <= static_cast<size_t>(pattern)) {
      owners.resize(static_cast<size_t>(pattern) + 1, kNoPosition);
    }
    size_t& owner = owners[static_cast<size_t>(pattern)];
    owner = std::min(owner, modality);
    return Ok{};
  }

  Span<const int64_t> prompt_;
  PreparedUpdates result_;
  std::map<std::vector<uint64_t>, size_t> queue_of_;  // by signature
};

}  // namespace

Result<PreparedUpdates> Prepare(Span<const int64_t> prompt, Span<const ModalityUpdates> updates) {
  return Preparer(prompt).Run(updates);
}

Status CheckContents(Span<const ModalityUpdates> updates) {
  for (const ModalityUpdates& modality : updates) {
    for (size_t i = 0; i < modality.items.size(); ++i) {
      for (const PromptUpdate& update : modality.items[i]) {
        const auto& [tokens, mask] = update.content;
        if (mask.empty() || mask.size() == tokens.size()) continue;
        return InvalidArgument("prompt: " + modality.modality + " item " + std::to_string(i) +
                               ": a mask of " + std::to_string(mask.size()) + " for a content of " +
                               std::to_string(tokens.size()) + " token(s)");
      }
    }
  }
  return Ok{};
}

std::vector<SurplusPlaceholder> FindSurplus(const PreparedUpdates& prepared,
                                            Span<const int32_t> states,
                                            std::vector<TextRange> taken) {
  taken.push_back({states.size(), states.size()});
  std::vector<SurplusPlaceholder> surplus;
  size_t at = 0;
  for (const TextRange& span : taken) {
    while (at < span.begin) {
      // The shortest placeholder that begins here: where it does not fit, none does.
      int32_t shortest = PatternSet::kNone;
      for (int32_t pattern = prepared.patterns.Longest(states[at]); pattern != PatternSet::kNone;
           pattern = prepared.patterns.NextShorter(pattern)) {
        if (prepared.placeholder_of[static_cast<size_t>(pattern)] != kNoPosition) {
          shortest = pattern;
        }
      }
      if (shortest == PatternSet::kNone || prepared.patterns.length(shortest) > span.begin - at) {
        ++at;
        continue;
      }
      const size_t end = at + prepared.patterns.length(shortest);
      surplus.push_back({prepared.placeholder_of[static_cast<size_t>(shortest)], at, end});
      at = end;
    }
    at = std::max(at, span.end);
  }
  return surplus;
}

}  // namespace prompt

namespace {

using prompt::Decision;
using prompt::PreparedUpdates;

Result<UpdatePlan> Plan(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                        UpdateRules rules) {
  MMCPP_TRY(prompt::CheckContents(updates));
  MMCPP_ASSIGN(PreparedUpdates prepared, prompt::Prepare(prompt, updates));
  const std::vector<int32_t> states = prepared.patterns.Scan(prompt);
  // Where updates only replace tokens, the rounds of kVllm come to the same as one pass.
  const bool one_pass = rules == UpdateRules::kFixed || prepared.only_token_replacements;
  const std::vector<Decision> decisions = one_pass ? prompt::PlanFixed(&prepared, states)
                                                   : prompt::PlanVllm(&prepared, prompt, updates);
  UpdatePlan plan;
  for (const ModalityUpdates& modality : updates) {
    plan.applied.emplace_back(modality.items.size(), kNoAlternative);
  }
  std::vector<TextRange> taken;
  for (const Decision& decision : decisions) {
    const auto [modality, item] = prepared.items[decision.item];
    plan.applied[modality][item] = decision.alternative;
    const size_t begin = decision.mode == UpdateMode::kInsert ? decision.end : decision.begin;
    plan.updates.push_back({modality, item, decision.alternative, begin, decision.end});
    if (decision.begin < decision.end) taken.push_back({decision.begin, decision.end});
  }
  std::sort(taken.begin(), taken.end(),
            [](const TextRange& a, const TextRange& b) { return a.begin < b.begin; });
  plan.surplus = prompt::FindSurplus(prepared, states, std::move(taken));
  return plan;
}

/// The content of a planned update; kInvalidArgument for a plan of something else.
Result<const UpdateContent*> ContentOf(Span<const int64_t> prompt,
                                       Span<const ModalityUpdates> updates,
                                       const PlannedUpdate& planned) {
  if (planned.modality >= updates.size() ||
      planned.item >= updates[planned.modality].items.size() ||
      planned.alternative >= updates[planned.modality].items[planned.item].size() ||
      planned.begin > planned.end || planned.end > prompt.size()) {
    return InvalidArgument("prompt: the plan was made for another prompt or other updates");
  }
  return &updates[planned.modality].items[planned.item][planned.alternative].content;
}

Result<uint64_t> ExpandedSize(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                              const UpdatePlan& plan, uint64_t max_tokens) {
  uint64_t size = 0;
  const auto add = [&size](uint64_t tokens) {
    if (!CheckedAdd(size, tokens, &size)) size = std::numeric_limits<uint64_t>::max();
  };
  size_t at = 0;
  for (const PlannedUpdate& planned : plan.updates) {
    MMCPP_ASSIGN(const UpdateContent* content, ContentOf(prompt, updates, planned));
    if (at < planned.begin) add(planned.begin - at);
    add(content->tokens.size());
    at = planned.end;
  }
  add(prompt.size() - at);
  if (size > max_tokens) {
    return Error{ErrorCode::kLimitExceeded, "prompt: expands to " + std::to_string(size) +
                                                " tokens, the limit is " +
                                                std::to_string(max_tokens)};
  }
  return size;
}

Result<UpdatedPrompt> Apply(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                            const UpdatePlan& plan, uint64_t max_tokens) {
  MMCPP_ASSIGN(const uint64_t size, ExpandedSize(prompt, updates, plan, max_tokens));
  UpdatedPrompt result;
  result.tokens.reserve(static_cast<size_t>(size));
  size_t at = 0;
  const auto copy_until = [&](size_t end) {
    if (at < end) {
      result.tokens.insert(result.tokens.end(), prompt.begin() + at, prompt.begin() + end);
    }
  };
  for (const PlannedUpdate& planned : plan.updates) {
    MMCPP_ASSIGN(const UpdateContent* content, ContentOf(prompt, updates, planned));
    copy_until(planned.begin);
    at = planned.end;
    if (content->tokens.empty()) continue;
    result.placements.push_back({planned.modality, planned.item, planned.alternative,
                                 result.tokens.size(), content->tokens.size()});
    result.tokens.insert(result.tokens.end(), content->tokens.begin(), content->tokens.end());
  }
  copy_until(prompt.size());
  std::sort(result.placements.begin(), result.placements.end(),
            [](const Placement& a, const Placement& b) {
              return std::tie(a.modality, a.item) < std::tie(b.modality, b.item);
            });
  return result;
}

/// The content as a layout's pattern: a run where it is one.
Result<TokenPattern> PatternOf(const UpdateContent& content) {
  const auto& [tokens, mask] = content;
  size_t begin = 0, end = tokens.size();
  if (!mask.empty()) {
    while (begin < end && !mask[begin]) ++begin;
    while (begin < end && !mask[end - 1]) --end;
  }
  if (begin == end) return InvalidArgument("prompt: a content without a token for embeddings");
  const bool is_run = end - begin == tokens.size() &&
                      std::all_of(tokens.begin(), tokens.end(),
                                  [&tokens = tokens](int64_t id) { return id == tokens[0]; });
  if (is_run) return TokenPattern{RepeatPattern{tokens[0], tokens.size()}};
  return TokenPattern{ExplicitPattern{tokens, begin, end}};
}

Result<TokenLayout> Layout(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                           const UpdatePlan& plan) {
  MMCPP_TRY(CheckPlan(updates, plan, false));
  std::vector<size_t> first_item;  // by modality: the number of its item 0
  size_t items = 0;
  for (const ModalityUpdates& modality : updates) {
    first_item.push_back(items);
    items += modality.items.size();
  }
  TokenLayout layout;
  size_t at = 0;
  for (const PlannedUpdate& planned : plan.updates) {
    MMCPP_ASSIGN(const UpdateContent* content, ContentOf(prompt, updates, planned));
    if (planned.begin < at) return InvalidArgument("prompt: the plan emits source tokens twice");
    if (at < planned.begin) layout.segments.emplace_back(TextRange{at, planned.begin});
    MMCPP_ASSIGN(TokenPattern pattern, PatternOf(*content));
    layout.segments.emplace_back(MediaSegment{first_item[planned.modality] + planned.item,
                                              std::move(pattern), planned.end - planned.begin});
    at = planned.end;
  }
  if (at < prompt.size()) layout.segments.emplace_back(TextRange{at, prompt.size()});
  return layout;
}

}  // namespace

Result<UpdatePlan> PlanUpdates(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                               UpdateRules rules) {
  return CatchOutOfMemory([&] { return Plan(prompt, updates, rules); });
}

Result<UpdatedPrompt> ApplyPlan(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                                const UpdatePlan& plan, uint64_t max_tokens) {
  return CatchOutOfMemory([&] { return Apply(prompt, updates, plan, max_tokens); });
}

Result<TokenLayout> LayoutFromPlan(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                                   const UpdatePlan& plan) {
  return CatchOutOfMemory([&] { return Layout(prompt, updates, plan); });
}

Status CheckPlan(Span<const ModalityUpdates> updates, const UpdatePlan& plan, bool refuse_surplus) {
  const bool same_shape =
      std::equal(plan.applied.begin(), plan.applied.end(), updates.begin(), updates.end(),
                 [](const std::vector<size_t>& applied, const ModalityUpdates& modality) {
                   return std::equal(
                       applied.begin(), applied.end(), modality.items.begin(), modality.items.end(),
                       [](size_t alternative, const auto& alternatives) {
                         return alternative == kNoAlternative || alternative < alternatives.size();
                       });
                 });
  if (!same_shape) return InvalidArgument("prompt: the plan was made for other updates");
  std::vector<size_t> surplus(updates.size(), 0);
  for (const SurplusPlaceholder& placeholder : plan.surplus) {
    if (placeholder.modality < surplus.size()) ++surplus[placeholder.modality];
  }
  size_t first_item = 0;
  for (size_t m = 0; m < updates.size(); ++m) {
    const auto& applied = plan.applied[m];
    const auto missing = std::find(applied.begin(), applied.end(), kNoAlternative);
    const size_t placed = applied.size() - static_cast<size_t>(std::count(
                                               applied.begin(), applied.end(), kNoAlternative));
    const std::string counts = "prompt: " + std::to_string(applied.size()) + " " +
                               updates[m].modality + " item(s) but " +
                               std::to_string(placed + surplus[m]) + " placeholder(s): ";
    if (missing != applied.end()) {
      const auto item = static_cast<size_t>(missing - applied.begin());
      return Error{ErrorCode::kInvalidArgument,
                   counts + "item " + std::to_string(item) + " has no place",
                   static_cast<int>(first_item + item)};
    }
    for (size_t item = 0; item < applied.size(); ++item) {
      if (!updates[m].items[item][applied[item]].content.tokens.empty()) continue;
      return Error{ErrorCode::kInvalidArgument,
                   "prompt: the content of " + updates[m].modality + " item " +
                       std::to_string(item) + " is empty",
                   static_cast<int>(first_item + item)};
    }
    if (refuse_surplus && surplus[m] > 0) {
      const auto extra = std::find_if(
          plan.surplus.begin(), plan.surplus.end(),
          [m](const SurplusPlaceholder& placeholder) { return placeholder.modality == m; });
      return InvalidArgument(counts + "the one at token " + std::to_string(extra->begin) +
                             " belongs to no item");
    }
    first_item += applied.size();
  }
  return Ok{};
}

}  // namespace mmcpp
