#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mmcpp/image.h"
#include "support/decode_golden.h"

namespace mmcpp {
namespace {

std::vector<uint8_t> Seed(const char* name) {
  return test::FuzzFile("corpus/decode_webp_fuzz/" + std::string(name) + ".webp");
}

TEST(DecodeWebp, EqualsPillow) {
  EXPECT_GE(test::CheckGoldenPictures("decode_jpeg_webp.json", "decode_webp_fuzz"), 11);
}

TEST(DecodeWebp, HeaderIsReadFromItsFirstBytes) {
  const auto info = ReadImageInfo(Seed("header_alone")).value();
  EXPECT_EQ(info.height, 13);
  EXPECT_EQ(info.width, 19);
  std::vector<uint8_t> lossy = Seed("lossy");
  lossy.resize(30);
  EXPECT_EQ(ReadImageInfo(lossy).value().width, 19);
  std::vector<uint8_t> animated = Seed("animated");
  animated.resize(30);
  EXPECT_EQ(ReadImageInfo(animated).value().width, 19);
}

TEST(DecodeWebp, CanvasIsHeldAgainstTheLimits) {
  std::vector<uint8_t> bytes = Seed("animated");
  for (int i = 24; i < 30; ++i) bytes[static_cast<size_t>(i)] = 0xff;  // 2^24 x 2^24
  const auto bomb = DecodeImage(bytes);
  EXPECT_FALSE(bomb.ok());
  bytes = Seed("lossy");
  DecodeOptions options;
  options.limits.max_pixels = 13 * 19 - 1;
  EXPECT_EQ(DecodeImage(bytes, options).error().code, ErrorCode::kLimitExceeded);
  options.limits.max_pixels = 13 * 19;
  EXPECT_TRUE(DecodeImage(bytes, options).ok());
}

TEST(DecodeWebp, BoundsTheNumberOfChunks) {
  const std::vector<uint8_t> picture = Seed("xmp");  // VP8X: any chunk may follow
  for (const size_t count : {size_t{1000}, size_t{100'000}}) {
    std::vector<uint8_t> bytes = picture;
    for (size_t i = 0; i < count; ++i) bytes.insert(bytes.end(), {'j', 'u', 'n', 'k', 0, 0, 0, 0});
    const size_t size = bytes.size() - 8;
    for (size_t i = 0; i < 4; ++i) bytes[4 + i] = static_cast<uint8_t>(size >> 8 * i);
    const auto image = DecodeImage(bytes);
    EXPECT_EQ(image.ok(), count == 1000);
    if (!image.ok()) {
      EXPECT_EQ(image.error().message, "webp: more than the limit of 100000 chunks");
    }
  }
}

TEST(DecodeWebp, BackgroundIsTheCallers) {
  DecodeOptions options = DecodeProfile("hf").value();
  options.background = {10, 20, 30};
  const Image image = DecodeImage(Seed("moved_frame"), options).value();
  // The corner of the canvas that the frame does not cover is transparent.
  EXPECT_EQ(image.row(0)[0], 10);
  EXPECT_EQ(image.row(0)[1], 20);
  EXPECT_EQ(image.row(0)[2], 30);
}

TEST(DecodeWebp, EveryPrefixIsRefusedWithoutHarm) {
  for (const char* name : {"lossy_alpha", "lossless_alpha", "animated", "orientation6"}) {
    const std::vector<uint8_t> bytes = Seed(name);
    for (size_t size = 12; size < bytes.size(); ++size) {
      const std::vector<uint8_t> prefix(bytes.begin(),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(DecodeImage(prefix).ok()) << name << " " << size;
      (void)ReadImageInfo(prefix);
    }
  }
}

}  // namespace
}  // namespace mmcpp
