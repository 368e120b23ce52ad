#include "codec/gif_lzw.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mmcpp::codec {
namespace {

using ByteVector = std::vector<uint8_t>;

/// Codes packed as GIF does, in one sub-block with its terminator.
ByteVector Block(const std::vector<std::pair<int, int>>& codes_and_sizes) {
  ByteVector data;
  uint32_t bits = 0;
  int filled = 0;
  for (const auto& [code, size] : codes_and_sizes) {
    bits |= static_cast<uint32_t>(code) << filled;
    for (filled += size; filled >= 8; filled -= 8, bits >>= 8) {
      data.push_back(static_cast<uint8_t>(bits));
    }
  }
  if (filled > 0) data.push_back(static_cast<uint8_t>(bits));
  data.insert(data.begin(), static_cast<uint8_t>(data.size()));
  data.push_back(0);
  return data;
}

struct Outcome {
  bool ok;
  ByteVector indices;
};

Outcome Decode(const ByteVector& file, int bits, size_t height, size_t width,
               bool interlaced = false) {
  Outcome outcome{false, ByteVector(height * width, 99)};
  const GifTarget target = {outcome.indices.data(), width, height, width, interlaced};
  outcome.ok = DecodeGifData(file, 0, bits, target).ok();
  return outcome;
}

// Initial codes of 3 bits: 0 to 3 are pixels, 4 clears, 5 ends, 6 is the first string.
TEST(DecodeGifData, PixelsStringsAndTheCodeBeforeItIsKnown) {
  const ByteVector file = Block({{4, 3}, {1, 3}, {6, 3}, {2, 3}, {6, 4}, {5, 4}});
  const Outcome outcome = Decode(file, 2, 1, 6);
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.indices, (ByteVector{1, 1, 1, 2, 1, 1}));
}

TEST(DecodeGifData, StopsAsSoonAsTheFrameIsFull) {
  EXPECT_TRUE(Decode(Block({{4, 3}, {1, 3}, {2, 3}}), 2, 2, 1).ok);
  EXPECT_EQ(Decode(Block({{4, 3}, {1, 3}, {6, 3}, {7, 3}}), 2, 1, 2).indices, (ByteVector{1, 1}));
}

TEST(DecodeGifData, Interlaces) {
  std::vector<std::pair<int, int>> codes;
  for (int row = 0; row < 11; ++row) {
    codes.insert(codes.end(), {{16, 5}, {row, 5}});  // a clear keeps the codes at 5 bits
  }
  const Outcome outcome = Decode(Block(codes), 4, 11, 1, true);
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.indices, (ByteVector{0, 6, 3, 7, 2, 8, 4, 9, 1, 10, 5}));
}

TEST(DecodeGifData, RefusesWhatIsDamaged) {
  EXPECT_FALSE(Decode(Block({{4, 3}, {6, 3}}), 2, 1, 4).ok);          // a string as the first code
  EXPECT_FALSE(Decode(Block({{4, 3}, {1, 3}, {7, 3}}), 2, 1, 4).ok);  // not in the table yet
  EXPECT_FALSE(Decode({}, 2, 1, 1).ok);
  EXPECT_FALSE(Decode({5, 1, 2}, 2, 1, 1).ok);  // a sub-block cut short is not looked at
  EXPECT_FALSE(Decode(Block({{4, 3}, {1, 3}}), 13, 1, 1).ok);
  EXPECT_FALSE(Decode(Block({{4, 3}, {1, 3}}), 255, 1, 1).ok);
}

TEST(DecodeGifData, AnEndCodeEndsOnlyWhatWasReadOfTheFile) {
  ByteVector file = Block({{4, 3}, {1, 3}, {5, 3}, {2, 3}});
  EXPECT_FALSE(Decode(file, 2, 1, 2).ok);
  file.resize(65536);
  EXPECT_FALSE(Decode(file, 2, 1, 2).ok);
  file.resize(65537);  // Pillow reads 64 KiB at a time
  EXPECT_TRUE(Decode(file, 2, 1, 2).ok);
}

TEST(DecodeGifData, ATerminatorIsAnEmptyBlock) {
  const ByteVector whole = Block({{4, 3}, {1, 3}, {2, 3}, {3, 4}});
  ByteVector file = {1, whole[1], 0, 0, 1, whole[2], 0};
  EXPECT_TRUE(Decode(file, 2, 1, 3).ok);
  EXPECT_EQ(Decode(file, 2, 1, 3).indices, (ByteVector{1, 2, 3}));
}

TEST(DecodeGifData, WritesInsideOfItsTargetAlone) {
  ByteVector canvas(5 * 4, 99);
  const GifTarget target = {canvas.data() + 6, 5, 2, 2, false};
  ASSERT_TRUE(DecodeGifData(Block({{4, 3}, {1, 3}, {6, 3}, {2, 3}, {6, 4}}), 0, 2, target).ok());
  EXPECT_EQ(canvas, (ByteVector{99, 99, 99, 99, 99,  //
                                99, 1,  1,  99, 99,  //
                                99, 1,  2,  99, 99,  //
                                99, 99, 99, 99, 99}));
}

// A table that is full stays in use, whatever codes follow.
TEST(DecodeGifData, FullTables) {
  for (int bits : {0, 1, 8, 11, 12}) {
    ByteVector file;
    for (int block = 0; block < 60; ++block) {
      file.push_back(255);
      for (int i = 0; i < 255; ++i) file.push_back(static_cast<uint8_t>(i * block * 31 % 256));
    }
    (void)Decode(file, bits, 300, 300);
  }
}

}  // namespace
}  // namespace mmcpp::codec
