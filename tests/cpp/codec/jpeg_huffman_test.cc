#include "codec/jpeg_huffman.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace mmcpp::codec {
namespace {

struct Table {
  std::vector<uint8_t> counts, symbols;

  JpegHuffmanSpec Spec() const { return {counts.data(), symbols}; }
  bool BuildsDc() const { return BuildDcTable(Spec(), &*dc); }
  bool BuildsAc(int max_quantiser, uint32_t bits = 10) const {
    return BuildAcTable(Spec(), max_quantiser, bits, &*ac);
  }

  std::unique_ptr<simd::JpegDcTable> dc = std::make_unique<simd::JpegDcTable>();
  std::unique_ptr<simd::JpegAcTable> ac = std::make_unique<simd::JpegAcTable>();
};

std::vector<uint8_t> Counts(std::vector<uint8_t> counts) {
  counts.resize(16);
  return counts;
}

TEST(JpegHuffman, EntriesOfDc) {
  const Table table = {Counts({0, 1, 1}), {5, 0}};  // 00: five bits, 010: none
  ASSERT_TRUE(table.BuildsDc());
  EXPECT_EQ(table.dc->entries[0], (2 + 5) | 5 << 8);
  EXPECT_EQ(table.dc->entries[0b001111111], (2 + 5) | 5 << 8);
  EXPECT_EQ(table.dc->entries[0b010000000], 3);
  EXPECT_EQ(table.dc->entries[0b011000000], 0);
}

TEST(JpegHuffman, EntriesOfAcHoldTwoCoefficients) {
  // 00: end, 01: run 0 and one bit, 100: run 2 and three bits
  const Table table = {Counts({0, 2, 1}), {0x00, 0x01, 0x23}};
  ASSERT_TRUE(table.BuildsAc(1));
  const auto entry = [&](uint32_t index) { return table.ac->entries[index]; };
  // 01 1 100 101 0: 1, then 5 behind two zeros
  const uint64_t two = entry(0b0111001010);
  EXPECT_EQ(two & 255, 9U);
  EXPECT_EQ(two >> 8 & 255, 4U);
  EXPECT_EQ(two >> 16 & 255, 1U);
  EXPECT_EQ(two >> 24 & 255, 3U);
  EXPECT_EQ(static_cast<int16_t>(two >> 32), 1);
  EXPECT_EQ(static_cast<int16_t>(two >> 48), 5);
  // 01 0 00: -1 and the end
  const uint64_t end = entry(0b0100000000);
  EXPECT_EQ(end & 255, 5U);
  EXPECT_EQ(end >> 8 & 255, 1U + simd::kJpegEndOfBlock);
  EXPECT_EQ(static_cast<int16_t>(end >> 32), -1);
  EXPECT_EQ(static_cast<int16_t>(end >> 48), 0);
  EXPECT_EQ(entry(0b1100000000), 0U);  // no such code
}

TEST(JpegHuffman, MoreBitsHoldMore) {
  const Table table = {Counts({0, 2, 1}), {0x00, 0x05, 0x01}};
  const uint32_t index = 0b01'10000'100'1;  // 16, then 1: seven bits and four
  ASSERT_TRUE(table.BuildsAc(1, 10));
  EXPECT_EQ(table.ac->bits, 10U);
  EXPECT_EQ(table.ac->entries[index >> 1] & 255, 7U);
  ASSERT_TRUE(table.BuildsAc(1, simd::kJpegMaxAcBits));
  EXPECT_EQ(table.ac->bits, 11U);
  EXPECT_EQ(table.ac->entries[index] & 255, 11U);
  EXPECT_EQ(static_cast<int16_t>(table.ac->entries[index] >> 32), 16);
  EXPECT_EQ(static_cast<int16_t>(table.ac->entries[index] >> 48), 1);
}

TEST(JpegHuffman, LargeProductsAreNotInTheTable) {
  const Table table = {Counts({0, 1}), {0x04}};  // 00: four bits
  ASSERT_TRUE(table.BuildsAc(300));              // 13 * 300 is kept, 14 * 300 is not
  EXPECT_NE(table.ac->entries[0b0011010000] & 255, 0U);
  EXPECT_EQ(table.ac->entries[0b0011100000] & 255, 0U);
}

TEST(JpegHuffman, RefusesWhatLibjpegRefuses) {
  EXPECT_TRUE((Table{Counts({1, 1}), {0, 1}}.BuildsDc()));
  EXPECT_FALSE((Table{Counts({2}), {0, 1}}.BuildsDc()));           // the code of all ones
  EXPECT_FALSE((Table{Counts({1, 3}), {0, 1, 2, 3}}.BuildsDc()));  // more codes than there are
  EXPECT_FALSE((Table{Counts({1}), {12}}.BuildsDc()));
  EXPECT_FALSE((Table{Counts({1}), {0x0b}}.BuildsAc(1)));
  EXPECT_FALSE((Table{Counts({1}), {0x10}}.BuildsAc(1)));
  EXPECT_TRUE((Table{Counts({1}), {0xf0}}.BuildsAc(1)));
}

}  // namespace
}  // namespace mmcpp::codec
