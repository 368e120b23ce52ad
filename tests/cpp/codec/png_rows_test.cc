#include "codec/png_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace mmcpp::codec {
namespace {

using Row = std::vector<uint8_t>;
using Kind = PngTransparency::Kind;

PngHeader Header(PngColor color, int depth, uint32_t width) {
  PngHeader header;
  header.height = 1;
  header.width = width;
  header.color = color;
  header.depth = depth;
  return header;
}

DecodeOptions Options(AlphaMode alpha) {
  DecodeOptions options;
  options.alpha = alpha;
  return options;
}

Row Rgb(const PngHeader& header, const Row& row, AlphaMode alpha = AlphaMode::kDrop) {
  auto rows = PngRows::Create(header, Options(alpha));
  EXPECT_TRUE(rows.ok()) << rows.error().message;
  Row rgb(size_t{header.width} * 3);
  if (rows.ok()) rows->Convert(row.empty() ? nullptr : row.data(), header.width, rgb.data());
  return rgb;
}

bool Refused(const PngHeader& header, AlphaMode alpha = AlphaMode::kDrop) {
  return !PngRows::Create(header, Options(alpha)).ok();
}

TEST(PngRows, GrayOfEveryDepth) {
  EXPECT_EQ(Rgb(Header(PngColor::kGray, 1, 2), {0x40}), (Row{0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(Rgb(Header(PngColor::kGray, 2, 2), {0x60}), (Row{85, 85, 85, 170, 170, 170}));
  EXPECT_EQ(Rgb(Header(PngColor::kGray, 4, 2), {0x1f}), (Row{17, 17, 17, 255, 255, 255}));
  EXPECT_EQ(Rgb(Header(PngColor::kGray, 8, 2), {7, 200}), (Row{7, 7, 7, 200, 200, 200}));
}

// The kind of fault: 16-bit gray is clipped where one expects it scaled (Pillow's rule).
TEST(PngRows, DeepGrayClipsAndDeepColourKeepsTheHighByte) {
  EXPECT_EQ(Rgb(Header(PngColor::kGray, 16, 3), {0, 200, 0, 255, 1, 0}),
            (Row{200, 200, 200, 255, 255, 255, 255, 255, 255}));
  EXPECT_EQ(Rgb(Header(PngColor::kRgb, 16, 1), {1, 99, 2, 99, 3, 99}), (Row{1, 2, 3}));
  EXPECT_EQ(Rgb(Header(PngColor::kRgba, 16, 1), {1, 99, 2, 99, 3, 99, 0, 99}), (Row{1, 2, 3}));
  EXPECT_EQ(Rgb(Header(PngColor::kGrayAlpha, 16, 1), {9, 99, 0, 99}), (Row{9, 9, 9}));
}

TEST(PngRows, AlphaIsDroppedOrBlended) {
  const PngHeader rgba = Header(PngColor::kRgba, 8, 1), la = Header(PngColor::kGrayAlpha, 8, 1);
  EXPECT_EQ(Rgb(rgba, {10, 20, 30, 0}), (Row{10, 20, 30}));
  EXPECT_EQ(Rgb(la, {10, 0}), (Row{10, 10, 10}));
  for (AlphaMode alpha : {AlphaMode::kComposite, AlphaMode::kPaste}) {
    EXPECT_EQ(Rgb(rgba, {10, 20, 30, 0}, alpha), (Row{255, 255, 255}));
    EXPECT_EQ(Rgb(rgba, {10, 20, 30, 255}, alpha), (Row{10, 20, 30}));
    EXPECT_EQ(Rgb(rgba, {255, 0, 0, 128}, alpha), (Row{255, 127, 127}));
    EXPECT_EQ(Rgb(la, {10, 0}, alpha), (Row{255, 255, 255}));
    EXPECT_EQ(Rgb(Header(PngColor::kGrayAlpha, 16, 1), {10, 0, 0, 255}, alpha),
              (Row{255, 255, 255}));
  }
}

// The kind of fault: a palette with alpha turns rows into RGBA where room is only for RGB.
TEST(PngRows, PalettesWithAlphaFillThreeBytesAPixel) {
  const Row colors = {1, 2, 3, 4, 5, 6}, alphas = {0, 255};
  for (int depth : {1, 2, 4, 8}) {
    PngHeader header = Header(PngColor::kPalette, depth, 2);
    header.palette = colors;
    header.transparency = {Kind::kAlphas, {}, alphas};
    const Row row = depth == 8 ? Row{0, 1} : Row{static_cast<uint8_t>(1 << (8 - 2 * depth))};
    EXPECT_EQ(Rgb(header, row), (Row{1, 2, 3, 4, 5, 6})) << depth;
    EXPECT_EQ(Rgb(header, row, AlphaMode::kComposite), (Row{255, 255, 255, 4, 5, 6})) << depth;
    header.transparency = {Kind::kValue, {1}, {}};
    EXPECT_EQ(Rgb(header, row, AlphaMode::kPaste), (Row{1, 2, 3, 255, 255, 255})) << depth;
  }
}

TEST(PngRows, IndicesBeyondThePaletteAreBlack) {
  const Row colors = {1, 2, 3};
  PngHeader header = Header(PngColor::kPalette, 8, 2);
  EXPECT_EQ(Rgb(header, {0, 9}), Row(6, 0));  // no palette at all
  header.palette = colors;
  EXPECT_EQ(Rgb(header, {0, 9}), (Row{1, 2, 3, 0, 0, 0}));
}

TEST(PngRows, PalettesAreRefusedAsPillowDoes) {
  const Row many(257 * 3), most(256 * 3 + 2), alphas(257);
  PngHeader header = Header(PngColor::kPalette, 8, 1);
  header.palette = many;
  EXPECT_TRUE(Refused(header));
  header.palette = most;
  EXPECT_FALSE(Refused(header));
  header.transparency = {Kind::kAlphas, {}, alphas};
  EXPECT_FALSE(Refused(header));
  EXPECT_TRUE(Refused(header, AlphaMode::kComposite));
  header.transparency = {Kind::kValue, {256}, {}};
  EXPECT_FALSE(Refused(header));
  EXPECT_TRUE(Refused(header, AlphaMode::kPaste));
  header.transparency = {Kind::kText, {}, {}};
  EXPECT_TRUE(Refused(header));
  header.palette.reset();
  header.transparency = {Kind::kValue, {0}, {}};
  EXPECT_TRUE(Refused(header));
  EXPECT_FALSE(Refused(header, AlphaMode::kPaste));
}

TEST(PngRows, TransparentColoursAreComparedAsPillowDoes) {
  PngHeader rgb = Header(PngColor::kRgb, 8, 2);
  rgb.transparency = {Kind::kColor, {0x101, 2, 3}, {}};  // the low bytes count
  EXPECT_EQ(Rgb(rgb, {1, 2, 3, 1, 2, 4}), (Row{1, 2, 3, 1, 2, 4}));
  EXPECT_EQ(Rgb(rgb, {1, 2, 3, 1, 2, 4}, AlphaMode::kComposite), (Row{255, 255, 255, 1, 2, 4}));
  PngHeader gray = Header(PngColor::kGray, 4, 2);
  gray.transparency = {Kind::kValue, {17}, {}};  // compared after 0..15 was spread over 0..255
  EXPECT_EQ(Rgb(gray, {0x12}, AlphaMode::kPaste), (Row{255, 255, 255, 34, 34, 34}));
  PngHeader deep = Header(PngColor::kGray, 16, 2);
  deep.transparency = {Kind::kValue, {0x1ff}, {}};  // 255 after clipping: everything bright
  EXPECT_EQ(Rgb(deep, {0, 7, 99, 99}, AlphaMode::kPaste), (Row{7, 7, 7, 255, 255, 255}));
  rgb.transparency = {Kind::kText, {}, {}};
  EXPECT_FALSE(Refused(rgb));
  EXPECT_TRUE(Refused(rgb, AlphaMode::kComposite));
}

TEST(PngRows, RowsWithoutDataAreZeros) {
  const Row colors = {7, 8, 9};
  PngHeader header = Header(PngColor::kPalette, 2, 2);
  header.palette = colors;
  EXPECT_EQ(Rgb(header, {}), (Row{7, 8, 9, 7, 8, 9}));
  EXPECT_EQ(Rgb(Header(PngColor::kRgba, 8, 1), {}, AlphaMode::kPaste), (Row{255, 255, 255}));
}

}  // namespace
}  // namespace mmcpp::codec
