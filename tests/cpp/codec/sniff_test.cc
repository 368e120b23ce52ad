#include "codec/sniff.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace mmcpp::codec {
namespace {

using std::string_view_literals::operator""sv;

Result<ImageFormat> Sniff(std::string_view bytes) {
  return SniffFormat({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

TEST(Sniff, TellsTheFormatByContent) {
  EXPECT_EQ(Sniff("\xff\xd8\xff\xe0"sv).value(), ImageFormat::kJpeg);
  EXPECT_EQ(Sniff("\x89PNG\r\n\x1a\n"sv).value(), ImageFormat::kPng);
  EXPECT_EQ(Sniff("RIFF\x24\0\0\0WEBPVP8 "sv).value(), ImageFormat::kWebp);
  EXPECT_EQ(Sniff("GIF87a\1\0\1\0"sv).value(), ImageFormat::kGif);
  EXPECT_EQ(Sniff("GIF89a\1\0\1\0"sv).value(), ImageFormat::kGif);
  EXPECT_EQ(Sniff("BM\0\0\0\0"sv).value(), ImageFormat::kBmp);
  EXPECT_EQ(Sniff("\x28\0\0\0\1\0\0\0"sv).value(), ImageFormat::kBmp);  // a bare DIB
}

TEST(Sniff, NoBytesAreTheCallersFault) {
  EXPECT_EQ(Sniff("").error().code, ErrorCode::kInvalidArgument);
}

struct Refusal {
  std::string_view bytes;
  const char* name;
};

TEST(Sniff, NamesWhatItRefuses) {
  const Refusal refusals[] = {
      {"II*\0\x08\0\0\0"sv, "TIFF"},
      {"MM\0*\0\0\0\x08"sv, "TIFF"},
      {"\0\0\0\x18"
       "ftypheic\0\0\0\0"sv,
       "HEIC"},
      {"\0\0\0\x18"
       "ftypmif1\0\0\0\0"sv,
       "HEIF"},
      {"\0\0\0\x1c"
       "ftypavif\0\0\0\0"sv,
       "AVIF"},
      {"\0\0\0\x1c"
       "ftypisom\0\0\2\0"sv,
       "MP4"},
      {"\xff\x0a\0\0"sv, "JPEG XL"},
      {"\0\0\0\x0cJXL \r\n\x87\n"sv, "JPEG XL"},
      {"\0\0\0\x0cjP  \r\n\x87\n"sv, "JPEG 2000"},
      {"\0\0\1\0\1\0"sv, "ICO"},
      {"8BPS\0\1"sv, "PSD"},
      {"P6\n2 2\n255\n"sv, "PNM"},
      {"qoif\0\0\0\1"sv, "QOI"},
      {"SIMPLE  =                    T"sv, "FITS"},
      {"%PDF-1.7\n%\xe2\xe3"sv, "PDF"},
      {"%!PS-Adobe-3.0"sv, "PostScript"},
      {"PK\3\4\x14\0"sv, "ZIP"},
      {"<svg xmlns='http://www.w3.org/2000/svg'/>"sv, "SVG"},
      {"<?xml version='1.0'?>\n<svg/>"sv, "SVG"},
      {"\xef\xbb\xbf  <!DOCTYPE HTML><title>404</title>"sv, "HTML"},
      {"<html><body>Not found"sv, "HTML"},
      {"{\"error\": \"not found\"}"sv, "JSON"},
      {"data:image/png;base64,iVBO"sv, "data URL"},
      {"https://example.com/cat.jpg"sv, "URL"},
      {"just words"sv, "text"},
      {"\x01\x02\x03"sv, "no known picture format; 3 bytes that start 01 02 03"},
      {"\0"sv, "no known picture format"},
  };
  for (const Refusal& refusal : refusals) {
    const auto result = Sniff(refusal.bytes);
    ASSERT_FALSE(result.ok()) << refusal.name;
    EXPECT_EQ(result.error().code, ErrorCode::kUnsupported) << refusal.name;
    EXPECT_NE(result.error().message.find(refusal.name), std::string::npos)
        << result.error().message;
  }
}

TEST(Sniff, ReadsNoByteBeyondTheEnd) {
  // Every prefix of every mark, in an allocation that ends with it.
  for (std::string_view mark :
       {"\xff\xd8\xff"sv, "\x89PNG\r\n\x1a\n"sv, "RIFF\0\0\0\0WEBP"sv, "GIF89a"sv,
        "\0\0\0\x18"
        "ftypheic"sv,
        "P6 "sv, "<?xml"sv}) {
    for (size_t size = 1; size <= mark.size(); ++size) {
      const std::vector<char> exact(mark.begin(), mark.begin() + static_cast<ptrdiff_t>(size));
      (void)SniffFormat({reinterpret_cast<const uint8_t*>(exact.data()), exact.size()});
    }
  }
}

}  // namespace
}  // namespace mmcpp::codec
