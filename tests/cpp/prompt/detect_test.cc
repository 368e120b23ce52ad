// prompt/detect.cc: vLLM's facts about what is found, the three states, and what is said about the
// items that are missing.
#include <gtest/gtest.h>

#include <string>

#include "prompt/update_cases.h"

namespace mmcpp {
namespace {

using test::Ids;
using test::Insert;
using test::Json;
using test::PromptCases;
using test::Replace;
using test::Updates;

UpdateDetection Detect(const Ids& prompt, const std::vector<ModalityUpdates>& updates) {
  auto detection = DetectUpdates(prompt, updates);
  EXPECT_TRUE(detection.ok()) << detection.error().message;
  return *std::move(detection);
}

TEST(DetectUpdates, EqualTheReference) {
  for (const Json& fact : PromptCases()["detected"]) {
    const auto updates = Updates(fact["updates"]);
    const UpdateDetection detection = Detect(fact["prompt"].get<Ids>(), updates);
    Json found = Json::object();
    for (const Placement& placement : detection.found) {
      found[updates[placement.modality].modality].push_back(
          {placement.item, placement.start, placement.length});
    }
    EXPECT_EQ(found, fact["found"]) << fact;
    EXPECT_EQ(detection.missing.empty(), fact["all_found"].get<bool>()) << fact;
    EXPECT_EQ(UpdateStateName(detection.state), fact["state"].get<std::string>()) << fact;
    EXPECT_EQ(detection.ambiguous, fact["ambiguous"].get<bool>()) << fact;
    EXPECT_EQ(detection.reason.empty(), !detection.ambiguous);
  }
}

TEST(DetectUpdates, SaysWhatIsMissingAndWhere) {
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({3}, {1, 3, 3, 2})}, {Replace({3}, {1, 3, 2})}}, {}}};
  const UpdateDetection detection = Detect({1, 3, 3, 2, 3, 8, 3}, updates);
  EXPECT_EQ(detection.state, UpdateState::kPartial);
  EXPECT_FALSE(detection.ambiguous);
  ASSERT_EQ(detection.missing.size(), 1u);
  EXPECT_EQ(detection.missing[0].item, 1u);
  EXPECT_EQ(detection.missing[0].target_begin, 4u);
  EXPECT_EQ(detection.missing[0].target_end, 5u);
  EXPECT_EQ(detection.missing[0].content_start, kNowhere);
  ASSERT_EQ(detection.surplus.size(), 1u) << "the placeholder that no item uses";
  EXPECT_EQ(detection.surplus[0].begin, 6u);
}

TEST(DetectUpdates, SaysWhereAContentStandsOutOfOrder) {
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({3}, {1, 3, 3, 2})}, {Replace({3}, {1, 3, 2})}}, {}}};
  const UpdateDetection detection = Detect({7, 1, 3, 2, 1, 3, 3, 2}, updates);
  ASSERT_EQ(detection.missing.size(), 1u);
  EXPECT_EQ(detection.missing[0].item, 1u);
  EXPECT_EQ(detection.missing[0].content_start, 1u);
}

// vLLM's search ends at the first missing item; what comes after it was applied all the same.
TEST(DetectUpdates, FindsItemsBehindAMissingOne) {
  const std::vector<ModalityUpdates> updates = {
      {"image", {{Replace({3}, {1, 1})}, {Replace({3}, {2, 2})}, {Replace({3}, {4, 4})}}, {}}};
  const UpdateDetection detection = Detect({1, 1, 3, 4, 4}, updates);
  ASSERT_EQ(detection.found.size(), 2u);
  EXPECT_EQ(detection.found[1].item, 2u);
  ASSERT_EQ(detection.missing.size(), 1u);
  EXPECT_EQ(detection.missing[0].target_begin, 2u);
}

TEST(DetectUpdates, NothingThere) {
  const std::vector<ModalityUpdates> updates = {{"image", {{Replace({3}, {1, 1})}}, {}}};
  const UpdateDetection detection = Detect({8, 9}, updates);
  EXPECT_EQ(detection.state, UpdateState::kNotApplied);
  ASSERT_EQ(detection.missing.size(), 1u);
  EXPECT_EQ(detection.missing[0].target_begin, kNowhere);
  EXPECT_EQ(detection.missing[0].content_start, kNowhere);
}

// An insertion's target stays, so its presence says nothing; unless the content is more of it.
TEST(DetectUpdates, Insertions) {
  const std::vector<ModalityUpdates> other = {{"image", {{Insert({2}, {9, 9})}}, {}}};
  EXPECT_EQ(Detect({2, 9, 9, 5}, other).state, UpdateState::kApplied);
  EXPECT_FALSE(Detect({2, 9, 9, 5}, other).ambiguous);
  EXPECT_EQ(Detect({2, 5}, other).state, UpdateState::kNotApplied);
  const std::vector<ModalityUpdates> more = {{"image", {{Insert({2}, {2, 2})}}, {}}};
  EXPECT_TRUE(Detect({2, 2, 2}, more).ambiguous);
}

TEST(DetectUpdates, PlaceholdersWithoutItems) {
  const std::vector<ModalityUpdates> updates = {{"image", {}, {{3}}}};
  const UpdateDetection detection = Detect({1, 3, 2}, updates);
  EXPECT_EQ(detection.state, UpdateState::kApplied);
  ASSERT_EQ(detection.surplus.size(), 1u);
  EXPECT_EQ(detection.surplus[0].begin, 1u);
}

}  // namespace
}  // namespace mmcpp
