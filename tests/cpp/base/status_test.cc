// Error codes' names, and Result and the early-return macros of base/ensure.h.
#include "mmcpp/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "base/ensure.h"

namespace mmcpp {
namespace {

TEST(Status, EveryCodeHasAnotherName) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kCancelled); ++code) {
    names.insert(ErrorCodeName(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ErrorCode::kCancelled) + 1);
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kCorruptInput), "corrupt_input");
  EXPECT_STREQ(ErrorCodeName(static_cast<ErrorCode>(200)), "unknown");
}

TEST(Status, ValueOfAnErrorThrowsItsMessage) {
  Result<int> good = 7;
  EXPECT_EQ(good.value(), 7);
  Result<int> bad = InvalidArgument("stage: what");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().item, -1);
  try {
    bad.value();
    FAIL();
  } catch (const BadResultAccess& error) {
    EXPECT_STREQ(error.what(), "stage: what");
  }
}

Result<std::unique_ptr<int>> Half(int value) {
  if (value % 2 != 0) return InvalidArgument(std::to_string(value) + " is odd");
  return std::make_unique<int>(value / 2);
}

Result<int> Quarter(int value) {
  MMCPP_TRY(Half(value));
  MMCPP_ASSIGN(const std::unique_ptr<int> half, Half(value));  // move-only values pass through
  MMCPP_ASSIGN(const auto quarter, Half(*half));
  return *quarter;
}

TEST(Status, MacrosPassValuesAndReturnErrors) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(7).error().message, "7 is odd");
  EXPECT_EQ(Quarter(6).error().message, "3 is odd");
}

Status MustBePositive(int value) {
  MMCPP_ENSURE(value > 0);
  return Ok{};
}

TEST(Status, ABrokenEnsureIsAnInternalError) {
  EXPECT_TRUE(MustBePositive(1).ok());
  const Status broken = MustBePositive(0);
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, ErrorCode::kInternal);
  EXPECT_NE(broken.error().message.find("value > 0"), std::string::npos);
}

TEST(Status, ContextComesBeforeTheMessageAndKeepsTheRest) {
  const Error error = WithContext({ErrorCode::kLimitExceeded, "too large", 3}, "png");
  EXPECT_EQ(error.message, "png: too large");
  EXPECT_EQ(error.code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(error.item, 3);
}

}  // namespace
}  // namespace mmcpp
