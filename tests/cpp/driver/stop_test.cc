// driver/stop.h: a request ends at its deadline and when it is cancelled, before it and in the
// middle of a decode.
#include "driver/stop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "support/fake_family.h"
#include "support/pictures.h"
#include "support/schedules.h"

namespace mmcpp::driver {
namespace {

using test::FakeFamily;
using test::Picture;
using Clock = std::chrono::steady_clock;

/// Calls `between` after it has asked for the first row, and then for all others at once.
class InterruptedFamily : public FakeFamily {
 public:
  explicit InterruptedFamily(std::function<void()> between) : between_(std::move(between)) {}

  Status ProcessRows(RowSource* rows, const ItemPlan&, TensorView feature) const override {
    auto* out = static_cast<uint8_t*>(feature.data);
    const size_t row_bytes = static_cast<size_t>(rows->width()) * 3;
    MMCPP_TRY(rows->Read(1, out, row_bytes));
    between_();
    ++interrupted;
    MMCPP_TRY(rows->Read(rows->height() - 1, out + row_bytes, row_bytes));
    ++finished;
    return Ok{};
  }
  mutable std::atomic<int> interrupted{0}, finished{0};

 private:
  std::function<void()> between_;
};

struct Fixture {
  Picture picture{30, 40};
  std::vector<uint8_t> file = test::EncodeBmp(picture.view());
  std::vector<MediaSource> media = {Bytes(file)};
  std::vector<int64_t> ids = {FakeFamily::kPlaceholder};
  ProcessOptions options;

  Fixture() { options.dtype = DType::kU8; }
  Error ErrorOf(const Family& family) const {
    const auto response = Process(family, {ids, media, options});
    return response.ok() ? Error{ErrorCode::kInternal, "succeeded"} : response.error();
  }
  Error BatchErrorOf(const Family& family) const {
    const auto batch = ProcessItems(family, media, options);
    return batch.ok() ? Error{ErrorCode::kInternal, "succeeded"} : batch.error();
  }
};

void ExpectStop(const Error& error, ErrorCode code, const std::string& message) {
  EXPECT_EQ(error.code, code);
  EXPECT_EQ(error.message, message);
  EXPECT_EQ(error.item, -1);
}

TEST(Stop, ARequestThatIsCancelledAlready) {
  Fixture fixture;
  const std::atomic<bool> cancelled{true};
  fixture.options.cancelled = &cancelled;
  const Picture other(3, 3), broken(2, FakeFamily::kBrokenWidth);
  fixture.media = {fixture.media[0], other.view(), broken.view()};
  test::ForEachSchedule(6, [&] {
    ExpectStop(fixture.ErrorOf(FakeFamily()), ErrorCode::kCancelled,
               "hash: the request was cancelled");
    ExpectStop(fixture.BatchErrorOf(FakeFamily()), ErrorCode::kCancelled,
               "header: the request was cancelled");
  });
}

TEST(Stop, ADeadlineThatHasPassed) {
  Fixture fixture;
  fixture.options.deadline = Clock::now();
  ExpectStop(fixture.ErrorOf(FakeFamily()), ErrorCode::kDeadlineExceeded,
             "hash: the deadline has passed");
  ExpectStop(fixture.BatchErrorOf(FakeFamily()), ErrorCode::kDeadlineExceeded,
             "header: the deadline has passed");
}

TEST(Stop, WhatIsFarAwayChangesNothing) {
  Fixture fixture;
  const std::atomic<bool> cancelled{false};
  fixture.options.cancelled = &cancelled;
  fixture.options.deadline = Clock::now() + std::chrono::hours(1);
  const auto response = Process(FakeFamily(), {fixture.ids, fixture.media, fixture.options});
  ASSERT_TRUE(response.ok()) << response.error().message;
  const auto feature = response->items[0].feature.As<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(feature.begin(), feature.end()), fixture.picture.pixels);
}

TEST(Stop, InTheMiddleOfADecode) {
  Fixture fixture;
  std::atomic<bool> cancelled{false};
  fixture.options.cancelled = &cancelled;
  const InterruptedFamily family([&] { cancelled = true; });
  ExpectStop(fixture.ErrorOf(family), ErrorCode::kCancelled, "decode: the request was cancelled");
  cancelled = false;
  ExpectStop(fixture.BatchErrorOf(family), ErrorCode::kCancelled,
             "decode: the request was cancelled");
  EXPECT_EQ(family.interrupted, 2);
  EXPECT_EQ(family.finished, 0);
}

TEST(Stop, AtTheDeadlineInTheMiddleOfADecode) {
  Fixture fixture;
  fixture.options.deadline = Clock::now() + std::chrono::milliseconds(500);
  const InterruptedFamily family([&] { std::this_thread::sleep_until(*fixture.options.deadline); });
  ExpectStop(fixture.ErrorOf(family), ErrorCode::kDeadlineExceeded,
             "decode: the deadline has passed");
  EXPECT_EQ(family.interrupted, 1);
  EXPECT_EQ(family.finished, 0);
}

/// The one call for all rows of a large picture is cut into bands.
TEST(Stop, BandsOfALargePictureAreItsRows) {
  const Picture picture(2000, 300);
  const std::vector<uint8_t> file = test::EncodeBmp(picture.view());
  Fixture fixture;
  fixture.media = {Bytes(file)};
  std::atomic<bool> cancelled{false};
  fixture.options.cancelled = &cancelled;
  const InterruptedFamily family([&] {});
  const auto whole = Process(family, {fixture.ids, fixture.media, fixture.options});
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const auto feature = whole->items[0].feature.As<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(feature.begin(), feature.end()), picture.pixels);
}

/// What a family does with a picture in memory without reading it.
TEST(Stop, InTheMiddleOfWorkThatAsks) {
  class AskingFamily : public FakeFamily {
   public:
    explicit AskingFamily(std::atomic<bool>* flag) : flag_(flag) {}
    Status ProcessRows(RowSource* rows, const ItemPlan&, TensorView) const override {
      MMCPP_TRY(rows->StillWanted());
      *flag_ = true;
      return rows->StillWanted();
    }
    std::atomic<bool>* flag_;
  };
  Fixture fixture;
  fixture.media = {fixture.picture.view()};
  std::atomic<bool> cancelled{false};
  fixture.options.cancelled = &cancelled;
  ExpectStop(fixture.ErrorOf(AskingFamily(&cancelled)), ErrorCode::kCancelled,
             "process: the request was cancelled");
}

/// A progressive JPEG whose every bit is zero: some kilobytes for much work. Its one Huffman code,
/// of one bit, is the difference 0; after the first scan each gives one more bit of every block.
std::vector<uint8_t> LongProgressiveJpeg(int side) {
  const auto high = static_cast<uint8_t>(side >> 8), low = static_cast<uint8_t>(side);
  std::vector<uint8_t> file = {0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};
  file.insert(file.end(), 64, 1);  // quantisers
  file.insert(file.end(), {0xff, 0xc2, 0, 11, 8, high, low, high, low, 1, 1, 0x11, 0});
  file.insert(file.end(), {0xff, 0xc4, 0, 20, 0, 1});
  file.insert(file.end(), 16, 0);  // no longer codes, and the symbol
  const size_t blocks = static_cast<size_t>(side / 8) * static_cast<size_t>(side / 8);
  for (uint8_t bit = 13; bit > 0; --bit) {
    const auto precision = static_cast<uint8_t>((bit == 13 ? 0 : bit + 1) << 4 | bit);
    file.insert(file.end(), {0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, precision});
    file.insert(file.end(), blocks / 8, 0);
  }
  file.insert(file.end(), {0xff, 0xd9});
  return file;
}

/// Its scans are read before there is a row to watch.
TEST(Stop, InTheMiddleOfScansOfAProgressiveJpeg) {
  Fixture fixture;
  const std::vector<uint8_t> small = LongProgressiveJpeg(64);
  fixture.media = {Bytes(small)};
  ASSERT_TRUE(Process(FakeFamily(), {fixture.ids, fixture.media, fixture.options}).ok());
  const std::vector<uint8_t> large = LongProgressiveJpeg(8192);
  fixture.media = {Bytes(large)};
  fixture.options.deadline = Clock::now() + std::chrono::milliseconds(30);
  const Error error = fixture.ErrorOf(FakeFamily());
  EXPECT_EQ(error.code, ErrorCode::kDeadlineExceeded);
  EXPECT_NE(error.message, "process: the deadline has passed");
}

TEST(Stop, BeforeThePositions) {
  class CancellingFamily : public FakeFamily {
   public:
    explicit CancellingFamily(std::atomic<bool>* flag) : flag_(flag) {}
    Result<TokenLayout> Layout(Span<const int64_t> ids, Span<const ItemPlan> items) const override {
      *flag_ = true;
      return FakeFamily::Layout(ids, items);
    }
    std::atomic<bool>* flag_;
  };
  Fixture fixture;
  std::atomic<bool> cancelled{false};
  fixture.options.cancelled = &cancelled;
  ExpectStop(fixture.ErrorOf(CancellingFamily(&cancelled)), ErrorCode::kCancelled,
             "positions: the request was cancelled");
}

}  // namespace
}  // namespace mmcpp::driver
