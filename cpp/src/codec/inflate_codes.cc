// Tables of prefix codes, and what the symbols of deflate mean.
#include "codec/inflate_codes.h"

#include <array>
#include <cstring>

namespace mmcpp::codec {
namespace {

constexpr InflateEntry Literal(unsigned value) { return 1u << 6 | value << 8; }
constexpr InflateEntry Value(unsigned base, unsigned extra_bits) { return base << 16 | extra_bits; }

/// The meaning with the bits of its code.
inline InflateEntry WithCode(InflateEntry meaning, unsigned bits) {
  return meaning + (LiteralsOf(meaning) != 0 ? bits : bits << 8 | bits);
}

/// The next code of so many bits; codes count up with their first bit highest, here it is lowest.
inline unsigned NextCode(unsigned code, unsigned bits) {
  unsigned bit = 1u << (bits - 1);
  for (; (code & bit) != 0; bit >>= 1) code ^= bit;
  return code | bit;
}

}  // namespace

template <unsigned kBits>
bool InflateCode<kBits>::Set(const uint8_t* lengths, size_t count, const InflateEntry* meanings,
                             bool may_lack) {
  meanings_ = meanings;
  std::memset(counts_, 0, sizeof counts_);
  for (size_t i = 0; i < count; ++i) ++counts_[lengths[i]];
  const unsigned used = static_cast<unsigned>(count) - counts_[0];
  counts_[0] = 0;
  unsigned first[kMaxInflateCode + 2] = {}, max_bits = 0;
  uint32_t space = 0;  // used up, of 1 << kMaxInflateCode
  for (unsigned bits = 1; bits <= kMaxInflateCode; ++bits) {
    first[bits + 1] = first[bits] + counts_[bits];
    space += uint32_t{counts_[bits]} << (kMaxInflateCode - bits);
    if (counts_[bits] != 0) max_bits = bits;
  }
  const uint32_t all = 1u << kMaxInflateCode;
  if (space != all && (space > all || !may_lack || used > 1 || max_bits > 1)) return false;
  for (size_t i = 0; i < count; ++i) {
    if (lengths[i] != 0) symbols_[first[lengths[i]]++] = static_cast<uint16_t>(i);
  }

  // The table of one bit more is twice the table, and the codes that have that bit.
  table[0] = space == all ? kInflateLong : kInflateInvalid;
  const uint16_t* symbol = symbols_;
  unsigned code = 0;
  for (unsigned bits = 1; bits <= kBits; ++bits) {
    const size_t size = size_t{1} << (bits - 1);
    std::memcpy(table + size, table, size * sizeof *table);
    for (unsigned i = 0; i < counts_[bits]; ++i, ++symbol) {
      table[code] = WithCode(meanings[*symbol], bits);
      code = NextCode(code, bits);
    }
  }
  return true;
}

template <unsigned kBits>
InflateEntry InflateCode<kBits>::FindLong(uint64_t bits) const {
  unsigned code = 0, first = 0;  // of so many bits
  const uint16_t* symbols = symbols_;
  for (unsigned length = 1; length <= kMaxInflateCode; ++length, bits >>= 1) {
    code = code << 1 | (bits & 1);
    first <<= 1;
    const unsigned count = counts_[length];
    if (code - first < count) return WithCode(meanings_[symbols[code - first]], length);
    symbols += count;
    first += count;
  }
  return kInflateInvalid;
}

template <unsigned kBits>
void InflateCode<kBits>::JoinLiterals() {
  // Downwards, what follows is looked up among entries of one literal yet: what is left of the bits
  // is a smaller number, or 0 again.
  for (size_t i = size_t{1} << kBits; i-- > 0;) {
    const InflateEntry entry = table[i];
    const InflateEntry next = table[i >> BitsOf(entry)];
    const bool fits =
        LiteralsOf(entry) != 0 && LiteralsOf(next) != 0 && BitsOf(entry) + BitsOf(next) <= kBits;
    const InflateEntry joined = entry + (next & 0x7f) + ((next & 0xff00) << 8);
    table[i] = fits ? joined : entry;
  }
}

template struct InflateCode<7>;
template struct InflateCode<9>;
template struct InflateCode<11>;

const std::array<InflateEntry, 19> kInflateLengthsMeanings = {
    Literal(0),  Literal(1),  Literal(2),  Literal(3),  Literal(4),  Literal(5),  Literal(6),
    Literal(7),  Literal(8),  Literal(9),  Literal(10), Literal(11), Literal(12), Literal(13),
    Literal(14), Literal(15), Literal(16), Literal(17), Literal(18)};

namespace {

constexpr std::array<InflateEntry, 288> LiteralMeanings() {
  std::array<InflateEntry, 288> meanings = {};
  for (unsigned i = 0; i < 256; ++i) meanings[i] = Literal(i);
  meanings[256] = kInflateEnd;
  // Four lengths of each number of extra bits, of none twice as many; 258 has a code of its own.
  unsigned length = 3;
  for (unsigned i = 0; i < 28; ++i) {
    const unsigned extra = i < 4 ? 0 : i / 4 - 1;
    meanings[257 + i] = Value(length, extra);
    length += 1u << extra;
  }
  meanings[285] = Value(258, 0);
  meanings[286] = meanings[287] = kInflateInvalid;
  return meanings;
}

constexpr std::array<InflateEntry, 32> DistanceMeanings() {
  std::array<InflateEntry, 32> meanings = {};
  unsigned distance = 1;
  for (unsigned i = 0; i < 30; ++i) {
    const unsigned extra = i < 2 ? 0 : i / 2 - 1;
    meanings[i] = Value(distance, extra);
    distance += 1u << extra;
  }
  meanings[30] = meanings[31] = kInflateInvalid;
  return meanings;
}

}  // namespace

const std::array<InflateEntry, 288> kInflateLiteralMeanings = LiteralMeanings();
const std::array<InflateEntry, 32> kInflateDistanceMeanings = DistanceMeanings();

}  // namespace mmcpp::codec
