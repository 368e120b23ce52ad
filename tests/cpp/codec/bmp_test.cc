#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mmcpp/image.h"
#include "support/decode_golden.h"

namespace mmcpp {
namespace {

using ByteVector = std::vector<uint8_t>;

ByteVector Seed(const std::string& name) {
  return test::FuzzFile("corpus/decode_bmp_fuzz/" + name + ".bmp");
}

/// A BMP of 8 bits, RLE8 or RLE4, whose colour i is (i, 0, 0).
ByteVector RleFile(uint8_t height, uint8_t width, bool rle4, const ByteVector& program,
                   uint8_t gap = 0) {
  ByteVector file = {'B',
                     'M',
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     static_cast<uint8_t>(54 + gap),
                     4,
                     0,
                     0,
                     40,
                     0,
                     0,
                     0,
                     width,
                     0,
                     0,
                     0,
                     height,
                     0,
                     0,
                     0,
                     1,
                     0,
                     8,
                     0,
                     static_cast<uint8_t>(rle4 ? 2 : 1)};
  file.resize(54);
  for (int i = 0; i < 256; ++i) {
    file.insert(file.end(), {0, 0, static_cast<uint8_t>(i), 0});  // blue first
  }
  file.resize(file.size() + gap);
  file.insert(file.end(), program.begin(), program.end());
  return file;
}

/// The reds of the picture, top row first; nothing if it is refused.
ByteVector Reds(const ByteVector& file) {
  const auto image = DecodeImage(file);
  ByteVector reds;
  if (!image.ok()) return reds;
  for (int i = 0; i < image->height() * image->width(); ++i) reds.push_back(image->data()[3 * i]);
  return reds;
}

TEST(DecodeBmp, EqualsPillow) {
  EXPECT_GE(test::CheckGoldenPictures("decode_png_gif_bmp.json", "decode_bmp_fuzz"), 80);
}

TEST(DecodeBmp, InfoSaysHowDeepAndWhetherTransparent) {
  EXPECT_EQ(ReadImageInfo(Seed("bits4_header40"))->bit_depth, 4);
  EXPECT_EQ(ReadImageInfo(Seed("bits32_header40"))->bit_depth, 8);
  EXPECT_FALSE(ReadImageInfo(Seed("bits32_header40"))->has_alpha);
  EXPECT_TRUE(ReadImageInfo(Seed("bits32_masks5"))->has_alpha);
}

// The kind of fault: RLE programs that go elsewhere than row by row.
TEST(DecodeBmp, RleDeltasLeaveColour0) {
  // Bottom row: two of 7, one to the right skipped, 9; then one up and one right of where it
  // stands.
  const ByteVector program = {2, 7, 0, 2, 1, 0, 1, 9, 0, 2, 1, 1, 3, 5, 0, 1};
  EXPECT_EQ(Reds(RleFile(3, 4, false, program)), (ByteVector{0, 5, 5, 5, 0, 0, 0, 0, 7, 7, 0, 9}));
}

TEST(DecodeBmp, RleAbsoluteRunsOfOddLengthKeepTheirLastPixel) {
  EXPECT_EQ(Reds(RleFile(1, 3, true, {0, 3, 0x12, 0x30})), (ByteVector{1, 2, 3}));
  EXPECT_EQ(Reds(RleFile(1, 5, true, {0, 5, 0x12, 0x34, 0x50, 0})), (ByteVector{1, 2, 3, 4, 5}));
  EXPECT_EQ(Reds(RleFile(2, 3, false, {0, 3, 1, 2, 3, 0, 0, 3, 4, 5, 6, 0})),
            (ByteVector{4, 5, 6, 1, 2, 3}));
  // Runs are padded to even offsets of the file, which is odd where the pixels start at one.
  EXPECT_EQ(Reds(RleFile(2, 3, false, {0, 3, 1, 2, 3, 0, 3, 4, 5, 6}, 1)),
            (ByteVector{4, 5, 6, 1, 2, 3}));
}

TEST(DecodeBmp, RleRunsEndWithTheRow) {
  EXPECT_EQ(Reds(RleFile(2, 3, false, {255, 7, 0, 0, 3, 8})), (ByteVector{8, 8, 8, 7, 7, 7}));
  EXPECT_EQ(Reds(RleFile(1, 3, true, {200, 0x12})), (ByteVector{1, 2, 1}));
}

TEST(DecodeBmp, RleThatEndsEarlyIsRefused) {
  EXPECT_EQ(Reds(RleFile(2, 3, false, {3, 7, 0, 0, 0, 1})), ByteVector());
  EXPECT_EQ(Reds(RleFile(2, 3, false, {3, 7, 3})), ByteVector());
  EXPECT_EQ(Reds(RleFile(2, 3, false, {0, 3, 1})), ByteVector());
  EXPECT_EQ(Reds(RleFile(2, 3, false, {0, 2, 1})), ByteVector());
  EXPECT_EQ(Reds(RleFile(2, 3, false, {3, 7, 0, 0, 2, 8, 0, 0})), (ByteVector{8, 8, 0, 7, 7, 7}));
  const auto image = DecodeImage(RleFile(2, 3, false, {3, 7, 0, 1}));
  EXPECT_EQ(image.error().message, "bmp: RLE data end at pixel 3 of 6");
  EXPECT_EQ(image.error().code, ErrorCode::kCorruptInput);
}

// The kind of fault: a header of a few bytes that promises gigapixels.
TEST(DecodeBmp, SizesAreHeldAgainstTheLimits) {
  const auto bomb = DecodeImage(Seed("height_minus_2_31"));
  EXPECT_EQ(bomb.error().code, ErrorCode::kLimitExceeded);
}

TEST(DecodeBmp, RowsAreAllThereOrThePictureIsRefused) {
  const ByteVector whole = Seed("bits24_header40");
  ByteVector cut = whole;
  cut.resize(whole.size() - 3);  // the padding of the last row
  EXPECT_TRUE(DecodeImage(cut).ok());
  cut.resize(whole.size() - 4);
  EXPECT_EQ(DecodeImage(cut).error().code, ErrorCode::kCorruptInput);
}

}  // namespace
}  // namespace mmcpp
