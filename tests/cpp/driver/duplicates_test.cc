// driver/duplicates.cc: what counts as equal, and that equal items are processed once.
#include "driver/duplicates.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "support/fake_family.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp::driver {
namespace {

using test::FakeFamily;
using test::Picture;

std::vector<size_t> FindDuplicates(const std::vector<MediaSource>& media) {
  std::vector<SourceHash> hashes;
  for (const MediaSource& source : media) hashes.push_back(HashSource(source));
  return driver::FindDuplicates(media, hashes);
}

TEST(FindDuplicates, ComparesBytesWithinAKind) {
  const Picture a(2, 6, 1), same(2, 6, 1), other(2, 6, 2), turned(6, 2, 1);
  const std::vector<uint8_t> bytes = {1, 2, 3}, equal = bytes, different = {1, 2, 4};
  std::vector<uint8_t> as_bytes(a.view().data, a.view().data + 36);
  const std::vector<MediaSource> media = {
      a.view(),      Bytes(bytes),    same.view(), Bytes(different), other.view(), Bytes(equal),
      turned.view(), Bytes(as_bytes), Bytes(),     Bytes(),          a.view()};
  EXPECT_EQ(FindDuplicates(media), (std::vector<size_t>{0, 1, 0, 3, 4, 1, 6, 7, 8, 8, 0}));
}

TEST(FindDuplicates, LooksAtAlpha) {
  std::vector<uint8_t> a(24, 5), b(24, 5);
  b[23] = 6;
  const std::vector<MediaSource> media = {
      ImageView{a.data(), 2, 3, 12, 4}, ImageView{b.data(), 2, 3, 12, 4},
      ImageView{a.data(), 2, 3, 9}, ImageView{a.data(), 2, 3, 12, 4}};
  EXPECT_EQ(FindDuplicates(media), (std::vector<size_t>{0, 1, 2, 0}));
}

TEST(FindDuplicates, RowsMayBeApart) {
  const Picture a(2, 2);
  std::vector<uint8_t> padded(2 * 10, 99);
  for (int y = 0; y < 2; ++y) std::memcpy(padded.data() + y * 10, a.view().row(y), 6);
  const std::vector<MediaSource> media = {a.view(), ImageView{padded.data(), 2, 2, 10}};
  EXPECT_EQ(FindDuplicates(media), (std::vector<size_t>{0, 0}));
}

TEST(FindDuplicates, DoesNotTrustTheHash) {
  const Picture a(2, 6, 1), b(2, 6, 2), c(6, 2, 1);
  const std::vector<uint8_t> bytes = {1, 2, 3};
  const std::vector<MediaSource> media = {a.view(), b.view(), c.view(), Bytes(bytes), a.view()};
  const std::vector<SourceHash> hashes(5);
  EXPECT_EQ(driver::FindDuplicates(media, hashes), (std::vector<size_t>{0, 1, 2, 3, 0}));
}

class CountingFamily : public FakeFamily {
 public:
  Status ProcessItem(const ImageView& image, const ItemPlan& plan,
                     TensorView feature) const override {
    ++calls;
    return FakeFamily::ProcessItem(image, plan, feature);
  }
  mutable std::atomic<int> calls{0};
};

TEST(Process, EqualItemsAreProcessedOnce) {
  const Picture a(3, 4, 1), b(3, 4, 2);
  const std::vector<int64_t> ids(5, FakeFamily::kPlaceholder);
  const std::vector<MediaSource> media = {a.view(), b.view(), a.view(), a.view(), b.view()};
  test::ForEachSchedule(6, [&] {
    Request request;
    request.input_ids = ids;
    request.media = media;
    request.options.dtype = DType::kU8;
    const CountingFamily family;
    const auto response = mmcpp::Process(family, request);
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(family.calls, 2);
    ASSERT_EQ(response->items.size(), 5u);
    for (const size_t i : {2u, 3u, 4u}) {
      const OutputItem& copy = response->items[i];
      const OutputItem& first = response->items[i == 4 ? 1 : 0];
      EXPECT_EQ(copy.content_hash, first.content_hash);
      EXPECT_EQ(copy.plan.tokens, first.plan.tokens);
      EXPECT_NE(copy.feature.data(), first.feature.data());
      EXPECT_EQ(copy.feature.shape(), first.feature.shape());
      EXPECT_EQ(std::memcmp(copy.feature.data(), first.feature.data(), 36), 0);
    }
    EXPECT_EQ(response->input_ids.size(), 15u);
  });
}

TEST(Process, AFailureIsTheFirstOfItsEquals) {
  const Picture good(2, 2), broken(2, FakeFamily::kBrokenWidth);
  const std::vector<int64_t> ids(4, FakeFamily::kPlaceholder);
  const std::vector<MediaSource> media = {good.view(), broken.view(), good.view(), broken.view()};
  test::ForEachSchedule(6, [&] {
    Request request;
    request.input_ids = ids;
    request.media = media;
    request.options.dtype = DType::kU8;
    const auto response = mmcpp::Process(FakeFamily(), request);
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.error().message, "image 1: fake: broken");
  });
}

}  // namespace
}  // namespace mmcpp::driver
