// Linear in prompt and contents: a search reads at most its content's length beyond the place where
// its item is settled, and reads nothing twice.
#include "prompt/content_scan.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mmcpp::prompt {

ContentScan::ContentScan(Span<const int64_t> prompt, Span<const ModalityUpdates> updates,
                         Absent absent)
    : prompt_(prompt), updates_(updates), absent_(std::move(absent)), lanes_(updates.size()) {}

void ContentScan::Open(size_t modality) {
  Lane& lane = lanes_[modality];
  const auto& items = updates_[modality].items;
  if (absent_) {
    while (lane.item < items.size() && absent_(modality, lane.item, at_)) ++lane.item;
  }
  std::vector<Search> before = std::move(lane.searches);
  lane.searches.clear();
  if (lane.item >= items.size()) return;
  const auto& alternatives = items[lane.item];
  for (size_t a = 0; a < alternatives.size(); ++a) {
    const Span<const int64_t> content = alternatives[a].content.tokens;
    if (content.empty()) continue;
    const size_t nth = lane.searches.size();
    // Pictures of one size have one content: what was read for the last one stays read.
    if (nth < before.size() && before[nth].text.pattern().size() == content.size() &&
        std::equal(content.begin(), content.end(), before[nth].text.pattern().begin())) {
      lane.searches.push_back({a, std::move(before[nth].text)});
      lane.searches.back().text.SkipTo(at_);
    } else {
      lane.searches.push_back({a, SingleSearch(content)});
      lane.searches.back().text.Start(at_);
    }
  }
}

bool ContentScan::Leftmost(size_t* modality, size_t* search) const {
  size_t best = 0;
  bool any = false;
  for (size_t m = 0; m < lanes_.size(); ++m) {
    for (size_t s = 0; s < lanes_[m].searches.size(); ++s) {
      const SingleSearch& text = lanes_[m].searches[s].text;
      if (text.exhausted(prompt_.size()) || (any && text.earliest() >= best)) continue;
      best = text.earliest();
      any = true;
      *modality = m;
      *search = s;
    }
  }
  return any;
}

std::vector<Placement> ContentScan::Run() {
  std::vector<Placement> placements;
  for (size_t m = 0; m < lanes_.size(); ++m) Open(m);
  size_t m = 0, s = 0;
  while (Leftmost(&m, &s)) {
    Lane& lane = lanes_[m];
    SingleSearch& text = lane.searches[s].text;
    if (!text.found()) {
      text.Advance(prompt_);
      continue;
    }
    const size_t length = text.pattern().size();
    placements.push_back({m, lane.item, lane.searches[s].alternative, text.earliest(), length});
    at_ = text.earliest() + length;
    for (size_t other = 0; other < lanes_.size(); ++other) {
      if (other == m) continue;
      if (absent_ && lanes_[other].item < updates_[other].items.size() &&
          absent_(other, lanes_[other].item, at_)) {
        Open(other);  // what it would have found begins inside the content just taken
        continue;
      }
      for (Search& search : lanes_[other].searches) search.text.SkipTo(at_);
    }
    ++lane.item;
    Open(m);
  }
  std::sort(placements.begin(), placements.end(), [](const Placement& a, const Placement& b) {
    return std::tie(a.modality, a.item) < std::tie(b.modality, b.item);
  });
  return placements;
}

}  // namespace mmcpp::prompt
