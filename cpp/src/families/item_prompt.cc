// Runs of one token and marks between fixed neighbours.
#include "families/item_prompt.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ensure.h"
#include "mmcpp/prompt.h"

namespace mmcpp::families {
namespace {

// Joins the runs of line breaks where an item and its neighbours meet.
class LineJoiner {
 public:
  LineJoiner(Span<const int64_t> input_ids, const std::vector<int64_t>& lines)
      : ids_(input_ids), lines_(lines) {}

  std::vector<Segment> Join(std::vector<Segment> segments) const {
    std::vector<Segment> joined;
    joined.reserve(segments.size());
    for (size_t i = 0; i < segments.size(); ++i) {
      if (auto* text = std::get_if<TextRange>(&segments[i])) {
        if (text->begin < text->end) joined.push_back(*text);
        continue;
      }
      auto& media = *std::get_if<MediaSegment>(&segments[i]);
      auto* own = std::get_if<ExplicitPattern>(&media.pattern);
      if (own != nullptr && LinesAt(own->ids, own->content_begin) > 0) {
        JoinBefore(&joined, &media, own);
      }
      const bool last = i + 1 == segments.size();
      auto* text = last ? nullptr : std::get_if<TextRange>(&segments[i + 1]);
      if (own != nullptr && text != nullptr) JoinBehind(text, &media, own);
      joined.push_back(std::move(segments[i]));
    }
    return joined;
  }

 private:
  // The line breaks of a token; 0: it is another.
  uint64_t LinesOf(int64_t id) const {
    const auto found = std::find(lines_.begin(), lines_.end(), id);
    return found == lines_.end() ? 0 : static_cast<uint64_t>(found - lines_.begin()) + 1;
  }
  // The tokens of line breaks at the front of `ids`, before `end`.
  size_t LinesAt(Span<const int64_t> ids, size_t end) const {
    size_t count = 0;
    while (count < end && LinesOf(ids[count]) > 0) ++count;
    return count;
  }
  // Those at its back, behind `begin`.
  size_t LinesBehind(Span<const int64_t> ids, size_t begin, size_t end) const {
    size_t count = 0;
    while (begin + count < end && LinesOf(ids[end - 1 - count]) > 0) ++count;
    return count;
  }

  // As few tokens as hold the line breaks of both, the longest first.
  std::vector<int64_t> Together(Span<const int64_t> first, Span<const int64_t> second) const {
    uint64_t count = 0;
    for (const int64_t id : first) count += LinesOf(id);
    for (const int64_t id : second) count += LinesOf(id);
    std::vector<int64_t> ids(static_cast<size_t>(count / lines_.size()), lines_.back());
    if (count % lines_.size() > 0) ids.push_back(lines_[count % lines_.size() - 1]);
    return ids;
  }

  void JoinBefore(std::vector<Segment>* joined, MediaSegment* media, ExplicitPattern* own) const {
    const size_t leading = LinesAt(own->ids, own->content_begin);
    if (joined->empty()) return;
    std::vector<int64_t> front;
    if (auto* text = std::get_if<TextRange>(&joined->back())) {
      const size_t count = LinesBehind(ids_, text->begin, text->end);
      front = Together({ids_.begin() + text->end - count, count}, {own->ids.data(), leading});
      media->source_tokens += count;
      text->end -= count;
      if (text->begin == text->end) joined->pop_back();
    } else {
      auto* other =
          std::get_if<ExplicitPattern>(&std::get_if<MediaSegment>(&joined->back())->pattern);
      if (other == nullptr) return;
      const size_t count = LinesBehind(other->ids, other->content_end, other->ids.size());
      if (count == 0) return;
      const size_t kept = other->ids.size() - count;
      const auto run = Together({other->ids.data() + kept, count}, {own->ids.data(), leading});
      other->ids.resize(kept);
      other->ids.insert(other->ids.end(), run.begin(), run.end());
    }
    own->ids.erase(own->ids.begin(), own->ids.begin() + static_cast<std::ptrdiff_t>(leading));
    own->ids.insert(own->ids.begin(), front.begin(), front.end());
    own->content_begin = own->content_begin - leading + front.size();
    own->content_end = own->content_end - leading + front.size();
  }

  void JoinBehind(TextRange* text, MediaSegment* media, ExplicitPattern* own) const {
    const size_t trailing = LinesBehind(own->ids, own->content_end, own->ids.size());
    const size_t count =
        LinesAt({ids_.begin() + text->begin, text->end - text->begin}, text->end - text->begin);
    if (trailing == 0 || count == 0) return;
    const size_t kept = own->ids.size() - trailing;
    const auto run =
        Together({own->ids.data() + kept, trailing}, {ids_.begin() + text->begin, count});
    own->ids.resize(kept);
    own->ids.insert(own->ids.end(), run.begin(), run.end());
    media->source_tokens += count;
    text->begin += count;
  }

  const Span<const int64_t> ids_;
  const std::vector<int64_t>& lines_;
};

}  // namespace

ItemPrompt ItemPrompt::Read(SpecReader* spec) {
  ItemPrompt prompt;
  prompt.token = spec->Int("image_token_id", INT64_MIN, INT64_MAX);
  prompt.placeholder = spec->IntOr("placeholder_token_id", INT64_MIN, INT64_MAX, prompt.token);
  prompt.prefix = spec->Ints("prefix_token_ids");
  prompt.suffix = spec->Ints("suffix_token_ids");
  prompt.lines = spec->Ints("line_token_ids");
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
  return ByPattern(input_ids, std::move(patterns));
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
  return ByPattern(input_ids, std::move(patterns));
}

Result<TokenLayout> ItemPrompt::ByPattern(Span<const int64_t> input_ids,
                                          std::vector<TokenPattern> patterns) const {
  MMCPP_ASSIGN(TokenLayout layout, LayoutByPattern(input_ids, placeholder, std::move(patterns)));
  if (!lines.empty()) {
    layout.segments = LineJoiner(input_ids, lines).Join(std::move(layout.segments));
  }
  return layout;
}

}  // namespace mmcpp::families
