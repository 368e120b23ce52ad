#include "codec/palette.h"

#include <gtest/gtest.h>

#include <vector>

namespace mmcpp::codec {
namespace {

TEST(Palette, StartsBlack) {
  const Palette palette;
  const std::vector<uint8_t> indices = {0, 255};
  std::vector<uint8_t> rgb(6, 7);
  palette.ToRgb(indices.data(), 2, rgb.data());
  EXPECT_EQ(rgb, std::vector<uint8_t>(6, 0));
}

TEST(Palette, WritesThePixelsAndNothingBehindThem) {
  Palette palette;
  palette.Set(1, 10, 20, 30);
  palette.Set(2, 40, 50, 60);
  const std::vector<uint8_t> indices = {2, 1, 0};
  std::vector<uint8_t> rgb(12, 7);
  palette.ToRgb(indices.data(), 3, rgb.data());
  EXPECT_EQ(rgb, (std::vector<uint8_t>{40, 50, 60, 10, 20, 30, 0, 0, 0, 7, 7, 7}));
  palette.ToRgb(indices.data(), 0, rgb.data());
  EXPECT_EQ(rgb[0], 40);
}

TEST(Palette, ExpandsIndicesAtTheEndOfTheSameMemory) {
  Palette palette;
  for (int i = 0; i < 256; ++i) {
    palette.Set(static_cast<size_t>(i), static_cast<uint8_t>(i), static_cast<uint8_t>(255 - i), 9);
  }
  for (size_t count : {1u, 2u, 3u, 17u, 256u}) {
    std::vector<uint8_t> memory(3 * count), expected;
    for (size_t i = 0; i < count; ++i) {
      const auto index = static_cast<uint8_t>(i * 77);
      memory[2 * count + i] = index;
      for (int v : {int{index}, 255 - index, 9}) expected.push_back(static_cast<uint8_t>(v));
    }
    palette.ToRgb(memory.data() + 2 * count, count, memory.data());
    EXPECT_EQ(memory, expected) << count;
  }
}

TEST(Palette, BringsAlphaToRgbAsTheOptionsSay) {
  const uint8_t clear[4] = {10, 20, 30, 0};
  const uint8_t index = 5;
  uint8_t rgb[3];
  DecodeOptions options;
  for (AlphaMode alpha : {AlphaMode::kDrop, AlphaMode::kComposite, AlphaMode::kPaste}) {
    options.alpha = alpha;
    options.background = {1, 2, 3};
    Palette palette;
    palette.Set(5, clear, options);
    palette.ToRgb(&index, 1, rgb);
    EXPECT_EQ(rgb[2], alpha == AlphaMode::kDrop ? 30 : 3);
  }
}

TEST(UnpackBits, TakesTheHighBitsFirst) {
  const uint8_t packed[] = {0b10110001, 0b01000000};
  const auto unpacked = [&](int depth, size_t count) {
    std::vector<uint8_t> samples(count + 1, 99);
    UnpackBits(packed, depth, count, samples.data());
    EXPECT_EQ(samples.back(), 99);
    samples.pop_back();
    return samples;
  };
  EXPECT_EQ(unpacked(1, 10), (std::vector<uint8_t>{1, 0, 1, 1, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(unpacked(2, 5), (std::vector<uint8_t>{2, 3, 0, 1, 1}));
  EXPECT_EQ(unpacked(4, 3), (std::vector<uint8_t>{11, 1, 4}));
  EXPECT_EQ(unpacked(4, 1), (std::vector<uint8_t>{11}));
}

}  // namespace
}  // namespace mmcpp::codec
