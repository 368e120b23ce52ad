#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mmcpp/image.h"
#include "support/decode_golden.h"

namespace mmcpp {
namespace {

std::vector<uint8_t> Seed(const char* name) {
  return test::FuzzFile("corpus/decode_jpeg_fuzz/" + std::string(name) + ".jpg");
}

TEST(DecodeJpeg, EqualsPillow) {
  EXPECT_GE(test::CheckGoldenPictures("decode_jpeg_webp.json", "decode_jpeg_fuzz"), 35);
}

TEST(DecodeJpeg, SaysWhereAFileEnds) {
  const auto cut = DecodeImage(Seed("cut"));
  EXPECT_EQ(cut.error().code, ErrorCode::kCorruptInput);
  EXPECT_EQ(cut.error().message.substr(0, 19), "jpeg: ends at byte ");
  EXPECT_NE(cut.error().message.find("in row 0 of 13"), std::string::npos) << cut.error().message;
}

TEST(DecodeJpeg, CallsWhatItCannotDecodeUnsupported) {
  for (const char* name : {"twelve_bits", "two_components", "lossless", "sampling_illegal"}) {
    EXPECT_EQ(DecodeImage(Seed(name)).error().code, ErrorCode::kUnsupported) << name;
  }
  for (const char* name : {"no_rows", "without_eoi", "header_alone"}) {
    EXPECT_EQ(DecodeImage(Seed(name)).error().code, ErrorCode::kCorruptInput) << name;
  }
}

TEST(DecodeJpeg, HeaderIsReadWithoutTheScan) {
  const auto info = ReadImageInfo(Seed("header_alone")).value();
  EXPECT_EQ(info.height, 13);
  EXPECT_EQ(info.width, 19);
}

/// A progressive picture whose last scan is repeated.
std::vector<uint8_t> WithScans(int count) {
  std::vector<uint8_t> bytes = Seed("progressive");
  const uint8_t start_of_scan[] = {0xff, 0xda};
  const auto scan =
      std::find_end(bytes.begin(), bytes.end(), std::begin(start_of_scan), std::end(start_of_scan));
  const std::vector<uint8_t> repeated(scan, bytes.end() - 2);  // without EOI
  bytes.resize(bytes.size() - 2);
  for (int i = 0; i < count; ++i) bytes.insert(bytes.end(), repeated.begin(), repeated.end());
  bytes.insert(bytes.end(), {0xff, 0xd9});
  return bytes;
}

TEST(DecodeJpeg, BoundsTheNumberOfScans) {
  EXPECT_TRUE(DecodeImage(WithScans(400)).ok());
  const auto many = DecodeImage(WithScans(600));
  EXPECT_EQ(many.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(many.error().message,
            "jpeg: more than 500 scans over a picture of 13x19 (height x width)");
}

TEST(DecodeJpeg, EveryPrefixIsRefusedWithoutHarm) {
  for (const char* name : {"rgb420", "progressive", "arithmetic", "orientation6"}) {
    const std::vector<uint8_t> bytes = Seed(name);
    for (size_t size = 3; size < bytes.size(); ++size) {
      const std::vector<uint8_t> prefix(bytes.begin(),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(size));
      SCOPED_TRACE(name + std::string(" ") + std::to_string(size));
      const auto refused = DecodeImage(prefix);
      EXPECT_FALSE(refused.ok());
      test::CheckRows(prefix, {}, refused);
      (void)ReadImageInfo(prefix);
    }
  }
}

}  // namespace
}  // namespace mmcpp
