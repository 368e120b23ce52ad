// data: URLs as clients write them, and which of the two decoders a source goes to.
#include "mmcpp/source.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mmcpp {
namespace {

std::string Text(const Buffer& buffer) {
  return std::string(reinterpret_cast<const char*>(buffer.data()), buffer.size());
}

struct Good {
  std::string url, expected;
};
struct Bad {
  std::string url, message;
};

TEST(DataUrl, Accepts) {
  for (const Good& c : std::vector<Good>{
           {"data:,", ""},
           {"data:;base64,", ""},
           {"data:,abc", "abc"},
           {"data:image/png,abc", "abc"},
           {"data:image/png;base64,aGVsbG8=", "hello"},
           {"data:image/png;base64,aGVsbG8", "hello"},
           {"DATA:image/png;BASE64,aGVsbG8=", "hello"},
           {"Data:Image/PNG;Base64,aGVsbG8=", "hello"},
           {"data:image/png; base64,aGVsbG8=", "hello"},
           {"data:image/png;base64 ,aGVsbG8=", "hello"},
           {"data:image/png;charset=utf-8;base64,aGVsbG8=", "hello"},
           {"data:image/png;name=\"a b.png\";base64,aGVsbG8=", "hello"},
           {"data:;charset=US-ASCII,a%20b", "a b"},
           // The label says nothing about the payload.
           {"data:text/plain;base64,aGVsbG8=", "hello"},
           {"data:not a media type;base64,aGVsbG8=", "hello"},
           // No ";base64" at the end of the label: percent-encoded.
           {"data:base64,aGVsbG8=", "aGVsbG8="},
           {"data:image/png;base64;x=1,aGVsbG8=", "aGVsbG8="},
           {"data:text/plain,hello", "hello"},
           {"data:,%89PNG%0D%0a%1A%00", std::string("\x89PNG\r\n\x1a\0", 8)},
           {"data:,a+b,c;d", "a+b,c;d"},
           {"data:,\xc3\xa9", "\xc3\xa9"},
           {"data:,a\r\nb\tc d", "abc d"},
           {"data:;base64,aGVs\r\nbG8=\r\n", "hello"},
           {"data:;base64,  aGVs bG8=", "hello"},
           {"data:;base64,%61GVsbG8%3D", "hello"},
           {"data:;base64,%2B%2F%2B%2F", "\xfb\xff\xbf"},
       }) {
    auto result = DecodeDataUrl(c.url);
    ASSERT_TRUE(result.ok()) << c.url << ": " << result.error().message;
    EXPECT_EQ(Text(*result), c.expected) << c.url;
  }
}

TEST(DataUrl, Refuses) {
  for (const Bad& c : std::vector<Bad>{
           {"", "data url: does not begin with \"data:\""},
           {"date:,", "data url: does not begin with \"data:\""},
           {"data:", "data url: no comma before the data"},
           {"data:image/png", "data url: no comma before the data"},
           {"data:image/png;base64", "data url: no comma before the data"},
           {"data:,a%", "data url: malformed escape at offset 7"},
           {"data:,a%4", "data url: malformed escape at offset 7"},
           {"data:,%zz", "data url: malformed escape at offset 6"},
           {"data:,a#b", "data url: byte 35 at offset 7 must be percent-encoded"},
           {std::string("data:,\0", 7), "data url: byte 0 at offset 6 must be percent-encoded"},
           {"data:;base64,@@@@", "data url: base64: byte 0x40 at offset 0 is not in the alphabet"},
           {"data:;base64,aGVs#a",
            "data url: base64: byte 0x23 at offset 4 is not in the alphabet"},
           {"data:;base64,aGVs,bG8=",
            "data url: base64: byte 0x2c at offset 4 is not in the alphabet"},
           {"data:;base64,aGVsb", "data url: base64: a lone symbol at the end of 5 characters"},
       }) {
    auto result = DecodeDataUrl(c.url);
    ASSERT_FALSE(result.ok()) << c.url;
    EXPECT_EQ(result.error().code, ErrorCode::kBadSource);
    EXPECT_EQ(result.error().message, c.message) << c.url;
  }
}

TEST(DataUrl, UrlSafeAlphabetIsAnOption) {
  EXPECT_FALSE(DecodeDataUrl("data:;base64,-_-_").ok());
  SourceOptions options;
  options.url_safe = true;
  auto result = DecodeDataUrl("data:;base64,-_-_", options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Text(*result), "\xfb\xff\xbf");
}

TEST(DataUrl, LimitIsExact) {
  SourceOptions options;
  options.max_bytes = 5;
  for (const char* url : {"data:,hello", "data:,hell%6f", "data:;base64,aGVs\n\n\n\n\nbG8="}) {
    EXPECT_TRUE(DecodeDataUrl(url, options).ok()) << url;
  }
  for (const char* url : {"data:,hello!", "data:,hello%21", "data:;base64,aGVsbG8h"}) {
    EXPECT_EQ(DecodeDataUrl(url, options).error().code, ErrorCode::kLimitExceeded) << url;
  }
}

TEST(Source, WhatIsNoDataUrlIsBase64) {
  EXPECT_EQ(Text(*DecodeSource("aGVsbG8=")), "hello");
  EXPECT_EQ(Text(*DecodeSource("dAtA:,aGVsbG8=")), "aGVsbG8=");
  EXPECT_EQ(DecodeSource("").value().size(), 0u);
  for (const char* text : {"http://example.org/a.png", "file:///etc/hostname", "/etc/hostname"}) {
    EXPECT_EQ(DecodeSource(text).error().code, ErrorCode::kBadSource) << text;
  }
}

TEST(Source, StrictDecoderKeepsItsTexts) {
  EXPECT_EQ(Text(*DecodeBase64Strict("aGVsbG8=")), "hello");
  EXPECT_EQ(DecodeBase64Strict("aGVsbG8").error().message, "Invalid padding");
  EXPECT_EQ(DecodeBase64Strict("aGVs\n").error().message, "Invalid symbol 10, offset 4.");
}

}  // namespace
}  // namespace mmcpp
