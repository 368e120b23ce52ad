// Blocks, and the loop over their symbols.
#include "codec/inflate.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>

#include "base/endian.h"
#include "simd/dispatch.h"

// Into the loop, whatever it is compiled for.
#define MMCPP_INLINE inline __attribute__((always_inline))
#if MMCPP_SIMD && defined(__x86_64__)
#define MMCPP_BMI2 __attribute__((target("bmi2")))
#else
#define MMCPP_BMI2
#endif

namespace mmcpp::codec {
namespace {

// What a round of the fast loop may write: four entries of literals, of which a store has a byte
// more, or two of them and a match, copied by 32 bytes.
constexpr ptrdiff_t kOutputSlack = 4 * 3 + 1 + 258 + 31;
// What it may read: three refills of 8 bytes.
constexpr ptrdiff_t kInputSlack = 24;
// A block that gives so much is worth a table that takes longer to make.
constexpr size_t kLongBlock = 8192;

MMCPP_INLINE uint64_t Load64(const uint8_t* from) {
  uint64_t value = 0;
  if (kLittleEndian) {
    std::memcpy(&value, from, 8);
  } else {
    for (int i = 0; i < 8; ++i) value |= uint64_t{from[i]} << (8 * i);
  }
  return value;
}

/// Writes an entry's literals, and up to 4 bytes in all.
MMCPP_INLINE uint8_t* PutLiterals(InflateEntry entry, uint8_t* out) {
  const uint32_t literals = entry >> 8;
  if (kLittleEndian) {
    std::memcpy(out, &literals, 4);
  } else {
    for (int i = 0; i < 3; ++i) out[i] = static_cast<uint8_t>(literals >> (8 * i));
  }
  return out + LiteralsOf(entry);
}

/// The length or distance, with its extra bits.
MMCPP_INLINE size_t ValueOf(InflateEntry entry, uint64_t bits) {
  return BaseOf(entry) + ((bits & ((uint64_t{1} << BitsOf(entry)) - 1)) >> CodeBitsOf(entry));
}

/// Copies `length` bytes from `distance` before, which may overlap; writes up to 31 bytes more.
MMCPP_INLINE void CopyMatch(uint8_t* out, size_t distance, size_t length) {
  const uint8_t* const end = out + length;
  const uint8_t* from = out - distance;
  if (distance >= 32) {
    do {
      std::memcpy(out, from, 32);
      out += 32;
      from += 32;
    } while (out < end);
    return;
  }
  if (distance == 1) {
    const int value = *from;
    do {
      std::memset(out, value, 32);
      out += 32;
    } while (out < end);
    return;
  }
  if (distance < 8) {
    // Eight bytes one by one; from then on the nearest multiple of the distance will do.
    static constexpr uint8_t kMultiple[8] = {0, 8, 8, 9, 8, 10, 12, 14};
    for (int i = 0; i < 8; ++i) out[i] = from[i];
    out += 8;
    from = out - kMultiple[distance];
  }
  for (; out < end; out += 8, from += 8) std::memcpy(out, from, 8);
}

}  // namespace

MMCPP_INLINE void Inflater::Bits::RefillFast() {
  bits |= Load64(next) << count;
  next += (63 - count) / 8;
  count |= 56;
}

inline void Inflater::Bits::Refill() {
  if (end - next >= 8) return RefillFast();
  for (; count < 56; count += 8) {
    if (next == end && !NextPiece()) {
      ++beyond;
    } else {
      bits |= uint64_t{*next++} << count;
    }
  }
}

bool Inflater::Bits::NextPiece() {
  while (!pieces.empty()) {
    next = pieces[0].data();
    end = pieces[0].end();
    pieces = pieces.subspan(1, pieces.size() - 1);
    if (next != end) return true;
  }
  return false;
}

Inflater::Inflater(Span<const Bytes> stream, uint8_t* out, size_t size)
    : begin_(out),
      end_(out + size),
      out_(out),
      summed_(out),
      bmi2_(simd::MayUseBmi2()),
      expected_(size) {
  in_.pieces = stream;
}

bool Inflater::InflateTo(size_t size) {
  const size_t all = static_cast<size_t>(end_ - begin_);
  const bool to_end = size >= all;
  uint8_t* const until = begin_ + std::min(size, all);
  bool sound = true;
  while (sound && (to_end ? !ended_ : out_ < until)) {
    switch (block_) {
      case Block::kStart:
        sound = ReadStart();
        break;
      case Block::kNone:
        sound = last_ ? to_end && ReadEnd() : ReadBlockHeader();
        break;
      case Block::kStored:
        sound = CopyStored();
        break;
      case Block::kCoded:
        const Stop stop = DecodeSome(until);
        sound = stop != Stop::kUnsound;
        if (stop == Stop::kEnd) {
          block_ = Block::kNone;
          expected_ = produced() - block_begin_;
        }
        break;
    }
  }
  if (sound) AddToChecksum();
  return sound;
}

void Inflater::AddToChecksum() {
  checksum_ = libdeflate_adler32(checksum_, summed_, static_cast<size_t>(out_ - summed_));
  summed_ = out_;
}

bool Inflater::ReadStart() {
  in_.Refill();
  const unsigned method = in_.Take(8), flags = in_.Take(8);
  block_ = Block::kNone;
  // Deflate with a window of at most 32 KiB and no dictionary. The window's size does not bind the
  // distances, just as in zlib.
  return (method & 15) == 8 && method >> 4 <= 7 && (flags & 0x20) == 0 &&
         (method << 8 | flags) % 31 == 0;
}

bool Inflater::ReadEnd() {
  in_.ToByte();
  in_.Refill();
  uint32_t checksum = 0;
  for (int i = 0; i < 4; ++i) checksum = checksum << 8 | in_.Take(8);
  AddToChecksum();
  ended_ = true;
  return !in_.IsBeyondEnd() && out_ == end_ && checksum == checksum_;
}

bool Inflater::ReadBlockHeader() {
  in_.Refill();
  if (in_.IsBeyondEnd()) return false;  // or it would go on with zeros
  last_ = in_.Take(1) != 0;
  block_begin_ = produced();
  block_ = Block::kCoded;
  switch (in_.Take(2)) {
    case 0:
      return ReadStoredHeader();
    case 1:
      SetFixedCodes();
      return true;
    case 2:
      return ReadCodes();
    default:
      return false;
  }
}

bool Inflater::ReadStoredHeader() {
  in_.ToByte();
  in_.Refill();
  const unsigned size = in_.Take(16), complement = in_.Take(16);
  stored_left_ = size;
  block_ = Block::kStored;
  return (size ^ complement) == 0xffff && size <= static_cast<size_t>(end_ - out_);
}

bool Inflater::CopyStored() {
  for (; stored_left_ != 0 && in_.count != 0; --stored_left_) {
    *out_++ = static_cast<uint8_t>(in_.Take(8));
  }
  while (stored_left_ != 0) {
    if (in_.next == in_.end && !in_.NextPiece()) return false;
    const size_t size = std::min(stored_left_, static_cast<size_t>(in_.end - in_.next));
    std::memcpy(out_, in_.next, size);
    out_ += size;
    in_.next += size;
    in_.bits = 0;  // what a refill saw of them
    stored_left_ -= size;
  }
  block_ = Block::kNone;
  return !in_.IsBeyondEnd();
}

void Inflater::SetFixedCodes() {
  if (fixed_) return;
  uint8_t lengths[288];
  std::memset(lengths, 8, 288);
  std::memset(lengths + 144, 9, 112);
  std::memset(lengths + 256, 7, 24);
  literals_.Set(lengths, 288, kInflateLiteralMeanings.data(), true);
  std::memset(lengths, 5, 32);
  distances_.Set(lengths, 32, kInflateDistanceMeanings.data(), true);
  fixed_ = true;
}

bool Inflater::ReadCodes() {
  fixed_ = false;
  in_.Refill();
  const unsigned literals = in_.Take(5) + 257, distances = in_.Take(5) + 1;
  const unsigned listed = in_.Take(4) + 4;
  if (literals > 286 || distances > 30) return false;
  constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t code_lengths[19] = {};
  for (unsigned i = 0; i < listed; ++i) {
    in_.Refill();
    code_lengths[kOrder[i]] = static_cast<uint8_t>(in_.Take(3));
  }
  InflateLengthsCode code;
  if (!code.Set(code_lengths, 19, kInflateLengthsMeanings.data(), false)) return false;

  const unsigned count = literals + distances;
  uint8_t lengths[286 + 30 + 137];  // a repetition may reach beyond them
  for (unsigned i = 0; i < count;) {
    in_.Refill();
    const InflateEntry entry = code.Find(in_.bits);
    if (LiteralsOf(entry) == 0) return false;
    in_.Drop(BitsOf(entry));
    const unsigned symbol = entry >> 8;
    if (symbol < 16) {
      lengths[i++] = static_cast<uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const unsigned repeat = symbol == 16   ? 3 + in_.Take(2)
                            : symbol == 17 ? 3 + in_.Take(3)
                                           : 11 + in_.Take(7);
    std::memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, repeat);
    i += repeat;
    if (i > count) return false;
  }
  if (lengths[256] == 0) return false;  // the block could not end
  if (!literals_.Set(lengths, literals, kInflateLiteralMeanings.data(), true) ||
      !distances_.Set(lengths + literals, distances, kInflateDistanceMeanings.data(), true)) {
    return false;
  }
  if (expected_ >= kLongBlock) literals_.JoinLiterals();
  return true;
}

Inflater::Stop Inflater::DecodeSome(uint8_t* until) {
  for (;;) {
    if (end_ - out_ > kOutputSlack && in_.end - in_.next >= kInputSlack) {
      const Stop stop = DecodeFast(std::min(until, end_ - kOutputSlack));
      if (stop != Stop::kPause) return stop;
    }
    // Symbol by symbol at the ends of both memories, and of a piece. At the end of the output, the
    // block must end too.
    if (out_ >= until && until != end_) return Stop::kPause;
    const Stop stop = DecodeOne();
    if (stop != Stop::kPause) return stop;
  }
}

Inflater::Stop Inflater::DecodeOne() {
  in_.Refill();
  if (in_.IsBeyondEnd()) return Stop::kUnsound;
  InflateEntry entry = literals_.Find(in_.bits);
  if (entry == kInflateLong) entry = literals_.FindLong(in_.bits);
  if (const size_t count = LiteralsOf(entry); count != 0) {
    if (static_cast<size_t>(end_ - out_) < count) return Stop::kUnsound;
    for (size_t i = 0; i < count; ++i) *out_++ = static_cast<uint8_t>(entry >> (8 + 8 * i));
    in_.Drop(BitsOf(entry));
    return Stop::kPause;
  }
  if (IsSpecial(entry)) {
    in_.Drop(BitsOf(entry));
    return IsEnd(entry) ? Stop::kEnd : Stop::kUnsound;
  }
  const size_t length = ValueOf(entry, in_.bits);
  in_.Drop(BitsOf(entry));
  entry = distances_.Find(in_.bits);
  if (entry == kInflateLong) entry = distances_.FindLong(in_.bits);
  if (IsSpecial(entry)) return Stop::kUnsound;
  const size_t distance = ValueOf(entry, in_.bits);
  in_.Drop(BitsOf(entry));
  if (distance > produced() || length > static_cast<size_t>(end_ - out_)) return Stop::kUnsound;
  for (size_t i = 0; i < length; ++i, ++out_) *out_ = *(out_ - distance);
  return Stop::kPause;
}

MMCPP_INLINE Inflater::Stop Inflater::DecodeFastHere(uint8_t* until) {
  Bits in = in_;  // in registers
  uint8_t* out = out_;
  const auto stop = [&](Stop why) {
    in_ = in;
    out_ = out;
    return why;
  };
  // A fast refill leaves 64 bits that are right. So the entry after four ones of literals, or after
  // a match, can be looked up before the next refill, which then takes no time of its own.
  in.RefillFast();
  InflateEntry entry = literals_.Find(in.bits);
  const auto put = [&]() __attribute__((always_inline)) {
    out = PutLiterals(entry, out);
    in.Drop(BitsOf(entry));
    entry = literals_.Find(in.bits);
    return LiteralsOf(entry) != 0;
  };
  while (out < until && in.end - in.next >= kInputSlack) {
    if (LiteralsOf(entry) != 0) {
      bool more = put();
      if (more) more = put();
      if (more) more = put();
      if (more) {
        put();
        in.RefillFast();
        continue;
      }
      in.RefillFast();
    }
    if (IsSpecial(entry)) {
      if (entry == kInflateLong) entry = literals_.FindLong(in.bits);
      if (LiteralsOf(entry) != 0) {
        put();
        in.RefillFast();
        continue;
      }
      if (IsSpecial(entry)) {
        in.Drop(BitsOf(entry));
        return stop(IsEnd(entry) ? Stop::kEnd : Stop::kUnsound);
      }
    }
    const size_t length = ValueOf(entry, in.bits);
    in.Drop(BitsOf(entry));
    entry = distances_.Find(in.bits);
    if (IsSpecial(entry)) {
      if (entry == kInflateLong) entry = distances_.FindLong(in.bits);
      if (IsSpecial(entry)) return stop(Stop::kUnsound);
    }
    const size_t distance = ValueOf(entry, in.bits);
    if (distance > static_cast<size_t>(out - begin_)) return stop(Stop::kUnsound);
    in.Drop(BitsOf(entry));
    entry = literals_.Find(in.bits);
    in.RefillFast();
    CopyMatch(out, distance, length);
    out += length;
  }
  return stop(Stop::kPause);
}

// Shifts by a variable number are most of the loop. Those of BMI2 take a third of the steps.
Inflater::Stop Inflater::DecodeFast(uint8_t* until) {
  return bmi2_ ? DecodeFastBmi2(until) : DecodeFastPlain(until);
}

MMCPP_BMI2 Inflater::Stop Inflater::DecodeFastBmi2(uint8_t* until) { return DecodeFastHere(until); }

Inflater::Stop Inflater::DecodeFastPlain(uint8_t* until) { return DecodeFastHere(until); }

}  // namespace mmcpp::codec
