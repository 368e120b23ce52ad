// driver/driver.cc: the order of a request's checks, one outcome under every schedule, and results
// that do not depend on the executor.
#include "mmcpp/driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mmcpp/hash.h"
#include "mmcpp/registry.h"
#include "support/fake_family.h"
#include "support/pictures.h"
#include "support/schedules.h"
#include "support/specs.h"

namespace mmcpp {
namespace {

using test::FakeFamily;
using test::Picture;
using Ids = std::vector<int64_t>;
using Media = std::vector<MediaSource>;

constexpr int64_t kImage = FakeFamily::kPlaceholder;

Request MakeRequest(const Ids& ids, const Media& media) {
  Request request;
  request.input_ids = ids;
  request.media = media;
  request.options.dtype = DType::kU8;
  return request;
}

void ExpectError(const Request& request, ErrorCode code, int item, const std::string& message) {
  const auto result = Process(FakeFamily(), request);
  ASSERT_FALSE(result.ok()) << message;
  EXPECT_EQ(result.error().message, message);
  EXPECT_EQ(result.error().code, code) << message;
  EXPECT_EQ(result.error().item, item) << message;
}

TEST(Process, ExpandsThePrompt) {
  const Picture a(2, 5), b(3, 4);
  const Ids ids = {1, kImage, 2, kImage, 3};
  const Media media = {a.view(), b.view()};
  test::ForEachSchedule(6, [&] {
    const auto response = Process(FakeFamily(), MakeRequest(ids, media));
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->input_ids, (Ids{1, kImage, kImage, 2, kImage, kImage, kImage, 3}));
    ASSERT_EQ(response->offsets.size(), 2u);
    EXPECT_EQ(response->offsets[0].first, 1u);
    EXPECT_EQ(response->offsets[0].last, 2u);
    EXPECT_EQ(response->offsets[1].first, 4u);
    EXPECT_EQ(response->offsets[1].last, 6u);
    EXPECT_TRUE(std::holds_alternative<Rope1D>(response->positions));
    ASSERT_EQ(response->items.size(), 2u);
    EXPECT_EQ(response->items[0].plan.resized_width, 5);
    EXPECT_EQ(response->items[1].content_hash, PixelHash(b.view()));
  });
}

TEST(PlanRequest, EqualsProcessWithoutPixels) {
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok());
  const Picture a(60, 90), b(1, 5);
  const Ids ids = {1, 9, 2, 9};
  const Media media = {a.view(), b.view()};
  const auto response = Process(**family, MakeRequest(ids, media));
  ASSERT_TRUE(response.ok()) << response.error().message;
  const std::vector<PictureSize> sizes = {{60, 90}, {1, 5}};
  const auto planned = PlanRequest(**family, ids, sizes);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  EXPECT_EQ(planned->input_ids, response->input_ids);
  ASSERT_EQ(planned->items.size(), 2u);
  ASSERT_EQ(planned->offsets.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(planned->items[i].feature_shape, response->items[i].plan.feature_shape);
    EXPECT_EQ(planned->offsets[i].first, response->offsets[i].first);
    EXPECT_EQ(planned->offsets[i].last, response->offsets[i].last);
  }
  const auto& ours = std::get<MRope>(planned->positions);
  const auto& theirs = std::get<MRope>(response->positions);
  EXPECT_EQ(ours.delta, theirs.delta);
  const auto values = ours.position_ids.As<int64_t>();
  EXPECT_TRUE(std::equal(values.begin(), values.end(), theirs.position_ids.As<int64_t>().begin()));
}

TEST(PlanRequest, RefusesWhatProcessRefuses) {
  const auto error = [](const Ids& ids, const std::vector<PictureSize>& sizes,
                        const RequestLimits& limits = {}) {
    const auto planned = PlanRequest(FakeFamily(), ids, sizes, limits);
    EXPECT_FALSE(planned.ok());
    return planned.ok() ? Error{} : planned.error();
  };
  EXPECT_EQ(error({}, {{2, 5}}).message, "multimodal request without input_ids");
  EXPECT_EQ(error({1}, {}).message, "multimodal request without image sources");
  EXPECT_EQ(error({1}, {{2, 5}}).code, ErrorCode::kInvalidArgument);  // no placeholder
  RequestLimits limits;
  limits.max_items = 1;
  EXPECT_EQ(error({kImage, kImage}, {{2, 5}, {2, 5}}, limits).code, ErrorCode::kLimitExceeded);
  limits.max_tokens = 2;
  EXPECT_EQ(error({kImage}, {{3, 5}}, limits).code, ErrorCode::kLimitExceeded);
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok());
  const std::vector<PictureSize> thin = {{9, 9}, {1, 999}};
  const Ids ids = {9, 9};
  const auto planned = PlanRequest(**family, ids, thin);
  ASSERT_FALSE(planned.ok());
  EXPECT_EQ(planned.error().item, 1);
}

TEST(Process, ChecksThePromptFirst) {
  const std::vector<uint8_t> bad = {1, 2, 3};
  ExpectError(MakeRequest({}, {}), ErrorCode::kInvalidArgument, -1,
              "multimodal request without input_ids");
  ExpectError(MakeRequest({1}, {}), ErrorCode::kInvalidArgument, -1,
              "multimodal request without image sources");
  Ids many(5, 1);
  Media media = {Bytes(bad)};
  Request request = MakeRequest(many, media);
  request.options.limits.max_tokens = 4;
  ExpectError(request, ErrorCode::kLimitExceeded, -1,
              "multimodal request has 5 input_ids, the limit is 4");
}

Request TextRequest(const Media& media, Tokenizer tokenizer) {
  Request request = MakeRequest({}, media);
  request.input_ids = {};
  request.text = "a picture";
  request.tokenizer = std::move(tokenizer);
  return request;
}

TEST(Process, TakesATextAndItsTokenizer) {
  const Picture picture(2, 5);
  const Media media = {picture.view()};
  int calls = 0;
  const auto response = Process(FakeFamily(), TextRequest(media, [&](std::string_view text) {
                                  ++calls;
                                  EXPECT_EQ(text, "a picture");
                                  return Result<Ids>(Ids{1, kImage, 2});
                                }));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(response->input_ids, (Ids{1, kImage, kImage, 2}));
  EXPECT_EQ(response->counters.tokens_in, 3u);
  EXPECT_GE(response->tokenize_ms, 0);
}

TEST(Process, ATokenizersErrorsAreTheRequests) {
  const Picture picture(2, 5);
  const Media media = {picture.view()};
  const auto failing = [](std::string_view) -> Result<Ids> {
    return Error{ErrorCode::kUnsupported, "no such language"};
  };
  ExpectError(TextRequest(media, failing), ErrorCode::kUnsupported, -1,
              "tokenizer: no such language");
  const auto throwing = [](std::string_view) -> Result<Ids> { throw std::runtime_error("lost"); };
  ExpectError(TextRequest(media, throwing), ErrorCode::kInvalidArgument, -1, "tokenizer: lost");
  const auto greedy = [](std::string_view) -> Result<Ids> { throw std::bad_alloc(); };
  ExpectError(TextRequest(media, greedy), ErrorCode::kOutOfMemory, -1, "tokenizer: out of memory");
  const auto silent = [](std::string_view) -> Result<Ids> { return Ids(); };
  ExpectError(TextRequest(media, silent), ErrorCode::kInvalidArgument, -1, "tokenizer: no ids");
  Request request = TextRequest(media, [](std::string_view) { return Result<Ids>(Ids(5, 1)); });
  request.options.limits.max_tokens = 4;
  ExpectError(request, ErrorCode::kLimitExceeded, -1,
              "multimodal request has 5 input_ids, the limit is 4");
}

TEST(Process, ATokenizerIsNotAskedInVain) {
  const Picture picture(2, 5);  // 30 bytes
  const Media media = {picture.view()};
  const Ids ids = {kImage};
  const auto never = [](std::string_view) -> Result<Ids> {
    ADD_FAILURE();
    return Ids{1};
  };
  Request request = TextRequest(media, never);
  request.input_ids = ids;
  ExpectError(request, ErrorCode::kInvalidArgument, -1,
              "prompt: both input_ids and a tokenizer for a text");
  request = TextRequest({}, never);
  ExpectError(request, ErrorCode::kInvalidArgument, -1, "multimodal request without image sources");
  request = TextRequest(media, never);
  const std::string text(31, ' ');
  request.text = text;
  request.options.limits.max_total_bytes = 30;
  ExpectError(request, ErrorCode::kLimitExceeded, -1,
              "prompt: a text of 31 bytes, the limit is 30");
  request = TextRequest(media, {});
  ExpectError(request, ErrorCode::kInvalidArgument, -1, "prompt: a text without a tokenizer");
}

TEST(Process, CountsWhatItDid) {
  const Picture a(2, 5), b(3, 4);
  const std::vector<uint8_t> file = test::EncodeBmp(b.view());
  const Ids ids = {1, kImage, kImage, kImage, kImage};
  const Media media = {a.view(), Bytes(file), a.view(), Bytes(file)};
  const auto response = Process(FakeFamily(), MakeRequest(ids, media));
  ASSERT_TRUE(response.ok()) << response.error().message;
  const RequestCounters& counters = response->counters;
  EXPECT_EQ(counters.items, 4u);
  EXPECT_EQ(counters.duplicates, 2u);
  EXPECT_EQ(counters.bytes_in, 2 * (30 + file.size()));
  EXPECT_EQ(counters.pixels, 10u + 12u);
  EXPECT_EQ(counters.bytes_out, 2u * 30 + 2 * 36);  // FakeFamily gives the pixels
  EXPECT_EQ(counters.tokens_in, 5u);
  EXPECT_EQ(counters.tokens_out, 1u + 2 + 3 + 2 + 3);
}

TEST(Process, LimitsComeBeforeAnyDecode) {
  const std::vector<uint8_t> bad = {1, 2, 3};
  const Ids ids = {kImage};
  const Media media(3, Bytes(bad));
  Request request = MakeRequest(ids, media);
  request.options.limits.max_total_bytes = 8;
  ExpectError(request, ErrorCode::kLimitExceeded, -1,
              "multimodal request exceeds 8 total media bytes");
}

TEST(Process, ItemsComeBeforeTheLayout) {
  const Picture broken(2, FakeFamily::kBrokenWidth);
  const Media media = {broken.view()};
  ExpectError(MakeRequest({1}, media), ErrorCode::kInternal, 0, "image 0: fake: broken");
  const Picture good(2, 2);
  const Media good_media = {good.view()};
  ExpectError(MakeRequest({1}, good_media), ErrorCode::kInvalidArgument, -1,
              "prompt has 0 media placeholder(s) but 1 media item(s)");
}

TEST(Process, BoundsTheExpandedPrompt) {
  const Picture picture(100, 1);
  const Ids ids = {1, kImage};
  const Media media = {picture.view()};
  Request request = MakeRequest(ids, media);
  request.options.limits.max_tokens = 100;
  ExpectError(request, ErrorCode::kLimitExceeded, -1,
              "layout: the prompt expands to 101 tokens, the limit is 100");
  request.options.limits.max_tokens = 101;
  EXPECT_TRUE(Process(FakeFamily(), request).ok());
}

TEST(Process, LowestFailingItemWins) {
  const Picture good(2, 2), broken(2, FakeFamily::kBrokenWidth), large(300, 300);
  const Picture refused(2, FakeFamily::kRefusedWidth), hog(2, FakeFamily::kMemoryHogWidth);
  const std::vector<uint8_t> text = {'h', 'e', 'l', 'l', 'o'};
  const Ids ids(8, kImage);
  // The first failure is in a late stage of a large neighbourhood; later ones fail at once.
  const Media media = {good.view(),    large.view(), broken.view(), Bytes(text),
                       refused.view(), hog.view(),   large.view(),  Bytes()};
  test::ForEachSchedule(24, [&] {
    ExpectError(MakeRequest(ids, media), ErrorCode::kInternal, 2, "image 2: fake: broken");
  });
  const Media rotated(media.begin() + 3, media.end());
  test::ForEachSchedule(12, [&] {
    const auto result = Process(FakeFamily(), MakeRequest(ids, rotated));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(result.error().message.find("image 0: "), 0u) << result.error().message;
  });
}

TEST(Process, MemoryFailureIsAnError) {
  const Picture hog(2, FakeFamily::kMemoryHogWidth);
  const Ids ids = {kImage};
  const Media media = {hog.view()};
  test::ForEachSchedule(4, [&] {
    ExpectError(MakeRequest(ids, media), ErrorCode::kOutOfMemory, 0, "image 0: out of memory");
  });
}

// The whole outcome in one number: every byte of it, in order.
uint64_t DigestOf(const Response& response) {
  std::vector<uint8_t> all;
  const auto add = [&](const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    all.insert(all.end(), bytes, bytes + size);
  };
  add(response.input_ids.data(), response.input_ids.size() * sizeof(int64_t));
  for (const OutputItem& item : response.items) {
    add(item.feature.data(), item.feature.byte_count());
    add(item.aux[0].tensor.data(), item.aux[0].tensor.byte_count());
    add(&item.content_hash, sizeof item.content_hash);
  }
  for (const TokenRange& range : response.offsets) add(&range, sizeof range);
  const auto& mrope = std::get<MRope>(response.positions);
  add(mrope.position_ids.data(), mrope.position_ids.byte_count());
  add(&mrope.delta, sizeof mrope.delta);
  return ContentHash(all);
}

TEST(Process, OneOutcomeUnderEveryExecutor) {
  const struct {
    DType dtype;
    const char* resample;
    const char* digest;
  } cases[] = {
      {DType::kF32, "aten_u8", "13c90412c0855353"},
      {DType::kBf16, "aten_u8", "8cb2a719c959eccd"},
      {DType::kF16, "pil", "d97a40e66418da88"},
      {DType::kU8, "pil", "9dc9a3baffc11785"},
  };
  const Picture a(100, 76), b(480, 640, 1), c(33, 900, 2);
  const std::vector<uint8_t> bmp = test::EncodeBmp(b.view());
  const Ids ids = {5, 9, 9, 6, 7, 9, 8};
  const Media media = {a.view(), Bytes(bmp), c.view()};
  for (const auto& expected : cases) {
    nlohmann::json spec = test::QwenVlSpec();
    spec["resample"] = expected.resample;
    const auto family = FamilyFromSpec(spec.dump());
    ASSERT_TRUE(family.ok());
    Request request = MakeRequest(ids, media);
    request.options.dtype = expected.dtype;
    test::ForEachSchedule(6, [&] {
      const auto response = Process(**family, request);
      ASSERT_TRUE(response.ok()) << response.error().message;
      EXPECT_EQ(test::Hex(DigestOf(*response)), expected.digest) << DTypeName(expected.dtype);
    });
  }
}

// A family is shared and immutable; ThreadSanitizer looks on while chaos splits each request's
// work.
TEST(Process, OneFamilyServesManyThreads) {
  const auto family = FamilyFromSpec(test::QwenVlSpec().dump());
  ASSERT_TRUE(family.ok());
  const Ids ids = {5, 9, 6, 9};
  std::vector<Picture> pictures;
  for (int i = 0; i < 4; ++i) pictures.emplace_back(60 + 20 * i, 90, i);
  const auto digest = [&](int i) -> std::string {
    const Media media = {pictures[static_cast<size_t>(i % 4)].view(),
                         pictures[static_cast<size_t>((i + 1) % 4)].view()};
    // Each third request is refused: two pictures for one placeholder.
    const auto response = Process(**family, MakeRequest(i % 3 == 0 ? Ids{5, 9} : ids, media));
    return response.ok() ? test::Hex(DigestOf(*response)) : response.error().message;
  };
  std::vector<std::string> expected;
  for (int i = 0; i < 12; ++i) expected.push_back(digest(i));
  EXPECT_NE(expected[1], expected[2]);
  std::atomic<int> different{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 12; ++i) {
        const int request = (i + t) % 12;
        if (digest(request) != expected[static_cast<size_t>(request)]) ++different;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace mmcpp
