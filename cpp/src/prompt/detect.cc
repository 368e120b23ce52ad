// Were the updates applied already? Contents that stand in item order say yes, targets outside them
// say what is left to do; if the targets explain the prompt as well as the contents do, nothing in
// the prompt can tell.
#include <algorithm>
#include <string>
#include <utility>

#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "mmcpp/prompt_update.h"
#include "prompt/content_scan.h"
#include "prompt/pattern_set.h"
#include "prompt/planner.h"

namespace mmcpp {
namespace {

using prompt::kNoPosition;
using prompt::PatternSet;

/// Stands for tokens that belong to a content already; no token id and no code point.
constexpr int64_t kTaken = std::numeric_limits<int64_t>::min();

/// Where each content occurs for the last time.
class ContentIndex {
 public:
  static Result<ContentIndex> Make(Span<const int64_t> prompt,
                                   Span<const ModalityUpdates> updates) {
    ContentIndex index;
    PatternSet patterns;
    for (const ModalityUpdates& modality : updates) {
      auto& items = index.contents_.emplace_back();
      for (const auto& alternatives : modality.items) {
        auto& contents = items.emplace_back();
        for (const PromptUpdate& update : alternatives) {
          if (update.content.tokens.empty()) continue;
          MMCPP_ASSIGN(const int32_t pattern, patterns.Add(update.content.tokens));
          contents.push_back(pattern);
        }
      }
    }
    patterns.Build();
    index.last_starts_ = patterns.LastStarts(patterns.Scan(prompt));
    return index;
  }

  /// The last place of any content of the item, or kNoPosition.
  size_t LastStart(size_t modality, size_t item) const {
    size_t last = kNoPosition;
    for (const int32_t pattern : contents_[modality][item]) {
      const size_t start = last_starts_[static_cast<size_t>(pattern)];
      if (start != kNoPosition && (last == kNoPosition || start > last)) last = start;
    }
    return last;
  }

 private:
  std::vector<std::vector<std::vector<int32_t>>> contents_;  // by modality, item
  std::vector<size_t> last_starts_;                          // by pattern
};

/// The updates of items that were not found. What the others replace stays a placeholder.
struct Rest {
  std::vector<ModalityUpdates> updates;
  std::vector<std::vector<size_t>> items;  // by modality: the items' numbers in the whole
};

Rest WithoutFound(Span<const ModalityUpdates> updates, const std::vector<Placement>& found) {
  Rest rest;
  size_t next = 0;
  for (size_t m = 0; m < updates.size(); ++m) {
    ModalityUpdates modality{updates[m].modality, {}, updates[m].placeholders};
    auto& numbers = rest.items.emplace_back();
    for (size_t i = 0; i < updates[m].items.size(); ++i) {
      if (next == found.size() || found[next].modality != m || found[next].item != i) {
        modality.items.push_back(updates[m].items[i]);
        numbers.push_back(i);
        continue;
      }
      ++next;
      for (const PromptUpdate& update : updates[m].items[i]) {
        if (update.mode == UpdateMode::kReplace &&
            update.target.kind == UpdateTarget::Kind::kTokens) {
          modality.placeholders.push_back(update.target.tokens);
        }
      }
    }
    rest.updates.push_back(std::move(modality));
  }
  return rest;
}

std::vector<MissingItem> Missing(const Rest& rest, const UpdatePlan& plan,
                                 const ContentIndex& contents) {
  std::vector<std::vector<MissingItem>> missing;
  for (size_t m = 0; m < rest.items.size(); ++m) {
    auto& items = missing.emplace_back();
    for (const size_t item : rest.items[m]) {
      items.push_back({m, item, kNowhere, kNowhere, contents.LastStart(m, item)});
    }
  }
  for (const PlannedUpdate& planned : plan.updates) {
    MissingItem& item = missing[planned.modality][planned.item];
    item.target_begin = planned.begin;
    item.target_end = planned.end;
  }
  std::vector<MissingItem> all;
  for (const auto& items : missing) all.insert(all.end(), items.begin(), items.end());
  return all;
}

/// Whether a plan accounts for the whole prompt as unapplied. An insertion keeps its target, so it
/// says something only where its content could be more targets.
bool Explains(Span<const ModalityUpdates> updates, const UpdatePlan& plan) {
  for (size_t m = 0; m < plan.applied.size(); ++m) {
    for (size_t i = 0; i < plan.applied[m].size(); ++i) {
      if (plan.applied[m][i] == kNoAlternative) return false;
      const PromptUpdate& update = updates[m].items[i][plan.applied[m][i]];
      if (update.mode == UpdateMode::kReplace &&
          update.target.kind == UpdateTarget::Kind::kTokens) {
        continue;
      }
      const auto& target = update.target.tokens;
      const auto& content = update.content.tokens;
      const bool only_target = std::all_of(content.begin(), content.end(), [&](int64_t token) {
        return std::find(target.begin(), target.end(), token) != target.end();
      });
      if (!only_target) return false;
    }
  }
  return true;
}

Result<UpdateDetection> Detect(Span<const int64_t> prompt, Span<const ModalityUpdates> updates) {
  MMCPP_TRY(prompt::CheckContents(updates));
  MMCPP_ASSIGN(const ContentIndex contents, ContentIndex::Make(prompt, updates));
  UpdateDetection detection;
  detection.found =
      prompt::ContentScan(prompt, updates, [&](size_t modality, size_t item, size_t from) {
        const size_t last = contents.LastStart(modality, item);
        return last == kNoPosition || last < from;
      }).Run();

  std::vector<int64_t> outside(prompt.begin(), prompt.end());
  for (const Placement& placement : detection.found) {
    std::fill_n(outside.begin() + static_cast<std::ptrdiff_t>(placement.start), placement.length,
                kTaken);
  }
  const Rest rest = WithoutFound(updates, detection.found);
  MMCPP_ASSIGN(UpdatePlan to_do, PlanUpdates(outside, rest.updates));
  detection.missing = Missing(rest, to_do, contents);
  detection.surplus = std::move(to_do.surplus);

  if (!detection.missing.empty()) {
    detection.state = detection.found.empty() ? UpdateState::kNotApplied : UpdateState::kPartial;
  }
  if (detection.found.empty()) return detection;
  MMCPP_ASSIGN(const UpdatePlan unapplied, PlanUpdates(prompt, updates));
  if (unapplied.surplus.size() <= detection.surplus.size() && Explains(updates, unapplied)) {
    detection.ambiguous = true;
    detection.reason = "the targets of all items stand in the prompt and leave " +
                       std::to_string(unapplied.surplus.size()) +
                       " placeholder(s) over, the contents " +
                       std::to_string(detection.surplus.size());
  }
  return detection;
}

}  // namespace

const char* UpdateStateName(UpdateState state) noexcept {
  switch (state) {
    case UpdateState::kApplied:
      return "applied";
    case UpdateState::kNotApplied:
      return "not_applied";
    case UpdateState::kPartial:
      return "partial";
  }
  return "unknown";
}

Result<UpdateDetection> DetectUpdates(Span<const int64_t> prompt,
                                      Span<const ModalityUpdates> updates) {
  return CatchOutOfMemory([&] { return Detect(prompt, updates); });
}

}  // namespace mmcpp
