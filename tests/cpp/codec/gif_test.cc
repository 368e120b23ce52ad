#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mmcpp/image.h"
#include "support/decode_golden.h"

namespace mmcpp {
namespace {

using ByteVector = std::vector<uint8_t>;

ByteVector Seed(const std::string& name) {
  return test::FuzzFile("corpus/decode_gif_fuzz/" + name + ".gif");
}

ErrorCode CodeOf(const ByteVector& bytes) {
  const auto image = DecodeImage(bytes);
  EXPECT_FALSE(image.ok());
  return image.ok() ? ErrorCode::kInternal : image.error().code;
}

TEST(DecodeGif, EqualsPillow) {
  EXPECT_GE(test::CheckGoldenPictures("decode_png_gif_bmp.json", "decode_gif_fuzz"), 35);
}

// The kind of fault: damaged pixels behind a sound header end as an internal error.
TEST(DecodeGif, DamagedPixelsAreTheCallersFault) {
  const ByteVector whole = Seed("whole");
  EXPECT_TRUE(DecodeImage(whole).ok());
  for (size_t size = 6; size + 1 < whole.size(); ++size) {
    const ByteVector cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto image = DecodeImage(cut);
    EXPECT_TRUE(image.ok() || image.error().code == ErrorCode::kCorruptInput) << size;
  }
  EXPECT_EQ(CodeOf(Seed("cut")), ErrorCode::kCorruptInput);
  EXPECT_EQ(CodeOf(Seed("first_code_wrong")), ErrorCode::kCorruptInput);
}

// The kind of fault: a frame that dwarfs its screen.
TEST(DecodeGif, FramesAreHeldAgainstTheLimits) {
  const auto info = ReadImageInfo(Seed("bomb")).value();
  EXPECT_EQ(info.height, 65000);
  EXPECT_EQ(info.width, 65000);
  EXPECT_EQ(CodeOf(Seed("bomb")), ErrorCode::kLimitExceeded);
}

TEST(DecodeGif, CanvasGrowsToHoldTheFrame) {
  const auto image = DecodeImage(Seed("beyond_screen")).value();
  EXPECT_EQ(image.height(), 12);
  EXPECT_EQ(image.width(), 31);
}

TEST(DecodeGif, FramesAreCounted) {
  EXPECT_EQ(ReadImageInfo(Seed("animated"))->frames, 3);
  EXPECT_EQ(ReadImageInfo(Seed("whole"))->frames, 1);
  // A file cut short has those that can be told.
  ByteVector cut = Seed("animated");
  int frames = 3;
  while (frames > 1) {
    cut.pop_back();
    const int fewer = ReadImageInfo(cut)->frames;
    EXPECT_TRUE(fewer == frames || fewer == frames - 1);
    frames = fewer;
  }
}

TEST(DecodeGif, BackgroundIsTheTransparentColourOrTheFirst) {
  DecodeOptions options;
  options.alpha = AlphaMode::kComposite;
  const auto transparent = DecodeImage(Seed("in_part_transparent"), options).value();
  EXPECT_EQ(std::vector<uint8_t>(transparent.data(), transparent.data() + 3),
            (std::vector<uint8_t>{255, 255, 255}));
  const auto plain = DecodeImage(Seed("in_part"), options).value();
  const ByteVector file = Seed("in_part");
  EXPECT_EQ(std::vector<uint8_t>(plain.data(), plain.data() + 3),
            (std::vector<uint8_t>{file[13], file[14], file[15]}));
}

}  // namespace
}  // namespace mmcpp
