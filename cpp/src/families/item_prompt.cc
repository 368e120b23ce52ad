// Runs of one token and marks between fixed neighbours.
#include "families/item_prompt.h"

#include <utility>

#include "base/ensure.h"
#include "mmcpp/prompt.h"

namespace mmcpp::families {

ItemPrompt ItemPrompt::Read(SpecReader* spec) {
  ItemPrompt prompt;
  prompt.token = spec->Int("image_token_id", INT64_MIN, INT64_MAX);
  prompt.placeholder = spec->IntOr("placeholder_token_id", INT64_MIN, INT64_MAX, prompt.token);
  prompt.prefix = spec->Ints("prefix_token_ids");
  prompt.suffix = spec->Ints("suffix_token_ids");
  return prompt;
}

TokenPattern ItemPrompt::Pattern(uint64_t tokens) const {
  const uint64_t content = tokens - prefix.size() - suffix.size();
  if (prefix.empty() && suffix.empty()) return RepeatPattern{token, content};
  ExplicitPattern pattern;
  pattern.ids.reserve(static_cast<size_t>(tokens));
  pattern.ids = prefix;
  pattern.ids.insert(pattern.ids.end(), static_cast<size_t>(content), token);
  pattern.ids.insert(pattern.ids.end(), suffix.begin(), suffix.end());
  pattern.content_begin = prefix.size();
  pattern.content_end = prefix.size() + static_cast<size_t>(content);
  return pattern;
}

Result<TokenLayout> ItemPrompt::Layout(Span<const int64_t> input_ids,
                                       Span<const ItemPlan> items) const {
  std::vector<TokenPattern> patterns;
  patterns.reserve(items.size());
  for (const ItemPlan& item : items) patterns.push_back(Pattern(item.tokens));
  return LayoutByPattern(input_ids, placeholder, std::move(patterns));
}

Result<TokenLayout> ItemPrompt::Layout(
    Span<const int64_t> input_ids, Span<const ItemPlan> items,
    const std::function<void(const ItemPlan&, ItemTokens*)>& write) const {
  std::vector<TokenPattern> patterns;
  patterns.reserve(items.size());
  for (const ItemPlan& item : items) {
    ExplicitPattern pattern;
    pattern.ids.reserve(static_cast<size_t>(item.tokens));
    pattern.ids = prefix;
    pattern.content_begin = pattern.ids.size();
    ItemTokens tokens(token, &pattern.ids);
    write(item, &tokens);
    pattern.content_end = pattern.ids.size();
    pattern.ids.insert(pattern.ids.end(), suffix.begin(), suffix.end());
    patterns.emplace_back(std::move(pattern));
  }
  return LayoutByPattern(input_ids, placeholder, std::move(patterns));
}

}  // namespace mmcpp::families
