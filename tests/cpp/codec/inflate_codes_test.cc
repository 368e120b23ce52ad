#include "codec/inflate_codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace mmcpp::codec {
namespace {

using Lengths = std::vector<uint8_t>;

bool IsCode(const Lengths& lengths, bool may_lack) {
  InflateDistanceCode code;
  return code.Set(lengths.data(), lengths.size(), kInflateDistanceMeanings.data(), may_lack);
}

/// Bits as they are written in RFC 1951, the first at the left.
uint64_t Bits(const std::string& text) {
  uint64_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) bits |= uint64_t{text[i] == '1'} << i;
  return bits;
}

TEST(InflateCode, FindsTheSymbolsOfTheExampleInTheRfc) {
  const Lengths lengths = {3, 3, 3, 3, 3, 2, 4, 4};  // section 3.2.2, ABCDEFGH
  const std::string codes[] = {"010", "011", "100", "101", "110", "00", "1110", "1111"};
  InflateLiteralCode code;
  ASSERT_TRUE(code.Set(lengths.data(), 8, kInflateLiteralMeanings.data(), false));
  for (unsigned i = 0; i < 8; ++i) {
    for (const char* after : {"000000000", "111111111", "010010010"}) {
      const InflateEntry entry = code.Find(Bits(codes[i] + after));
      EXPECT_EQ(LiteralsOf(entry), 1u);
      EXPECT_EQ(entry >> 8, i);
      EXPECT_EQ(BitsOf(entry), codes[i].size());
    }
  }
}

TEST(InflateCode, IsCompleteOrASingleBitOrNothing) {
  EXPECT_TRUE(IsCode({1, 1}, false));
  EXPECT_TRUE(IsCode({1, 2, 3, 3}, false));
  EXPECT_FALSE(IsCode({1, 1, 1}, true));
  EXPECT_FALSE(IsCode({1, 2, 3}, true));
  EXPECT_FALSE(IsCode({2}, true));
  for (const bool may_lack : {false, true}) {
    EXPECT_EQ(IsCode({0, 1, 0}, may_lack), may_lack);
    EXPECT_EQ(IsCode({0, 0}, may_lack), may_lack);
  }
  InflateDistanceCode code;
  const Lengths lengths = {0, 1};
  ASSERT_TRUE(code.Set(lengths.data(), 2, kInflateDistanceMeanings.data(), true));
  EXPECT_EQ(BaseOf(code.Find(0)), 2u);
  EXPECT_EQ(code.Find(1), kInflateInvalid);
}

TEST(InflateCode, FindsLongCodesBitByBit) {
  Lengths lengths;
  for (uint8_t bits = 1; bits <= 15; ++bits) lengths.push_back(bits);
  lengths.push_back(15);
  InflateDistanceCode code;
  ASSERT_TRUE(code.Set(lengths.data(), 16, kInflateDistanceMeanings.data(), false));
  for (unsigned i = 0; i < 16; ++i) {
    const uint64_t bits = (1u << i) - 1;  // as many ones, and then a zero but for the last
    InflateEntry entry = code.Find(bits);
    EXPECT_EQ(entry == kInflateLong, i >= 9) << i;
    if (i >= 9) entry = code.FindLong(bits);
    EXPECT_EQ(BaseOf(entry), BaseOf(kInflateDistanceMeanings[i])) << i;
    EXPECT_EQ(CodeBitsOf(entry), lengths[i]) << i;
    EXPECT_EQ(BitsOf(entry) - CodeBitsOf(entry), BitsOf(kInflateDistanceMeanings[i])) << i;
  }
}

TEST(InflateCode, MeaningsAreThoseOfTheRfc) {
  const auto is = [](InflateEntry entry, unsigned base, unsigned extra) {
    return BaseOf(entry) == base && BitsOf(entry) == extra && !IsSpecial(entry);
  };
  EXPECT_TRUE(IsEnd(kInflateLiteralMeanings[256]));
  EXPECT_TRUE(is(kInflateLiteralMeanings[257], 3, 0));
  EXPECT_TRUE(is(kInflateLiteralMeanings[264], 10, 0));
  EXPECT_TRUE(is(kInflateLiteralMeanings[265], 11, 1));
  EXPECT_TRUE(is(kInflateLiteralMeanings[276], 59, 3));
  EXPECT_TRUE(is(kInflateLiteralMeanings[284], 227, 5));
  EXPECT_TRUE(is(kInflateLiteralMeanings[285], 258, 0));
  EXPECT_EQ(kInflateLiteralMeanings[286], kInflateInvalid);
  EXPECT_TRUE(is(kInflateDistanceMeanings[3], 4, 0));
  EXPECT_TRUE(is(kInflateDistanceMeanings[4], 5, 1));
  EXPECT_TRUE(is(kInflateDistanceMeanings[19], 769, 8));
  EXPECT_TRUE(is(kInflateDistanceMeanings[29], 24577, 13));
  EXPECT_EQ(kInflateDistanceMeanings[30], kInflateInvalid);
}

TEST(InflateCode, JoinedLiteralsAreTheSameOnesInTurn) {
  std::mt19937 random(1);
  const auto single = std::make_unique<InflateLiteralCode>();
  size_t pairs = 0;
  for (int round = 0; round < 20; ++round) {
    // Splits codes until there are enough, which leaves the code complete.
    Lengths lengths = {1, 1};
    while (lengths.size() < 286) {
      const size_t i =
          random() % (round % 2 == 0 ? lengths.size() : std::min<size_t>(lengths.size(), 40));
      if (lengths[i] < 15) lengths.push_back(++lengths[i]);
    }
    std::shuffle(lengths.begin(), lengths.end(), random);
    ASSERT_TRUE(single->Set(lengths.data(), 286, kInflateLiteralMeanings.data(), false));
    InflateLiteralCode joined = *single;
    joined.JoinLiterals();
    for (uint64_t bits = 0; bits < 2048; ++bits) {
      const InflateEntry entry = joined.Find(bits);
      if (LiteralsOf(entry) < 2) {
        EXPECT_EQ(entry, single->Find(bits));
        continue;
      }
      const InflateEntry first = single->Find(bits);
      const InflateEntry second = single->Find(bits >> BitsOf(first));
      EXPECT_EQ(LiteralsOf(entry), 2u);
      EXPECT_EQ(BitsOf(entry), BitsOf(first) + BitsOf(second));
      EXPECT_LE(BitsOf(entry), 11u);
      EXPECT_EQ(entry >> 8, (first >> 8) + (second >> 8 << 8));
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 1000u);
}

}  // namespace
}  // namespace mmcpp::codec
