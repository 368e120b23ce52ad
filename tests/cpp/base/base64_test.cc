// Base64: equal to the reference crate on its stored verdicts, and forgiving exactly where it says.
#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/base64_encode.h"
#include "support/golden.h"

namespace mmcpp {
namespace {

std::string Text(const Buffer& buffer) {
  return std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size());
}

std::string HexOf(const Buffer& buffer) {
  static const char digits[] = "0123456789abcdef";
  std::string hex;
  for (size_t i = 0; i < buffer.size(); ++i) {
    hex += {digits[buffer.data()[i] >> 4], digits[buffer.data()[i] & 15]};
  }
  return hex;
}

std::string Noise(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 16);
  return bytes;
}

TEST(Base64Exact, EqualsTheReferenceCrate) {
  const auto cases = test::GoldenFile("base64_strict.json");
  ASSERT_GE(cases.size(), 700u);
  for (const auto& c : cases) {
    const auto text = c[0].get<std::string>();
    auto result = DecodeBase64Exact(text, 1 << 20);
    if (c[1].is_null()) {
      ASSERT_FALSE(result.ok()) << text;
      EXPECT_EQ(result.error().code, ErrorCode::kBadSource);
      EXPECT_EQ(result.error().message, c[2].get<std::string>()) << text;
    } else {
      ASSERT_TRUE(result.ok()) << text << ": " << result.error().message;
      EXPECT_EQ(HexOf(*result), c[1].get<std::string>()) << text;
    }
  }
}

TEST(Base64Exact, LimitIsExactAndLooksAtNoSymbol) {
  EXPECT_TRUE(DecodeBase64Exact(test::EncodeBase64(Noise(1000)), 1000).ok());
  EXPECT_EQ(DecodeBase64Exact(test::EncodeBase64(Noise(1001)), 1000).error().code,
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(DecodeBase64Exact(std::string(4000, '!'), 1000).error().code,
            ErrorCode::kLimitExceeded);
}

TEST(Base64Lenient, RoundTripsEveryLength) {
  for (size_t size = 0; size < 200; ++size) {
    const std::string bytes = Noise(size);
    auto result = DecodeBase64Lenient(test::EncodeBase64(bytes), {});
    ASSERT_TRUE(result.ok()) << size;
    EXPECT_EQ(Text(*result), bytes);
    // Exactly at the limit, and one below.
    EXPECT_TRUE(DecodeBase64Lenient(test::EncodeBase64(bytes), {size, false, false}).ok());
    if (size > 0) {
      EXPECT_EQ(
          DecodeBase64Lenient(test::EncodeBase64(bytes), {size - 1, false, false}).error().code,
          ErrorCode::kLimitExceeded);
    }
  }
}

TEST(Base64Lenient, WhitespaceAnywhereChangesNothing) {
  const std::string bytes = Noise(300);
  const std::string text = test::EncodeBase64(bytes);
  for (const char* space : {" ", "\n", "\r\n", "\t", "\f", " \n \t"}) {
    for (size_t step : {1, 2, 3, 4, 5, 7, 76}) {
      std::string broken = space;
      for (size_t i = 0; i < text.size(); i += step) broken += text.substr(i, step) + space;
      // The limit counts decoded bytes, not characters.
      auto result = DecodeBase64Lenient(broken, {bytes.size(), false, false});
      ASSERT_TRUE(result.ok()) << step;
      EXPECT_EQ(Text(*result), bytes);
    }
  }
}

TEST(Base64Lenient, TakesWhatClientsSend) {
  struct Case {
    const char* text;
    Base64Options options;
    const char* expected;
  };
  const Base64Options plain, url_safe{1 << 20, true, false}, escapes{1 << 20, false, true};
  for (const Case& c : std::vector<Case>{
           {"", plain, ""},
           {" \n", plain, ""},
           {"aGVsbG8=", plain, "hello"},
           {"aGVsbG8", plain, "hello"},
           {"aA==", plain, "h"},
           {"aA=", plain, "h"},
           {"aA", plain, "h"},
           {"aA = =\n", plain, "h"},
           {"aH==", plain, "h"},  // unused bits
           {"-_-_", url_safe, "\xfb\xff\xbf"},
           {"-/+_", url_safe, "\xfb\xff\xbf"},
           {"%2B/%2b%2F", escapes, "\xfb\xff\xbf"},
           {"aGVsbG8%3D", escapes, "hello"},
           {"aGVs%0AbG8%3d", escapes, "hello"},
       }) {
    auto result = DecodeBase64Lenient(c.text, c.options);
    ASSERT_TRUE(result.ok()) << c.text << ": " << result.error().message;
    EXPECT_EQ(Text(*result), c.expected) << c.text;
  }
}

TEST(Base64Lenient, RefusesAndNeverSkips) {
  struct Case {
    std::string text;
    const char* message;
  };
  for (const Case& c : std::vector<Case>{
           {"a", "base64: a lone symbol at the end of 1 characters"},
           {"aGVsb", "base64: a lone symbol at the end of 5 characters"},
           {"aGVs=", "base64: unexpected '=' at offset 4"},
           {"aGVsbG8==", "base64: unexpected '=' at offset 8"},
           {"aA===", "base64: unexpected '=' at offset 4"},
           {"=", "base64: unexpected '=' at offset 0"},
           {"a=", "base64: unexpected '=' at offset 1"},
           {"aA=A", "base64: data after the padding, at offset 3"},
           {"aGVs!G8=", "base64: byte 0x21 at offset 4 is not in the alphabet"},
           {"aGVsbG-=",
            "base64: byte 0x2d at offset 6 is not in the alphabet (the url-safe alphabet is off)"},
           {"aGVs%2B", "base64: byte 0x25 at offset 4 is not in the alphabet"},
           {"aGVs\vbG8=", "base64: byte 0x0b at offset 4 is not in the alphabet"},
           {std::string("aG\0s", 4), "base64: byte 0x00 at offset 2 is not in the alphabet"},
           {"aGVs\xc3\xa9", "base64: byte 0xc3 at offset 4 is not in the alphabet"},
       }) {
    auto result = DecodeBase64Lenient(c.text, {});
    ASSERT_FALSE(result.ok()) << c.text;
    EXPECT_EQ(result.error().code, ErrorCode::kBadSource);
    EXPECT_EQ(result.error().message, c.message);
  }
  // Every byte that is no symbol, at every place of a group.
  const std::string text = test::EncodeBase64(Noise(12));
  for (int c = 0; c < 256; ++c) {
    const bool symbol = std::isalnum(c) || c == '+' || c == '/';
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
    if (symbol || space) continue;
    for (size_t at = 0; at + 4 < text.size(); ++at) {
      std::string changed = text;
      changed[at] = static_cast<char>(c);
      EXPECT_FALSE(DecodeBase64Lenient(changed, {}).ok()) << c << " at " << at;
    }
  }
}

TEST(Base64Lenient, MalformedEscapeIsNoSymbol) {
  for (const char* text : {"aGVs%", "aGVs%2", "aGVs%zz", "aGVs%21"}) {
    EXPECT_FALSE(DecodeBase64Lenient(text, {1 << 20, false, true}).ok()) << text;
  }
}

}  // namespace
}  // namespace mmcpp
