// Many token sequences searched in one pass: an Aho-Corasick automaton over the reversed patterns,
// so that reading a prompt from its end tells for each position which patterns begin there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::prompt {

constexpr size_t kNoPosition = std::numeric_limits<size_t>::max();

class PatternSet {
 public:
  static constexpr int32_t kNone = -1;

  /// The pattern's number; equal patterns have one. kInvalidArgument for no tokens,
  /// kLimitExceeded beyond 2^31 - 1 tokens in all.
  Result<int32_t> Add(Span<const int64_t> tokens);

  /// Completes the automaton; call once, after the last Add.
  void Build();

  size_t size() const { return lengths_.size(); }
  size_t length(int32_t pattern) const { return lengths_[static_cast<size_t>(pattern)]; }

  /// For each position of the prompt the automaton's state, from which PatternsAt reads.
  std::vector<int32_t> Scan(Span<const int64_t> prompt) const;

  /// Where each pattern begins for the last time, or kNoPosition; from Scan's states.
  std::vector<size_t> LastStarts(Span<const int32_t> states) const;

  /// The longest pattern that begins at a position of this state, or kNone.
  int32_t Longest(int32_t state) const { return At(state).longest; }
  /// The next shorter pattern that begins where `pattern` does, or kNone.
  int32_t NextShorter(int32_t pattern) const {
    return At(At(end_state_[static_cast<size_t>(pattern)]).fail).longest;
  }
  /// The shortest pattern that begins at a position of this state, or kNone.
  int32_t Shortest(int32_t state) const { return At(state).shortest; }

 private:
  struct State {
    int32_t parent = 0, depth = 0;
    uint32_t symbol = 0;  // on the edge from the parent
    int32_t fail = 0;     // the state of the longest proper suffix
    int32_t pattern = kNone;
    int32_t longest = kNone, shortest = kNone;
    // The first child is kept here, being the only one of most states; the others are in edges_.
    uint32_t child_symbol = 0;
    int32_t child = kNone;
  };
  const State& At(int32_t state) const { return states_[static_cast<size_t>(state)]; }
  State& At(int32_t state) { return states_[static_cast<size_t>(state)]; }
  int32_t Child(int32_t state, uint32_t symbol) const;
  int32_t AddChild(int32_t parent, uint32_t symbol);
  int32_t Next(int32_t state, uint32_t symbol) const;

  std::unordered_map<int64_t, uint32_t> symbols_;  // tokens that occur in patterns, densely
  std::unordered_map<uint64_t, int32_t> edges_;    // by state and symbol
  std::vector<State> states_ = {State{}};
  std::vector<int32_t> by_depth_;   // all states, the root first
  std::vector<int32_t> end_state_;  // by pattern
  std::vector<size_t> lengths_;     // by pattern
};

}  // namespace mmcpp::prompt
