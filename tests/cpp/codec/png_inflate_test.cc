#include "codec/png_inflate.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/png_builder.h"

namespace mmcpp::codec {
namespace {

using Outcome = InflatedText::Outcome;
using test::ByteVector;

/// 'a' repeated `count` times; matches of 258 in a block with fixed codes.
ByteVector ManyOfOneLetter(size_t count) {
  ByteVector out = {0x78, 0x01};
  uint64_t bits = 0;
  int filled = 0;
  const auto put = [&](uint32_t value, int size) {
    bits |= uint64_t{value} << filled;
    for (filled += size; filled >= 8; filled -= 8, bits >>= 8) {
      out.push_back(static_cast<uint8_t>(bits));
    }
  };
  const auto reversed = [](uint32_t code, int size) {
    uint32_t result = 0;
    for (int i = 0; i < size; ++i) result |= (code >> i & 1) << (size - 1 - i);
    return result;
  };
  put(0b011, 3);                    // the last block, fixed codes
  put(reversed(0x30 + 'a', 8), 8);  // a literal
  size_t left = count - 1;
  for (; left >= 258; left -= 258) {
    put(reversed(0xc5, 8), 8);  // length 258
    put(0, 5);                  // distance 1
  }
  for (; left > 0; --left) put(reversed(0x30 + 'a', 8), 8);
  put(0, 7);  // the end of the block
  if (filled > 0) put(0, 8 - filled);
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < count; ++i) {
    a = (a + 'a') % 65521;
    b = (b + a) % 65521;
  }
  test::Append(&out, test::BigEndian(b << 16 | a));
  return out;
}

TEST(Crc32, IsThatOfPng) {
  EXPECT_EQ(Crc32(test::Text("IEND")), 0xae426082u);  // PNG specification, annex D
}

TEST(StreamInflater, TellsWhatEachCallDid) {
  StreamInflater inflater = StreamInflater::Create().value();
  const ByteVector stream = test::Stored({1, 2, 3, 4, 5});
  std::vector<uint8_t> out(8);
  auto progress = inflater.Inflate({stream.data(), 9}, out.data(), 8);
  EXPECT_EQ(progress.consumed, 9u);
  EXPECT_EQ(progress.produced, 2u);
  EXPECT_FALSE(progress.ended || progress.damaged);
  progress = inflater.Inflate({stream.data() + 9, stream.size() - 9}, out.data() + 2, 3);
  EXPECT_EQ(progress.produced, 3u);
  EXPECT_TRUE(progress.ended);  // within the call that filled the room
  EXPECT_EQ(out, (std::vector<uint8_t>{1, 2, 3, 4, 5, 0, 0, 0}));
}

TEST(StreamInflater, SeesDamage) {
  StreamInflater inflater = StreamInflater::Create().value();
  std::vector<uint8_t> out(8);
  EXPECT_TRUE(inflater.Inflate(test::Text("no zlib stream"), out.data(), 8).damaged);
}

InflatedText Inflate(Bytes stream, std::string* text = nullptr) {
  StreamInflater inflater = StreamInflater::Create().value();
  (void)InflateText(&inflater, test::Text("another one, damaged"), nullptr);
  return InflateText(&inflater, stream, text);
}

TEST(InflateText, StopsAtOneMebibyte) {
  constexpr size_t kMebibyte = size_t{1} << 20;
  const auto outcome = [](const ByteVector& stream) { return Inflate(stream).outcome; };
  EXPECT_EQ(outcome(ManyOfOneLetter(kMebibyte)), Outcome::kWhole);
  EXPECT_EQ(outcome(ManyOfOneLetter(kMebibyte + 1)), Outcome::kTooLarge);
  const auto bomb = Inflate(ManyOfOneLetter(20 * kMebibyte));
  EXPECT_EQ(bomb.outcome, Outcome::kTooLarge);
  EXPECT_EQ(bomb.size, kMebibyte);
}

TEST(InflateText, GivesTheTextAndOverlooksAMissingEnd) {
  std::string text;
  const ByteVector stream = ManyOfOneLetter(100000);
  EXPECT_EQ(Inflate(stream, &text).size, 100000u);
  EXPECT_EQ(text, std::string(100000, 'a'));
  text.clear();
  const auto cut = Inflate({stream.data(), stream.size() - 5}, &text);
  EXPECT_EQ(cut.outcome, Outcome::kWhole);
  EXPECT_EQ(text, std::string(100000, 'a'));
  EXPECT_EQ(Inflate({}).outcome, Outcome::kWhole);
  EXPECT_EQ(Inflate(test::Text("junk")).outcome, Outcome::kDamaged);
}

}  // namespace
}  // namespace mmcpp::codec
