// Expanding a prompt as a TokenLayout says. Two walks: the first checks every rule and sums the
// sizes, the second writes into memory of exactly that size and cannot fail.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/ensure.h"
#include "base/out_of_memory.h"
#include "mmcpp/prompt.h"

namespace mmcpp {
namespace {

std::string ItemText(size_t item) { return "layout: media item " + std::to_string(item); }

std::string RangeText(size_t begin, size_t end) {
  return std::to_string(begin) + ".." + std::to_string(end);
}

/// What a pattern puts into the prompt and which part of it counts as the item.
struct PatternSize {
  uint64_t tokens = 0;
  uint64_t content_begin = 0, content_end = 0;
};

PatternSize SizeOf(const TokenPattern& pattern) {
  if (const auto* repeat = std::get_if<RepeatPattern>(&pattern)) {
    return {repeat->count, 0, repeat->count};
  }
  const auto& explicit_ids = *std::get_if<ExplicitPattern>(&pattern);
  return {explicit_ids.ids.size(), explicit_ids.content_begin, explicit_ids.content_end};
}

/// The first walk: follows the segments through the source and sums what they give.
class LayoutChecker {
 public:
  LayoutChecker(size_t source_size, size_t item_count)
      : source_size_(source_size), placed_(item_count, false) {}

  Status Add(const TextRange& text) {
    if (text.begin > text.end || text.end > source_size_) {
      return InvalidArgument("layout: text range " + RangeText(text.begin, text.end) +
                             " out of bounds");
    }
    if (text.begin != consumed_) {
      return InvalidArgument("layout: text range " + RangeText(text.begin, text.end) +
                             " does not resume at source index " + std::to_string(consumed_));
    }
    consumed_ = text.end;
    AddTokens(text.end - text.begin);
    return Ok{};
  }

  Status Add(const MediaSegment& media) {
    if (media.source_tokens > source_size_ - consumed_) {
      return InvalidArgument(ItemText(media.item) + " has no source placeholder at index " +
                             std::to_string(consumed_));
    }
    consumed_ += media.source_tokens;
    const PatternSize size = SizeOf(media.pattern);
    if (size.tokens == 0) return InvalidArgument(ItemText(media.item) + " expands to zero tokens");
    if (media.item >= placed_.size()) {
      return InvalidArgument(ItemText(media.item) + " out of range");
    }
    if (placed_[media.item]) return InvalidArgument(ItemText(media.item) + " placed twice");
    if (size.content_begin >= size.content_end || size.content_end > size.tokens) {
      return InvalidArgument(ItemText(media.item) + " content range " +
                             RangeText(size.content_begin, size.content_end) + " outside its " +
                             std::to_string(size.tokens) + " token(s)");
    }
    placed_[media.item] = true;
    AddTokens(size.tokens);
    return Ok{};
  }

  Status Finish(uint64_t max_tokens) const {
    if (consumed_ != source_size_) {
      return InvalidArgument("layout: covers " + std::to_string(consumed_) + " of " +
                             std::to_string(source_size_) + " source token(s)");
    }
    const auto missing = std::find(placed_.begin(), placed_.end(), false);
    if (missing != placed_.end()) {
      return InvalidArgument(ItemText(static_cast<size_t>(missing - placed_.begin())) +
                             " not placed");
    }
    const uint64_t limit = std::min(max_tokens, uint64_t{1} << 32);  // offsets are 32 bits wide
    if (tokens_ > limit) {
      return Error{ErrorCode::kLimitExceeded, "layout: the prompt expands to " +
                                                  std::to_string(tokens_) +
                                                  " tokens, the limit is " + std::to_string(limit)};
    }
    return Ok{};
  }

  /// At most the limit once Finish succeeded.
  uint64_t tokens() const { return tokens_; }

 private:
  void AddTokens(uint64_t count) {
    // A sum beyond 64 bits is beyond every limit; it stays at the top.
    if (!CheckedAdd(tokens_, count, &tokens_)) tokens_ = std::numeric_limits<uint64_t>::max();
  }

  size_t source_size_;
  size_t consumed_ = 0;
  uint64_t tokens_ = 0;
  std::vector<bool> placed_;
};

void Append(const TokenPattern& pattern, std::vector<int64_t>* ids) {
  if (const auto* repeat = std::get_if<RepeatPattern>(&pattern)) {
    ids->insert(ids->end(), static_cast<size_t>(repeat->count), repeat->id);
  } else {
    const auto& explicit_ids = std::get_if<ExplicitPattern>(&pattern)->ids;
    ids->insert(ids->end(), explicit_ids.begin(), explicit_ids.end());
  }
}

Result<ExpandedPrompt> Apply(Span<const int64_t> input_ids, const TokenLayout& layout,
                             size_t item_count, uint64_t max_tokens) {
  LayoutChecker checker(input_ids.size(), item_count);
  for (const Segment& segment : layout.segments) {
    MMCPP_TRY(std::visit([&](const auto& part) { return checker.Add(part); }, segment));
  }
  MMCPP_TRY(checker.Finish(max_tokens));

  ExpandedPrompt prompt;
  prompt.input_ids.reserve(static_cast<size_t>(checker.tokens()));
  prompt.offsets.resize(item_count);
  for (const Segment& segment : layout.segments) {
    if (const auto* text = std::get_if<TextRange>(&segment)) {
      prompt.input_ids.insert(prompt.input_ids.end(), input_ids.begin() + text->begin,
                              input_ids.begin() + text->end);
      continue;
    }
    const auto& media = *std::get_if<MediaSegment>(&segment);
    const PatternSize size = SizeOf(media.pattern);
    const uint64_t start = prompt.input_ids.size();
    prompt.offsets[media.item] = {static_cast<uint32_t>(start + size.content_begin),
                                  static_cast<uint32_t>(start + size.content_end - 1)};
    Append(media.pattern, &prompt.input_ids);
  }
  return prompt;
}

Result<TokenLayout> ByPattern(Span<const int64_t> input_ids, int64_t placeholder,
                              std::vector<TokenPattern> patterns) {
  const auto found =
      static_cast<size_t>(std::count(input_ids.begin(), input_ids.end(), placeholder));
  if (found != patterns.size()) {
    return InvalidArgument("prompt has " + std::to_string(found) + " media placeholder(s) but " +
                           std::to_string(patterns.size()) + " media item(s)");
  }
  TokenLayout layout;
  layout.segments.reserve(2 * found + 1);
  size_t text_begin = 0;
  size_t item = 0;
  for (size_t i = 0; i < input_ids.size(); ++i) {
    if (input_ids[i] != placeholder) continue;
    if (text_begin < i) layout.segments.emplace_back(TextRange{text_begin, i});
    layout.segments.emplace_back(MediaSegment{item, std::move(patterns[item])});
    ++item;
    text_begin = i + 1;
  }
  if (text_begin < input_ids.size()) {
    layout.segments.emplace_back(TextRange{text_begin, input_ids.size()});
  }
  return layout;
}

}  // namespace

Result<ExpandedPrompt> ApplyLayout(Span<const int64_t> input_ids, const TokenLayout& layout,
                                   size_t item_count, uint64_t max_tokens) {
  return CatchOutOfMemory([&] { return Apply(input_ids, layout, item_count, max_tokens); });
}

Result<TokenLayout> LayoutByPlaceholder(Span<const int64_t> input_ids, int64_t placeholder,
                                        Span<const uint64_t> counts) {
  return CatchOutOfMemory([&] {
    std::vector<TokenPattern> patterns;
    patterns.reserve(counts.size());
    for (const uint64_t count : counts) patterns.emplace_back(RepeatPattern{placeholder, count});
    return ByPattern(input_ids, placeholder, std::move(patterns));
  });
}

Result<TokenLayout> LayoutByPattern(Span<const int64_t> input_ids, int64_t placeholder,
                                    std::vector<TokenPattern> patterns) {
  return CatchOutOfMemory([&] { return ByPattern(input_ids, placeholder, std::move(patterns)); });
}

}  // namespace mmcpp
