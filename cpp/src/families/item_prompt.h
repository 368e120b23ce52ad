// How an item stands in a prompt: one run of the same token, or runs with marks between them, with
// or without tokens around it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "families/spec.h"
#include "mmcpp/family.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::families {

/// Writes an item's own tokens, one after another.
class ItemTokens {
 public:
  ItemTokens(int64_t token, std::vector<int64_t>* ids) : token_(token), ids_(*ids) {}

  /// The token that a model puts the feature in place of, so often.
  void AddRun(uint64_t count) { ids_.insert(ids_.end(), static_cast<size_t>(count), token_); }
  void Add(const std::vector<int64_t>& marks) {
    ids_.insert(ids_.end(), marks.begin(), marks.end());
  }
  void Add(int64_t mark) { ids_.push_back(mark); }

 private:
  const int64_t token_;
  std::vector<int64_t>& ids_;
};

/// A prompt's `placeholder` becomes prefix, n times `token`, suffix; only the run in the middle is
/// the item's content.
struct ItemPrompt {
  int64_t token = 0;
  int64_t placeholder = 0;
  std::vector<int64_t> prefix, suffix;
  /// The tokens of 1, 2, ... line breaks, of a tokenizer that takes the longest: those around an
  /// item become one run with those beside it, as where the text is expanded before it is cut into
  /// tokens. An item takes fewer tokens then than its plan has.
  std::vector<int64_t> lines;

  /// Keys: image_token_id; optional placeholder_token_id (image_token_id unless given),
  /// prefix_token_ids, suffix_token_ids and line_token_ids (none).
  static ItemPrompt Read(SpecReader* spec);

  /// Tokens that an item with `content` tokens of its own takes in the prompt.
  uint64_t TokensWith(uint64_t content) const { return content + prefix.size() + suffix.size(); }
  /// What an item of so many tokens becomes; `tokens` is TokensWith(content).
  TokenPattern Pattern(uint64_t tokens) const;
  /// Every item by its plan's tokens. kInvalidArgument unless placeholders and items are as many.
  Result<TokenLayout> Layout(Span<const int64_t> input_ids, Span<const ItemPlan> items) const;
  /// Every item by the tokens that `write` gives between prefix and suffix: as many as its plan
  /// has.
  Result<TokenLayout> Layout(Span<const int64_t> input_ids, Span<const ItemPlan> items,
                             const std::function<void(const ItemPlan&, ItemTokens*)>& write) const;

 private:
  /// LayoutByPattern, with one run of line breaks where two meet.
  Result<TokenLayout> ByPattern(Span<const int64_t> input_ids,
                                std::vector<TokenPattern> patterns) const;
};

}  // namespace mmcpp::families
