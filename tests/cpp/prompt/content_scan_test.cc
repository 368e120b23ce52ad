// prompt/content_scan.cc: equals the search written as its rules are, position by position, on
// contents that overlap, nest and hide each other; and an adversarial prompt is finished at all.
#include "prompt/content_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "prompt/update_cases.h"

namespace mmcpp {
namespace {

using test::Ids;
using test::Replace;

std::vector<Placement> SlowScan(const Ids& prompt, const std::vector<ModalityUpdates>& updates) {
  std::vector<Placement> found;
  std::vector<size_t> current(updates.size(), 0);
  for (size_t at = 0; at < prompt.size();) {
    size_t next = at + 1;
    for (size_t m = 0; m < updates.size() && next == at + 1; ++m) {
      if (current[m] == updates[m].items.size()) continue;
      const auto& alternatives = updates[m].items[current[m]];
      for (size_t a = 0; a < alternatives.size(); ++a) {
        const Ids& content = alternatives[a].content.tokens;
        if (content.empty() || content.size() > prompt.size() - at ||
            !std::equal(content.begin(), content.end(),
                        prompt.begin() + static_cast<int64_t>(at))) {
          continue;
        }
        found.push_back({m, current[m]++, a, at, content.size()});
        next = at + content.size();
        m = updates.size() - 1;  // one match a position
        break;
      }
    }
    at = next;
  }
  std::sort(found.begin(), found.end(), [](const Placement& a, const Placement& b) {
    return std::tie(a.modality, a.item) < std::tie(b.modality, b.item);
  });
  return found;
}

TEST(ContentScan, EqualsTheSearchPositionByPosition) {
  std::mt19937 rng(3);
  for (int round = 0; round < 5000; ++round) {
    const auto draw = [&](size_t size) {
      Ids ids(size);
      for (int64_t& id : ids) id = static_cast<int64_t>(rng() % 2);
      return ids;
    };
    std::vector<ModalityUpdates> updates(1 + rng() % 3);
    for (ModalityUpdates& modality : updates) {
      modality.items.resize(rng() % 5);
      for (auto& item : modality.items) {
        for (size_t a = 1 + rng() % 3; a-- > 0;) item.push_back(Replace({9}, draw(rng() % 6)));
      }
    }
    const Ids prompt = draw(rng() % 40);
    const auto expected = SlowScan(prompt, updates);
    const auto found = prompt::ContentScan(prompt, updates).Run();
    ASSERT_EQ(found.size(), expected.size()) << "round " << round;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].modality, expected[i].modality);
      ASSERT_EQ(found[i].item, expected[i].item);
      ASSERT_EQ(found[i].alternative, expected[i].alternative);
      ASSERT_EQ(found[i].start, expected[i].start);
      ASSERT_EQ(found[i].length, expected[i].length);
    }
  }
}

// Compared position by position this takes 10^10 steps: the long content fails at its last token
// everywhere, and the matches of the short ones keep cutting it off.
TEST(ContentScan, NearMatchesAreNotReadAgain) {
  const Ids prompt(300000, 1);
  Ids nearly(100000, 1);
  nearly.back() = 2;
  std::vector<ModalityUpdates> updates(2);
  updates[0].items = {{Replace({9}, nearly)}};
  updates[1].items.assign(1000, {Replace({9}, Ids(7, 1))});
  const auto found = prompt::ContentScan(prompt, updates).Run();
  ASSERT_EQ(found.size(), 1000u);
  EXPECT_EQ(found.back().start, 999u * 7);
}

}  // namespace
}  // namespace mmcpp
