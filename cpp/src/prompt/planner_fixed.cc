// The default rules: one pass over the prompt, in which queues wait at the pattern they look for.
// A queue whose pattern occurs no more moves on to its next alternative, so each queue visits each
// alternative once and each prompt position is looked at once.
#include <algorithm>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "prompt/planner.h"

namespace mmcpp::prompt {
namespace {

class FixedPlanner {
 public:
  FixedPlanner(PreparedUpdates* prepared, Span<const int32_t> states)
      : patterns_(prepared->patterns),
        queues_(prepared->queues),
        states_(states),
        last_starts_(patterns_.LastStarts(states)),
        waiting_(2 * patterns_.size()) {
    for (size_t p = 0; p < last_starts_.size(); ++p) {
      if (last_starts_[p] != kNoPosition) by_last_start_.push_back(static_cast<int32_t>(p));
    }
    std::sort(by_last_start_.begin(), by_last_start_.end(),
              [this](int32_t a, int32_t b) { return LastStart(a) < LastStart(b); });
  }

  std::vector<Decision> Run() {
    for (size_t q = 0; q < queues_.size(); ++q) Enter(q, 0);
    size_t at = 0;
    while (waiting_count_ > 0 && at < states_.size()) {
      Expire(at);
      at = Visit(at);
    }
    Expire(states_.size());
    SortByPlace();
    return std::move(decisions_);
  }

 private:
  using Waiting = std::pair<size_t, size_t>;  // priority, queue
  using Bucket = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>>;

  size_t LastStart(int32_t pattern) const { return last_starts_[static_cast<size_t>(pattern)]; }
  Bucket& BucketOf(int32_t pattern, UpdateMode mode) {
    return waiting_[2 * static_cast<size_t>(pattern) + (mode == UpdateMode::kInsert ? 0 : 1)];
  }

  /// Lets a queue wait for its first alternative that has a match at `from` or later, or serves it
  /// whole where that alternative is a place.
  void Enter(size_t q, size_t from) {
    Queue& queue = queues_[q];
    for (; queue.alternative < queue.alternatives.size(); ++queue.alternative) {
      const Alternative& alternative = queue.alternatives[queue.alternative];
      if (alternative.kind != UpdateTarget::Kind::kTokens) {
        if (alternative.place == kNoPosition || InsideReplaced(alternative.place)) continue;
        kept_places_.insert(alternative.place);
        Drain(&queue, alternative.place, alternative.place);
        return;
      }
      if (alternative.pattern == PatternSet::kNone) continue;
      const size_t last = LastStart(alternative.pattern);
      if (last == kNoPosition || last < from) continue;
      BucketOf(alternative.pattern, alternative.mode).push({queue.priority(), q});
      ++waiting_count_;
      return;
    }
  }

  /// Sends on the queues that wait for patterns whose last occurrence begins before `at`.
  void Expire(size_t at) {
    while (expired_ < by_last_start_.size() && LastStart(by_last_start_[expired_]) < at) {
      const int32_t pattern = by_last_start_[expired_++];
      for (const UpdateMode mode : {UpdateMode::kInsert, UpdateMode::kReplace}) {
        for (Bucket& bucket = BucketOf(pattern, mode); !bucket.empty();) Enter(Take(&bucket), at);
      }
    }
  }

  size_t Take(Bucket* bucket) {
    const size_t q = bucket->top().second;
    bucket->pop();
    --waiting_count_;
    return q;
  }

  /// Serves what matches at `at`, shorter patterns first; returns where to go on.
  size_t Visit(size_t at) {
    matches_.clear();
    for (int32_t pattern = patterns_.Longest(states_[at]); pattern != PatternSet::kNone;
         pattern = patterns_.NextShorter(pattern)) {
      matches_.push_back(pattern);
    }
    for (size_t i = matches_.size(); i-- > 0;) {
      const int32_t pattern = matches_[i];
      const size_t end = at + patterns_.length(pattern);
      Bucket& inserting = BucketOf(pattern, UpdateMode::kInsert);
      Bucket& replacing = BucketOf(pattern, UpdateMode::kReplace);
      if (CanReplace(replacing, inserting, at, end)) {
        const size_t q = Take(&replacing);
        Serve(&queues_[q], at, end);
        replaced_.push_back({at, end});
        if (!queues_[q].empty()) Enter(q, end);
        return end;
      }
      if (!inserting.empty()) kept_until_ = std::max(kept_until_, end);
      while (!inserting.empty()) Drain(&queues_[Take(&inserting)], at, end);
    }
    return at + 1;
  }

  bool CanReplace(const Bucket& replacing, const Bucket& inserting, size_t at, size_t end) const {
    if (replacing.empty() || at < kept_until_) return false;
    if (!inserting.empty() && inserting.top() < replacing.top()) return false;
    const auto place = kept_places_.upper_bound(at);
    return place == kept_places_.end() || *place >= end;
  }

  bool InsideReplaced(size_t place) const {
    // Replaced spans are disjoint and in order: the last one that begins before the place decides.
    const auto after = std::lower_bound(
        replaced_.begin(), replaced_.end(), place,
        [](const TextRange& span, size_t position) { return span.begin < position; });
    return after != replaced_.begin() && std::prev(after)->end > place;
  }

  void Serve(Queue* queue, size_t begin, size_t end) {
    const UpdateMode mode = queue->alternatives[queue->alternative].mode;
    decisions_.push_back({queue->priority(), queue->alternative, mode, begin, end});
    ++queue->head;
  }

  void Drain(Queue* queue, size_t begin, size_t end) {
    while (!queue->empty()) Serve(queue, begin, end);
  }

  /// By where the content goes; what stands before a place comes before what replaces behind it.
  void SortByPlace() {
    const auto key = [](const Decision& decision) {
      const bool replaces = decision.mode == UpdateMode::kReplace && decision.begin < decision.end;
      const size_t place = replaces ? decision.begin : decision.end;
      return std::make_tuple(place, replaces, decision.begin, decision.item);
    };
    std::sort(decisions_.begin(), decisions_.end(),
              [&](const Decision& a, const Decision& b) { return key(a) < key(b); });
  }

  const PatternSet& patterns_;
  std::vector<Queue>& queues_;
  Span<const int32_t> states_;
  std::vector<size_t> last_starts_;
  std::vector<int32_t> by_last_start_;
  size_t expired_ = 0;           // patterns of by_last_start_ that were expired
  std::vector<Bucket> waiting_;  // by pattern and mode
  size_t waiting_count_ = 0;
  std::vector<TextRange> replaced_;
  std::set<size_t> kept_places_;  // no replaced span may reach over one
  size_t kept_until_ = 0;         // end of the furthest target that an insertion keeps
  std::vector<int32_t> matches_;
  std::vector<Decision> decisions_;
};

}  // namespace

std::vector<Decision> PlanFixed(PreparedUpdates* prepared, Span<const int32_t> states) {
  return FixedPlanner(prepared, states).Run();
}

}  // namespace mmcpp::prompt
