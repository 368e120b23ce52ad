#include "codec/jpeg_header.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace mmcpp::codec {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kStart = "\xff\xd8"sv;
constexpr std::string_view kFrame = "\xff\xc0\0\x11\x08\0\5\0\7\3\1\x22\0\2\x11\0\3\x11\0"sv;
constexpr std::string_view kScan = "\xff\xda\0\x0c\3\1\0\2\0\3\0\0\x3f\0"sv;

std::string Segment(char marker, std::string_view payload) {
  std::string segment("\xff");
  segment += marker;
  segment += static_cast<char>((payload.size() + 2) >> 8);
  segment += static_cast<char>(payload.size() + 2);
  return segment.append(payload);
}

Result<JpegHeader> Read(const std::string& middle, bool need_scan = true) {
  const std::string bytes = std::string(kStart) + middle;
  return ReadJpegHeader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, need_scan);
}

const std::string kWhole = std::string(kFrame) + std::string(kScan);

TEST(ReadJpegHeader, GivesSizeAndKind) {
  const JpegHeader header = Read(kWhole).value();
  EXPECT_EQ(header.height, 5);
  EXPECT_EQ(header.width, 7);
  EXPECT_EQ(header.components, 3);
  EXPECT_EQ(header.sof, 0xc0);
  EXPECT_TRUE(header.has_scan);
  EXPECT_EQ(header.frames, 1);
  EXPECT_TRUE(header.exif.empty());
}

TEST(ReadJpegHeader, PassesPaddingJunkAndBareMarkers) {
  for (std::string_view junk : {"\xff\xff\xff"sv, "junk"sv, "\xff\0\0"sv, "\xff\xd0"sv,
                                "\xff\xd8"sv, "\xff\xd9"sv, "\xff\xc8"sv, "\xff\xf3"sv}) {
    EXPECT_TRUE(Read(std::string(junk) + kWhole).ok()) << junk;
  }
  EXPECT_FALSE(Read("\xff\x02" + kWhole).ok());  // no marker at all
}

TEST(ReadJpegHeader, RefusesWhatPillowRefuses) {
  EXPECT_FALSE(Read(std::string(kScan)).ok());   // no frame
  EXPECT_FALSE(Read(std::string(kFrame)).ok());  // no scan
  EXPECT_FALSE(Read(Segment('\xc0', "\x08\0\5\0\7\3\1\x22\0\2\x11"sv) + std::string(kScan)).ok());
  EXPECT_FALSE(Read(Segment('\xc0', "\x08\0\0\0\7\1\1\x11\0"sv) + std::string(kScan)).ok());
  EXPECT_FALSE(Read(Segment('\xc0', "\x08\0\5\0\0\1\1\x11\0"sv) + std::string(kScan)).ok());
  EXPECT_EQ(Read(Segment('\xc1', "\x0c\0\5\0\7\1\1\x11\0"sv)).error().code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(Read(Segment('\xc0', "\x08\0\5\0\7\2\1\x11\0\2\x11\0"sv)).error().code,
            ErrorCode::kUnsupported);
  EXPECT_FALSE(Read(Segment('\xdb', "\0short"sv) + kWhole).ok());
  EXPECT_TRUE(Read(Segment('\xdb', std::string(65, '\0')) + kWhole).ok());
  EXPECT_FALSE(Read(Segment('\xdb', "\x10" + std::string(127, '\0')) + kWhole).ok());
  EXPECT_FALSE(Read(Segment('\xe0', "JFIF\0\1"sv) + kWhole).ok());
  EXPECT_TRUE(Read(Segment('\xe0', "JFIF\0\1\1"sv) + kWhole).ok());
  EXPECT_FALSE(Read(Segment('\xee', "Adobe\0"sv) + kWhole).ok());
  EXPECT_TRUE(Read(Segment('\xed', "Photoshop 3.0\0"sv) + kWhole).ok());
  EXPECT_TRUE(Read(Segment('\xed',
                           "Photoshop 3.0\0"
                           "8BIM\3"sv) +
                   kWhole)
                  .ok());
  EXPECT_FALSE(Read(Segment('\xed',
                            "Photoshop 3.0\0"
                            "8BIM\3\xed"sv) +
                    kWhole)
                   .ok());
}

TEST(ReadJpegHeader, HeaderAloneMayEndAnywhereBehindTheFrame) {
  const std::string bytes = std::string(kFrame) + Segment('\xe1', "Exif\0\0data"sv);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const auto header = Read(bytes.substr(0, size), false);
    EXPECT_EQ(header.ok(), size >= kFrame.size()) << size;
    EXPECT_FALSE(Read(bytes.substr(0, size), true).ok()) << size;
  }
}

TEST(ReadJpegHeader, JoinsExifAndKeepsTheLastXmp) {
  const JpegHeader header =
      Read(Segment('\xe1', "Exif\0\0one"sv) + Segment('\xe1', "Exif\0\0two"sv) +
           Segment('\xe1', "http://ns.adobe.com/xap/1.0/\0first"sv) +
           Segment('\xe1', "http://ns.adobe.com/xap/1.0/\0second"sv) + kWhole)
          .value();
  EXPECT_EQ(std::string(header.exif.begin(), header.exif.end()), "Exif\0\0onetwo"sv);
  EXPECT_EQ(header.xmp.size(), 6u);
}

TEST(ReadJpegHeader, SaysWhere) {
  EXPECT_EQ(Read(std::string(kFrame).substr(0, 10)).error().message,
            "jpeg: ends in a segment at byte 6 of 12");
  EXPECT_EQ(Read("").error().message, "jpeg: ends at byte 2 before any frame header");
}

}  // namespace
}  // namespace mmcpp::codec
