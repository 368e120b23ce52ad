#include "codec/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "mmcpp/image.h"
#include "support/decode_golden.h"

namespace mmcpp {
namespace {

/// The segments of a JPEG up to its first scan, for a size that no data follow.
std::vector<uint8_t> JpegHeaderOf(int height, int width) {
  const auto high = [](int v) { return static_cast<uint8_t>(v >> 8); };
  const auto low = [](int v) { return static_cast<uint8_t>(v); };
  return {0xff,        0xd8,       0xff, 0xc0, 0,    11, 8,    high(height), low(height),
          high(width), low(width), 1,    1,    0x11, 0,  0xff, 0xda,         0,
          8,           1,          1,    0,    0,    63, 0};
}

TEST(DecodeProfile, GivesWhatEachStackDoes) {
  const DecodeOptions pillow = DecodeProfile("pillow").value();
  EXPECT_EQ(pillow.alpha, AlphaMode::kDrop);
  EXPECT_EQ(pillow.deep, DeepMode::kPillow);
  EXPECT_FALSE(pillow.apply_orientation);
  const DecodeOptions hf = DecodeProfile("hf").value();
  EXPECT_EQ(hf.alpha, AlphaMode::kComposite);
  EXPECT_EQ(hf.background, (std::array<uint8_t, 3>{255, 255, 255}));
  EXPECT_FALSE(hf.apply_orientation);
  const DecodeOptions vllm = DecodeProfile("vllm").value();
  EXPECT_EQ(vllm.alpha, AlphaMode::kPaste);
  EXPECT_TRUE(vllm.apply_orientation);
  const DecodeOptions sglang = DecodeProfile("sglang").value();
  EXPECT_EQ(sglang.alpha, AlphaMode::kDrop);
  EXPECT_EQ(sglang.deep, DeepMode::kRefuse);
  EXPECT_FALSE(sglang.apply_orientation);
  EXPECT_EQ(DecodeProfile("Pillow").error().code, ErrorCode::kInvalidArgument);
}

TEST(DecodeImageInto, TakesNoAlpha) {
  DecodeOptions options;
  options.alpha = AlphaMode::kKeep;
  uint8_t pixel[4];
  EXPECT_EQ(DecodeImageInto(JpegHeaderOf(1, 1), options, {pixel, 1, 1, 3}).error().message,
            "decode: an output of three channels, and alpha to be kept");
}

TEST(DecodeLimits, AreHeldAgainstTheHeader) {
  DecodeOptions options;
  const auto bomb = DecodeImage(JpegHeaderOf(65535, 65535), options);
  EXPECT_EQ(bomb.error().code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(bomb.error().message,
            "jpeg: 65535x65535 is 4294836225 pixels, over the limit of 178956970");

  options.limits.max_side = 1000;
  EXPECT_EQ(DecodeImage(JpegHeaderOf(1, 1001), options).error().message,
            "jpeg: 1x1001 (height x width) has a side over the limit of 1000");
  EXPECT_EQ(DecodeImage(JpegHeaderOf(1001, 1), options).error().code, ErrorCode::kLimitExceeded);

  options.limits.max_encoded_bytes = 24;
  EXPECT_EQ(DecodeImage(JpegHeaderOf(8, 8), options).error().message,
            "decode: 25 encoded bytes, over the limit of 24");
}

TEST(DecodeLimits, ArePillowsByDefault) {
  // Pillow 13 refuses more than 2 * (2^30 / 4 / 3) pixels, and not one fewer.
  EXPECT_EQ(DecodeLimits().max_pixels, uint64_t{2} * (1024 * 1024 * 1024 / 4 / 3));
}

TEST(ReadImageInfo, NeedsTheHeaderAlone) {
  const auto info = ReadImageInfo(JpegHeaderOf(65535, 3)).value();
  EXPECT_EQ(info.format, ImageFormat::kJpeg);
  EXPECT_EQ(info.height, 65535);
  EXPECT_EQ(info.width, 3);
  EXPECT_EQ(info.mode, "L");
  EXPECT_STREQ(ImageFormatName(info.format), "jpeg");
}

TEST(DecodeImage, RefusesNothingAndNonsenseByKind) {
  EXPECT_EQ(DecodeImage({}).error().code, ErrorCode::kInvalidArgument);
  const std::string page = "<!doctype html><p>404";
  const auto html = DecodeImage({reinterpret_cast<const uint8_t*>(page.data()), page.size()});
  EXPECT_EQ(html.error().code, ErrorCode::kUnsupported);
  const auto ends = DecodeImage(JpegHeaderOf(8, 8));
  EXPECT_EQ(ends.error().code, ErrorCode::kCorruptInput);
}

TEST(DecodeImageInto, FillsTheCallersRowsAndNothingElse) {
  const struct {
    const char* file;
    const char* profile;
  } cases[] = {{"decode_jpeg_fuzz/rgb420.jpg", "pillow"},
               {"decode_jpeg_fuzz/orientation6.jpg", "vllm"},  // turned
               {"decode_bmp_fuzz/bits24_dib.bmp", "hf"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.file);
    const std::vector<uint8_t> bytes = test::FuzzFile("corpus/" + std::string(c.file));
    const DecodeOptions options = DecodeProfile(c.profile).value();
    const auto want = DecodeImage(bytes, options);
    ASSERT_TRUE(want.ok());
    const size_t row = want->row_bytes();
    std::vector<uint8_t> memory(static_cast<size_t>(want->height()) * (row + 9), 0xcd);
    const ImageSpan out = {memory.data(), want->height(), want->width(), row + 9};
    ASSERT_TRUE(DecodeImageInto(bytes, options, out).ok());
    for (int y = 0; y < out.height; ++y) {
      EXPECT_TRUE(std::equal(out.row(y), out.row(y) + row, want->row(y)));
      EXPECT_EQ(std::count(out.row(y) + row, out.row(y) + row + 9, 0xcd), 9);
    }
    ImageSpan bad = out;
    bad.height += 1;
    const auto taller = DecodeImageInto(bytes, options, bad);
    EXPECT_EQ(taller.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(taller.error().message.find(" for a picture of " + std::to_string(out.height) + "x"),
              std::string::npos);
    bad = out;
    bad.data = nullptr;
    EXPECT_EQ(DecodeImageInto(bytes, options, bad).error().code, ErrorCode::kInvalidArgument);
    bad = out;
    bad.row_bytes = row - 1;
    EXPECT_EQ(DecodeImageInto(bytes, options, bad).error().code, ErrorCode::kInvalidArgument);
  }
}

// Turned pictures have no order of rows to keep; a turn that is none costs nothing.
TEST(OpenImage, StreamsWhatNeedsNoWholePicture) {
  const auto whole = [](const char* file, const char* profile) {
    const std::vector<uint8_t> bytes = test::FuzzFile("corpus/" + std::string(file));
    const auto opened = codec::OpenImage(bytes, DecodeProfile(profile).value());
    EXPECT_TRUE(opened.ok()) << file;
    return opened->rows->whole() != nullptr;
  };
  EXPECT_FALSE(whole("decode_jpeg_fuzz/rgb420.jpg", "vllm"));
  EXPECT_FALSE(whole("decode_jpeg_fuzz/progressive.jpg", "pillow"));
  EXPECT_FALSE(whole("decode_jpeg_fuzz/orientation6.jpg", "hf"));
  EXPECT_TRUE(whole("decode_jpeg_fuzz/orientation6.jpg", "vllm"));
  EXPECT_FALSE(whole("decode_bmp_fuzz/bits24_dib.bmp", "pillow"));
}

// What is decoded before the first row is there is ended from within.
TEST(OpenImage, EndsWhenItIsTo) {
  const auto opened = [](const std::string& file, const Stop& stop) -> std::string {
    const std::vector<uint8_t> bytes = test::FuzzFile("corpus/" + file);
    const auto image = codec::OpenImage(bytes, {}, stop);
    return image.ok() ? "ok" : ErrorCodeName(image.error().code) + (": " + image.error().message);
  };
  std::atomic<bool> flag{true};
  Stop late, cancelled;
  late.deadline = std::chrono::steady_clock::now();
  cancelled.cancelled = &flag;
  for (const char* file : {"decode_jpeg_fuzz/progressive.jpg", "decode_png_fuzz/color2_depth8.png",
                           "decode_png_fuzz/color2_depth8_interlaced.png",
                           "decode_png_fuzz/stream_long.png", "decode_gif_fuzz/bits8.gif"}) {
    EXPECT_EQ(opened(file, late), "deadline_exceeded: decode: the deadline has passed") << file;
    EXPECT_EQ(opened(file, cancelled), "cancelled: decode: the request was cancelled") << file;
    EXPECT_EQ(opened(file, {}), "ok") << file;
  }
  flag = false;
  late.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(opened("decode_jpeg_fuzz/progressive.jpg", cancelled), "ok");
  EXPECT_EQ(opened("decode_jpeg_fuzz/progressive.jpg", late), "ok");
}

}  // namespace
}  // namespace mmcpp
