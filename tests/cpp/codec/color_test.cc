#include "codec/color.h"

#include <gtest/gtest.h>

#include <vector>

namespace mmcpp::codec {
namespace {

/// FNV-1a over every (value, alpha) on a background that differs per channel.
uint64_t BlendDigest(AlphaMode mode, std::array<uint8_t, 3> background) {
  DecodeOptions options;
  options.alpha = mode;
  options.background = background;
  uint64_t hash = 0xcbf29ce484222325u;
  for (int value = 0; value < 256; ++value) {
    for (int alpha = 0; alpha < 256; ++alpha) {
      const uint8_t v = static_cast<uint8_t>(value);
      const uint8_t rgba[4] = {v, v, v, static_cast<uint8_t>(alpha)};
      uint8_t rgb[3];
      RgbaToRgb(rgba, options, rgb);
      for (uint8_t c : rgb) hash = (hash ^ c) * 0x100000001b3u;
    }
  }
  return hash;
}

// The digests are of Pillow 13.0.0's own answers over the same table.
TEST(Color, BlendsToTheBitAsPillow) {
  EXPECT_EQ(BlendDigest(AlphaMode::kDrop, {255, 255, 255}), 0x5f73a95b0831a325u);
  EXPECT_EQ(BlendDigest(AlphaMode::kComposite, {255, 255, 255}), 0xf24fbcd4b29f7187u);
  EXPECT_EQ(BlendDigest(AlphaMode::kComposite, {0, 17, 200}), 0x7facb343a3c99c21u);
  EXPECT_EQ(BlendDigest(AlphaMode::kPaste, {255, 255, 255}), 0xf24fbcd4b29f7187u);
  EXPECT_EQ(BlendDigest(AlphaMode::kPaste, {0, 17, 200}), 0x7facb343a3c99c21u);
}

TEST(Color, ConvertsRgbaInPlace) {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 4 * 37; ++i) pixels.push_back(static_cast<uint8_t>(i * 7));
  for (AlphaMode mode : {AlphaMode::kDrop, AlphaMode::kComposite, AlphaMode::kPaste}) {
    DecodeOptions options;
    options.alpha = mode;
    std::vector<uint8_t> apart(3 * 37), in_place = pixels;
    RgbaRowToRgb(pixels.data(), 37, options, apart.data());
    RgbaRowToRgb(in_place.data(), 37, options, in_place.data());
    in_place.resize(apart.size());
    EXPECT_EQ(apart, in_place);
  }
}

TEST(Color, SpreadsGrayFromTheEndOfTheRow) {
  std::vector<uint8_t> row(3 * 50);
  for (uint8_t i = 0; i < 50; ++i) row[100 + i] = static_cast<uint8_t>(5 * i);
  GrayRowToRgb(row.data() + 100, 50, row.data());
  for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], 5 * (i / 3));
}

// Over every (ink, black) pair; the digest is of Pillow 13.0.0's convert("RGB").
TEST(Color, ConvertsInvertedCmykAsPillow) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int ink = 0; ink < 256; ++ink) {
    for (int black = 0; black < 256; ++black) {
      const uint8_t i = static_cast<uint8_t>(255 - ink), k = static_cast<uint8_t>(255 - black);
      const uint8_t cmyk[4] = {i, i, i, k};
      uint8_t rgb[3];
      InvertedCmykRowToRgb(cmyk, 1, rgb);
      for (uint8_t c : rgb) hash = (hash ^ c) * 0x100000001b3u;
    }
  }
  EXPECT_EQ(hash, 0x8b35afa604eeca43u);
}

}  // namespace
}  // namespace mmcpp::codec
