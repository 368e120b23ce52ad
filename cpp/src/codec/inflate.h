// A decoder of zlib streams (RFC 1950 and 1951) for pixels: all of the stream is there, the size of
// the output is known, and its memory is one piece.
//
// It knows sound streams alone. Whatever is odd it refuses, and zlib is asked from the start: what
// counts of a broken stream is for zlib to say. So it must never take a stream that zlib refuses or
// makes something else of; to refuse one that zlib takes costs time only.
//
// No byte is read outside the stream, none is written outside the output, and none of the output is
// read before it was written. No input makes it slow: every step either takes input or gives
// output, and tables are made in microseconds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/inflate_codes.h"
#include "mmcpp/span.h"

namespace mmcpp::codec {

class Inflater {
 public:
  /// A stream of one or more pieces, and `size` bytes of output that it must fill. Borrows all of
  /// them. Bytes after the stream are no fault.
  Inflater(Span<const Bytes> stream, uint8_t* out, size_t size);

  /// Goes on until at least the first `size` bytes of the output are there; if that is all of it,
  /// to the end of the stream and its checksum. False if the stream is not sound; that is final.
  /// Some bytes beyond those that are there may have been written too.
  bool InflateTo(size_t size);

  /// How many bytes are there; perhaps more than were asked for.
  size_t produced() const { return static_cast<size_t>(out_ - begin_); }

  /// So many bytes before those are read by what follows, and must stay as they are.
  static constexpr size_t kWindow = 32768;

 private:
  /// The bits of the stream, the first lowest.
  struct Bits {
    Span<const Bytes> pieces;  // after the one at hand
    const uint8_t* next = nullptr;
    const uint8_t* end = nullptr;
    uint64_t bits = 0;
    unsigned count = 0;  // of bits that were taken from `next`; those above are 0 or what follows
    size_t beyond = 0;   // bytes of zeros taken after the stream's end

    void Refill();      // to at least 56 bits
    void RefillFast();  // the same, and all 64 are right; where 8 bytes are left at hand
    bool NextPiece();
    void Drop(unsigned n) {
      bits >>= n;
      count -= n;
    }
    unsigned Take(unsigned n) {  // fewer than 32, which are there
      const auto value = static_cast<unsigned>(bits & ((uint64_t{1} << n) - 1));
      Drop(n);
      return value;
    }
    void ToByte() { Drop(count % 8); }
    bool IsBeyondEnd() const { return beyond * 8 > count; }  // bits were used that were none
  };
  enum class Block : uint8_t { kStart, kNone, kStored, kCoded };
  enum class Stop : uint8_t { kPause, kEnd, kUnsound };

  bool ReadStart();
  bool ReadBlockHeader();
  bool ReadStoredHeader();
  bool ReadCodes();
  void SetFixedCodes();
  bool CopyStored();
  Stop DecodeSome(uint8_t* until);
  Stop DecodeFast(uint8_t* until);
  Stop DecodeFastPlain(uint8_t* until);
  Stop DecodeFastBmi2(uint8_t* until);
  Stop DecodeFastHere(uint8_t* until);  // of which those are copies
  Stop DecodeOne();
  bool ReadEnd();
  void AddToChecksum();

  Bits in_;
  uint8_t* begin_;
  uint8_t* end_;
  uint8_t* out_;
  uint8_t* summed_;  // to here, in checksum_
  uint32_t checksum_ = 1;
  Block block_ = Block::kStart;
  bool last_ = false;   // the block is the last
  bool fixed_ = false;  // the codes are the fixed ones
  const bool bmi2_;
  bool ended_ = false;  // the stream
  size_t stored_left_ = 0;
  size_t block_begin_ = 0;  // in the output
  size_t expected_ = 0;     // of a block, going by the one before
  InflateLiteralCode literals_;
  InflateDistanceCode distances_;
};

}  // namespace mmcpp::codec
