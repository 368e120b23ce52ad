// LZW of variable code size, first bit in the low end of a byte, in sub-blocks of up to 255 bytes.
//
// Of our own, since Pillow's own decoder decides and no library agrees with it: it reads on after
// an end code if the file goes on, takes a block terminator for an empty block, wants a sub-block
// whole before it looks at it, takes initial sizes up to 12, and is content as soon as the frame is
// full.
#include "codec/gif_lzw.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/ensure.h"

namespace mmcpp::codec {
namespace {

constexpr int kMaxBits = 12;
constexpr unsigned kTableSize = 1u << kMaxBits;
constexpr size_t kReadBytes = 65536;  // what Pillow hands to its decoder at a time

/// The pixels of a frame in the order in which they come.
class FrameWriter {
 public:
  explicit FrameWriter(const GifTarget& target)
      : target_(target), row_(target.indices), step_(target.interlaced ? 8 : 1) {}

  size_t y() const { return y_; }

  /// Writes pixels; true when the frame is full, which may be before they are all written.
  bool Write(const uint8_t* pixels, size_t count) {
    while (count > 0) {
      const size_t run = std::min(count, target_.width - x_);
      std::memcpy(row_ + x_, pixels, run);
      x_ += run;
      pixels += run;
      count -= run;
      if (x_ == target_.width && !NextRow()) return true;
    }
    return false;
  }

 private:
  bool NextRow() {
    x_ = 0;
    y_ += step_;
    while (y_ >= target_.height) {
      if (!target_.interlaced || pass_ == 3) return false;
      constexpr size_t kFirstRow[] = {4, 2, 1}, kSteps[] = {8, 4, 2};
      y_ = kFirstRow[pass_];
      step_ = kSteps[pass_];
      ++pass_;
    }
    row_ = target_.indices + y_ * target_.row_bytes;
    return true;
  }

  const GifTarget& target_;
  uint8_t* row_;
  size_t x_ = 0, y_ = 0;
  size_t step_;
  int pass_ = 0;
};

class Decoder {
 public:
  Decoder(Bytes file, size_t offset, int code_bits, const GifTarget& target, const Stop& stop)
      : file_(file),
        at_(offset),
        read_end_(offset),
        first_bits_(code_bits),
        frame_(target),
        stop_(stop) {
    clear_ = 1u << code_bits;
    Clear();
  }

  Status Decode() {
    MMCPP_TRY(ReadOn());
    for (;;) {
      MMCPP_ASSIGN(const unsigned code, NextCode());
      if (code == clear_) {
        Clear();
      } else if (code == clear_ + 1) {
        MMCPP_TRY(ReadOn());  // an end code ends only what Pillow has read of the file so far
      } else {
        MMCPP_ASSIGN(const bool full, Expand(code));
        if (full) return Ok{};
      }
    }
  }

 private:
  Error Damaged(const std::string& what) const {
    return CorruptInput("gif: " + what + " at byte " + std::to_string(at_) + ", in row " +
                        std::to_string(frame_.y()) + " of the frame");
  }

  Status ReadOn() {
    MMCPP_TRY(stop_.Check("decode"));
    if (read_end_ >= file_.size()) return Damaged("pixel data ends");
    read_end_ += std::min(kReadBytes, file_.size() - read_end_);
    return Ok{};
  }

  void Clear() {
    next_ = clear_ + 2;
    bits_ = first_bits_ + 1;
    first_ = true;
  }

  Result<unsigned> NextCode() {
    while (buffered_bits_ < bits_) {
      if (block_left_ == 0) {
        while (at_ >= read_end_ || read_end_ - at_ - 1 < file_[at_]) MMCPP_TRY(ReadOn());
        block_left_ = file_[at_++];
        continue;
      }
      buffer_ |= uint32_t{file_[at_++]} << buffered_bits_;
      buffered_bits_ += 8;
      --block_left_;
    }
    const unsigned code = buffer_ & ((1u << bits_) - 1);
    buffer_ >>= bits_;
    buffered_bits_ -= bits_;
    return code;
  }

  /// Writes a code's pixels and adds the table's next entry; true when the frame is full.
  Result<bool> Expand(unsigned code) {
    if (first_) {  // the first code after a clear stands for itself
      if (code > clear_) return Damaged("a first code that is none");
      first_ = false;
      last_code_ = code;
      first_pixel_ = static_cast<uint8_t>(code);
      return frame_.Write(&first_pixel_, 1);
    }
    if (code > next_) return Damaged("a code that is not in the table");
    // The string comes last pixel first.
    uint8_t* const end = string_.data() + string_.size();
    uint8_t* begin = end;
    unsigned rest = code;
    if (code == next_) {
      *--begin = first_pixel_;
      rest = last_code_;
    }
    while (rest >= clear_) {
      if (rest >= kTableSize || begin == string_.data() + 1) return Damaged("a code out of range");
      *--begin = pixel_[rest];
      rest = before_[rest];
    }
    first_pixel_ = static_cast<uint8_t>(rest);
    *--begin = first_pixel_;
    if (next_ < kTableSize) {
      pixel_[next_] = first_pixel_;
      before_[next_] = static_cast<uint16_t>(last_code_);
      if (next_ == (1u << bits_) - 1 && bits_ < kMaxBits) ++bits_;
      ++next_;
    }
    last_code_ = code;
    return frame_.Write(begin, static_cast<size_t>(end - begin));
  }

  Bytes file_;
  size_t at_;        // of the next byte
  size_t read_end_;  // of what Pillow has read
  size_t block_left_ = 0;
  uint32_t buffer_ = 0;
  int buffered_bits_ = 0;
  int first_bits_;
  int bits_ = 0;        // of a code
  unsigned clear_ = 0;  // the clear code; the one after it is the end code
  unsigned next_ = 0;   // the table's next free entry
  bool first_ = true;
  unsigned last_code_ = 0;
  uint8_t first_pixel_ = 0;  // of the string before
  std::array<uint16_t, kTableSize> before_;
  std::array<uint8_t, kTableSize> pixel_;
  std::array<uint8_t, kTableSize + 1> string_;
  FrameWriter frame_;
  const Stop& stop_;
};

}  // namespace

Status DecodeGifData(Bytes file, size_t offset, int code_bits, const GifTarget& target,
                     const Stop& stop) {
  if (code_bits > kMaxBits) {
    return CorruptInput("gif: codes that start with " + std::to_string(code_bits + 1) + " bits");
  }
  return Decoder(file, offset, code_bits, target, stop).Decode();
}

}  // namespace mmcpp::codec
