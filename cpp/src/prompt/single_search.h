// One token sequence searched from left to right in steps that the caller paces: the part of
// Knuth-Morris-Pratt that lets several searches share one scan and start again further on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "mmcpp/span.h"

namespace mmcpp::prompt {

class SingleSearch {
 public:
  /// `pattern` is borrowed and not empty.
  explicit SingleSearch(Span<const int64_t> pattern) : pattern_(pattern), borders_(pattern.size()) {
    size_t border = 0;
    for (size_t i = 1; i < pattern.size(); ++i) {
      while (border > 0 && pattern[i] != pattern[border]) border = borders_[border - 1];
      if (pattern[i] == pattern[border]) ++border;
      borders_[i] = border;
    }
  }

  Span<const int64_t> pattern() const { return pattern_; }

  /// No match begins before this.
  size_t earliest() const { return read_ - matched_; }
  /// A match stands at earliest().
  bool found() const { return matched_ == pattern_.size(); }
  /// No further match fits into a prompt of `size`.
  bool exhausted(size_t size) const {
    return pattern_.size() > size || earliest() > size - pattern_.size();
  }

  /// Starts over: matches may begin at `from` or later, where nothing has been read yet.
  void Start(size_t from) {
    read_ = from;
    matched_ = 0;
  }

  /// Gives up matches that begin before `from`; what was read stays read.
  void SkipTo(size_t from) {
    while (matched_ > 0 && earliest() < from) matched_ = borders_[matched_ - 1];
    if (matched_ == 0) read_ = std::max(read_, from);
  }

  /// Reads on until a match is found, earliest() grows or the prompt ends. Needs !found().
  void Advance(Span<const int64_t> prompt) {
    if (matched_ == 0) {
      const int64_t* hit = std::find(prompt.begin() + read_, prompt.end(), pattern_[0]);
      const size_t at = static_cast<size_t>(hit - prompt.begin());
      const bool moved = at > read_;
      read_ = at;
      if (moved || at == prompt.size()) return;
    }
    while (read_ < prompt.size() && !found()) {
      if (prompt[read_] != pattern_[matched_]) {
        matched_ = borders_[matched_ - 1];  // matched_ > 0: the first token is known to match
        return;
      }
      ++matched_;
      ++read_;
    }
  }

  /// The first match that begins at `from` or later, or `none`.
  size_t First(Span<const int64_t> prompt, size_t from, size_t none) {
    for (Start(from); !exhausted(prompt.size()); Advance(prompt)) {
      if (found()) return earliest();
    }
    return none;
  }

 private:
  Span<const int64_t> pattern_;
  std::vector<size_t> borders_;  // [i]: longest proper prefix of pattern[0..i] that is its suffix
  size_t read_ = 0;              // prompt tokens before this have been compared
  size_t matched_ = 0;           // pattern tokens that end at read_
};

}  // namespace mmcpp::prompt
