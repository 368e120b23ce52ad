// Building and running the automaton. Its states are suffixes of patterns, because prompts are read
// backwards; building costs the patterns' total length, scanning the prompt's.
#include "prompt/pattern_set.h"

#include <algorithm>
#include <string>

#include "base/ensure.h"

namespace mmcpp::prompt {
namespace {

uint64_t EdgeKey(int32_t state, uint32_t symbol) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(state)) << 32) | symbol;
}

}  // namespace

Result<int32_t> PatternSet::Add(Span<const int64_t> tokens) {
  if (tokens.empty()) return InvalidArgument("patterns: one has no tokens");
  constexpr size_t kMaxStates = std::numeric_limits<int32_t>::max();
  if (tokens.size() > kMaxStates - states_.size()) {
    return Error{ErrorCode::kLimitExceeded,
                 "patterns: more than " + std::to_string(kMaxStates) + " tokens in all"};
  }
  int32_t state = 0;
  for (size_t i = tokens.size(); i-- > 0;) {
    const uint32_t next_symbol = static_cast<uint32_t>(symbols_.size());
    const uint32_t symbol = symbols_.try_emplace(tokens[i], next_symbol).first->second;
    const int32_t child = Child(state, symbol);
    state = child != kNone ? child : AddChild(state, symbol);
  }
  if (At(state).pattern == kNone) {
    At(state).pattern = static_cast<int32_t>(lengths_.size());
    lengths_.push_back(tokens.size());
    end_state_.push_back(state);
  }
  return At(state).pattern;
}

int32_t PatternSet::Child(int32_t state, uint32_t symbol) const {
  const State& parent = At(state);
  if (parent.child == kNone) return kNone;
  if (parent.child_symbol == symbol) return parent.child;
  const auto edge = edges_.find(EdgeKey(state, symbol));
  return edge == edges_.end() ? kNone : edge->second;
}

int32_t PatternSet::AddChild(int32_t parent, uint32_t symbol) {
  const auto child = static_cast<int32_t>(states_.size());
  State state;
  state.parent = parent;
  state.depth = At(parent).depth + 1;
  state.symbol = symbol;
  states_.push_back(state);
  if (At(parent).child == kNone) {
    At(parent).child = child;
    At(parent).child_symbol = symbol;
  } else {
    edges_.emplace(EdgeKey(parent, symbol), child);
  }
  return child;
}

void PatternSet::Build() {
  // Counting sort by depth: a state's failure target is less deep than it is.
  int32_t max_depth = 0;
  for (const State& state : states_) max_depth = std::max(max_depth, state.depth);
  std::vector<size_t> begin(static_cast<size_t>(max_depth) + 2, 0);
  for (const State& state : states_) ++begin[static_cast<size_t>(state.depth) + 1];
  for (size_t depth = 1; depth < begin.size(); ++depth) begin[depth] += begin[depth - 1];
  by_depth_.resize(states_.size());
  for (size_t i = 0; i < states_.size(); ++i) {
    by_depth_[begin[static_cast<size_t>(states_[i].depth)]++] = static_cast<int32_t>(i);
  }
  for (const int32_t index : by_depth_) {
    if (index == 0) continue;
    State& state = At(index);
    state.fail = state.depth == 1 ? 0 : Next(At(state.parent).fail, state.symbol);
    const State& fail = At(state.fail);
    state.longest = state.pattern != kNone ? state.pattern : fail.longest;
    state.shortest = fail.shortest != kNone ? fail.shortest : state.pattern;
  }
}

int32_t PatternSet::Next(int32_t state, uint32_t symbol) const {
  for (;;) {
    const int32_t child = Child(state, symbol);
    if (child != kNone) return child;
    if (state == 0) return 0;
    state = At(state).fail;
  }
}

std::vector<int32_t> PatternSet::Scan(Span<const int64_t> prompt) const {
  std::vector<int32_t> states(prompt.size(), 0);
  if (lengths_.empty()) return states;
  int32_t state = 0;
  auto symbol = symbols_.end();
  for (size_t i = prompt.size(); i-- > 0;) {
    // Placeholders come in runs: the look-up of the token before is often the one needed.
    if (symbol == symbols_.end() || symbol->first != prompt[i]) symbol = symbols_.find(prompt[i]);
    state = symbol == symbols_.end() ? 0 : Next(state, symbol->second);
    states[i] = state;
  }
  return states;
}

std::vector<size_t> PatternSet::LastStarts(Span<const int32_t> states) const {
  std::vector<size_t> last(states_.size(), kNoPosition);
  for (size_t i = 0; i < states.size(); ++i) last[static_cast<size_t>(states[i])] = i;
  // What begins with a longer suffix begins with all of its own suffixes.
  for (size_t i = by_depth_.size(); i-- > 0;) {
    const auto state = static_cast<size_t>(by_depth_[i]);
    const auto fail = static_cast<size_t>(states_[state].fail);
    if (last[state] == kNoPosition) continue;
    if (last[fail] == kNoPosition || last[fail] < last[state]) last[fail] = last[state];
  }
  std::vector<size_t> starts(lengths_.size());
  for (size_t pattern = 0; pattern < starts.size(); ++pattern) {
    starts[pattern] = last[static_cast<size_t>(end_state_[pattern])];
  }
  return starts;
}

}  // namespace mmcpp::prompt
