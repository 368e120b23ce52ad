// driver/each.cc: one bad item never harms another, and each says what it would say in a request.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "mmcpp/driver.h"
#include "support/fake_family.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp {
namespace {

using test::FakeFamily;
using test::Picture;
using Media = std::vector<MediaSource>;

ProcessOptions Options() {
  ProcessOptions options;
  options.dtype = DType::kU8;
  return options;
}

std::string CallError(const Media& media, const ProcessOptions& options, ErrorCode code) {
  const auto results = ProcessEach(FakeFamily(), media, options);
  if (results.ok()) return "";
  EXPECT_EQ(results.error().code, code);
  EXPECT_EQ(results.error().item, -1);
  return results.error().message;
}

TEST(ProcessEach, ABadItemHarmsNoOther) {
  const Picture a(2, 5, 1), b(3, 4, 2), broken(2, FakeFamily::kBrokenWidth);
  const Picture refused(2, FakeFamily::kRefusedWidth), hog(2, FakeFamily::kMemoryHogWidth);
  const std::vector<uint8_t> file = test::EncodeBmp(b.view()), text = {'h', 'e', 'l', 'l', 'o'};
  const std::vector<uint8_t> cut(file.begin(), file.end() - 20);
  const Media media = {a.view(),       Bytes(text), Bytes(file), broken.view(),
                       refused.view(), hog.view(),  Bytes(cut),  ImageView{nullptr, 1, 1, 3},
                       Bytes(),        a.view()};
  struct Want {
    const Picture* picture;
    ErrorCode code;
  };
  const Want wants[] = {{&a, {}},
                        {nullptr, ErrorCode::kUnsupported},
                        {&b, {}},
                        {nullptr, ErrorCode::kInternal},
                        {nullptr, ErrorCode::kInvalidArgument},
                        {nullptr, ErrorCode::kOutOfMemory},
                        {nullptr, ErrorCode::kCorruptInput},
                        {nullptr, ErrorCode::kInvalidArgument},
                        {nullptr, ErrorCode::kInvalidArgument},
                        {&a, {}}};
  test::ForEachSchedule(6, [&] {
    const auto results = ProcessEach(FakeFamily(), media, Options());
    ASSERT_TRUE(results.ok()) << results.error().message;
    ASSERT_EQ(results->size(), media.size());
    for (size_t i = 0; i < media.size(); ++i) {
      const Result<OutputItem>& result = (*results)[i];
      ASSERT_EQ(result.ok(), wants[i].picture != nullptr) << i;
      if (!result.ok()) {
        EXPECT_EQ(result.error().code, wants[i].code) << result.error().message;
        EXPECT_EQ(result.error().item, static_cast<int>(i));
        const std::string head = "image " + std::to_string(i) + ": ";
        EXPECT_EQ(result.error().message.substr(0, head.size()), head);
        continue;
      }
      const std::vector<uint8_t>& pixels = wants[i].picture->pixels;
      ASSERT_EQ(result->feature.byte_count(), pixels.size());
      EXPECT_EQ(std::memcmp(result->feature.data(), pixels.data(), pixels.size()), 0);
    }
  });
}

TEST(ProcessEach, ErrorsOfTheCall) {
  const Picture a(2, 3);  // 18 bytes
  const Media media = {a.view(), ImageView{nullptr, 100, 100, 300}, a.view()};
  EXPECT_EQ(CallError({}, Options(), ErrorCode::kInvalidArgument),
            "multimodal request without image sources");
  ProcessOptions options = Options();
  options.limits.max_items = 2;
  EXPECT_EQ(CallError(media, options, ErrorCode::kLimitExceeded),
            "multimodal request exceeds 2 media items");
  options = Options();
  options.limits.max_total_bytes = 35;
  EXPECT_EQ(CallError(media, options, ErrorCode::kLimitExceeded),
            "multimodal request exceeds 35 total media bytes");
  options.limits.max_total_bytes = 36;
  EXPECT_EQ(CallError(media, options, ErrorCode::kLimitExceeded), "");
  options.dtype = DType::kI64;
  EXPECT_EQ(CallError(media, options, ErrorCode::kInvalidArgument),
            "dtype: expected float32, bfloat16, float16 or uint8, got int64");
}

TEST(ProcessEach, IsCancelled) {
  const Picture a(2, 3);
  const Media media = {a.view(), a.view()};
  const std::atomic<bool> cancelled{true};
  ProcessOptions options = Options();
  options.cancelled = &cancelled;
  const auto results = ProcessEach(FakeFamily(), media, options);
  ASSERT_TRUE(results.ok());
  for (const auto& result : *results) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
    EXPECT_EQ(result.error().item, -1);
  }
}

}  // namespace
}  // namespace mmcpp
