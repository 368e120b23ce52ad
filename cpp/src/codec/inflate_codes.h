// The prefix codes of a deflate block, as tables that are looked up by the next bits of the stream.
//
// A table's index is a number of bits, the first of the stream lowest. Codes that are longer are
// rare by their nature and decoded bit by bit. In the pixels of a photograph nearly all symbols are
// literals of four to six bits, and one look-up after the other is the time that takes; so an entry
// may stand for two literals whose codes together fit the index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mmcpp::codec {

/// What the next bits mean, from the lowest bit up:
///   6 bits  how many bits it takes, extra bits of the value included
///   2 bits  how many literals it is, 0 if it is something else
/// and then the literals, 8 bits each, the first lowest; or
///   7 bits  how many of the bits are the code; those after it are added to the base
///   1 bit   set if it is neither a length nor a distance, but one of the constants
///   16 bits the base of the length or distance
using InflateEntry = uint32_t;

constexpr InflateEntry kInflateSpecial = 0x8000;
constexpr InflateEntry kInflateEnd = kInflateSpecial | 0x10000;      ///< of the block
constexpr InflateEntry kInflateLong = kInflateSpecial | 0x20000;     ///< see FindLong
constexpr InflateEntry kInflateInvalid = kInflateSpecial | 0x30000;  ///< no code

inline unsigned BitsOf(InflateEntry entry) { return entry & 0x3f; }
inline unsigned LiteralsOf(InflateEntry entry) { return entry >> 6 & 3; }
inline unsigned CodeBitsOf(InflateEntry entry) { return entry >> 8 & 0x7f; }
inline unsigned BaseOf(InflateEntry entry) { return entry >> 16; }
inline bool IsSpecial(InflateEntry entry) { return (entry & kInflateSpecial) != 0; }
inline bool IsEnd(InflateEntry entry) { return BaseOf(entry) == BaseOf(kInflateEnd); }

constexpr unsigned kMaxInflateCode = 15;  ///< bits
constexpr size_t kMaxInflateSymbols = 288;

/// A prefix code whose table is looked up by kBits bits.
template <unsigned kBits>
struct InflateCode {
  InflateEntry table[size_t{1} << kBits];

  InflateEntry Find(uint64_t bits) const { return table[bits & ((1u << kBits) - 1)]; }

  /// What Find calls kInflateLong.
  InflateEntry FindLong(uint64_t bits) const;

  /// Sets the code whose symbol i has lengths[i] bits, 0 for none, and means meanings[i]: an entry
  /// without the bits of the code. False unless the code is complete: bits can always be read.
  /// Only if `may_lack` it may also be a single bit for a single symbol, or nothing, as in zlib.
  bool Set(const uint8_t* lengths, size_t count, const InflateEntry* meanings, bool may_lack);

  /// Lets entries stand for several literals.
  void JoinLiterals();

 private:
  const InflateEntry* meanings_ = nullptr;
  uint16_t counts_[kMaxInflateCode + 1];  // of codes, by length
  uint16_t symbols_[kMaxInflateSymbols];  // in the order of their codes
};

using InflateLengthsCode = InflateCode<7>;   ///< of the lengths of the other two codes
using InflateLiteralCode = InflateCode<11>;  ///< of literals, lengths and the end of the block
using InflateDistanceCode = InflateCode<9>;

extern template struct InflateCode<7>;
extern template struct InflateCode<9>;
extern template struct InflateCode<11>;

/// Meanings of the symbols of the three codes (RFC 1951, sections 3.2.5 and 3.2.7). Of the first, a
/// symbol is a literal of its own number.
extern const std::array<InflateEntry, 19> kInflateLengthsMeanings;
extern const std::array<InflateEntry, 288> kInflateLiteralMeanings;
extern const std::array<InflateEntry, 32> kInflateDistanceMeanings;

}  // namespace mmcpp::codec
