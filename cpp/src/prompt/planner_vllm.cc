// The rules of vLLM 0.33, in its rounds: every round each queue looks for its first match behind
// the scan position, one mode is chosen, and what was applied last moves the position, forward or
// (a place before it) backward. Only updates that mix modes or name places need this.
#include <algorithm>
#include <optional>
#include <tuple>

#include "prompt/planner.h"
#include "prompt/single_search.h"

namespace mmcpp::prompt {
namespace {

/// First occurrences of one pattern, remembered until the scan passes them.
class FirstMatches {
 public:
  explicit FirstMatches(Span<const int64_t> pattern) : search_(pattern) {}

  size_t length() const { return search_.pattern().size(); }

  size_t From(Span<const int64_t> prompt, size_t from) {
    const bool known = from >= asked_ && (begin_ == kNoPosition || from <= begin_);
    if (!known || !searched_) {
      begin_ = search_.First(prompt, from, kNoPosition);
      asked_ = from;
      searched_ = true;
    }
    return begin_;
  }

 private:
  SingleSearch search_;
  bool searched_ = false;
  size_t asked_ = 0;
  size_t begin_ = kNoPosition;
};

struct Candidate {
  size_t queue = 0;
  size_t alternative = 0;
  UpdateMode mode = UpdateMode::kReplace;
  size_t begin = 0, end = 0;
  size_t priority = 0;

  auto Order() const { return std::make_tuple(begin, end, priority); }
};

class VllmPlanner {
 public:
  VllmPlanner(PreparedUpdates* prepared, Span<const int64_t> prompt,
              Span<const ModalityUpdates> updates)
      : queues_(prepared->queues), prompt_(prompt) {
    // Patterns' tokens, by pattern: any update of the queue that has the pattern lends its own.
    std::vector<Span<const int64_t>> tokens(prepared->patterns.size());
    for (const Queue& queue : queues_) {
      const ItemName name = prepared->items[queue.items[0]];
      const auto& alternatives = updates[name.modality].items[name.item];
      for (size_t a = 0; a < alternatives.size(); ++a) {
        const int32_t pattern = queue.alternatives[a].pattern;
        if (pattern == PatternSet::kNone) continue;
        tokens[static_cast<size_t>(pattern)] = alternatives[a].target.tokens;
      }
    }
    for (const auto& pattern : tokens) matches_.emplace_back(pattern);
  }

  std::vector<Decision> Run() {
    while (Round()) {
    }
    return std::move(decisions_);
  }

 private:
  bool Round() {
    std::vector<Candidate> candidates;
    for (size_t q = 0; q < queues_.size(); ++q) {
      if (queues_[q].empty()) continue;
      if (const auto found = Search(q, std::nullopt)) candidates.push_back(*found);
    }
    if (candidates.empty()) return false;
    const auto by_priority = [](const Candidate& a, const Candidate& b) {
      return a.priority < b.priority;
    };
    const UpdateMode mode =
        std::min_element(candidates.begin(), candidates.end(), by_priority)->mode;

    std::vector<Candidate> chosen;
    std::optional<Candidate> replacing;
    for (Candidate candidate : candidates) {
      if (candidate.mode != mode) {
        const auto other = Search(candidate.queue, mode);
        if (!other) continue;
        candidate = *other;
      }
      if (mode == UpdateMode::kInsert || candidate.begin == candidate.end) {
        chosen.push_back(candidate);
      } else if (!replacing || candidate.Order() < replacing->Order()) {
        replacing = candidate;
      }
    }
    Apply(chosen, replacing);
    return true;
  }

  std::optional<Candidate> Search(size_t q, std::optional<UpdateMode> mode) {
    const Queue& queue = queues_[q];
    for (size_t a = 0; a < queue.alternatives.size(); ++a) {
      const Alternative& alternative = queue.alternatives[a];
      if (mode && alternative.mode != *mode) continue;
      size_t begin = alternative.place, length = 0;
      if (alternative.kind == UpdateTarget::Kind::kTokens) {
        if (alternative.pattern == PatternSet::kNone) continue;
        FirstMatches& matches = matches_[static_cast<size_t>(alternative.pattern)];
        begin = matches.From(prompt_, position_);
        length = matches.length();
      } else if (alternative.kind == UpdateTarget::Kind::kPrefix && position_ != 0) {
        continue;
      }
      if (begin == kNoPosition) continue;
      return Candidate{q, a, alternative.mode, begin, begin + length, queue.priority()};
    }
    return std::nullopt;
  }

  void Apply(const std::vector<Candidate>& whole, const std::optional<Candidate>& single) {
    const size_t first = decisions_.size();
    const auto serve = [this](const Candidate& candidate) {
      Queue& queue = queues_[candidate.queue];
      decisions_.push_back({queue.priority(), candidate.alternative, candidate.mode,
                            candidate.begin, candidate.end});
      ++queue.head;
    };
    for (const Candidate& candidate : whole) {
      while (!queues_[candidate.queue].empty()) serve(candidate);
    }
    if (single) serve(*single);
    std::sort(decisions_.begin() + static_cast<std::ptrdiff_t>(first), decisions_.end(),
              [](const Decision& a, const Decision& b) {
                return std::tie(a.begin, a.end, a.item) < std::tie(b.begin, b.end, b.item);
              });
    position_ = decisions_.back().end;
  }

  std::vector<Queue>& queues_;
  Span<const int64_t> prompt_;
  std::vector<FirstMatches> matches_;  // by pattern
  size_t position_ = 0;
  std::vector<Decision> decisions_;
};

}  // namespace

std::vector<Decision> PlanVllm(PreparedUpdates* prepared, Span<const int64_t> prompt,
                               Span<const ModalityUpdates> updates) {
  return VllmPlanner(prepared, prompt, updates).Run();
}

}  // namespace mmcpp::prompt
