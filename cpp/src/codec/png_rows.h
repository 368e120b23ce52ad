// From a PNG's unfiltered rows to RGB8, or RGBA8 if alpha is kept: every colour type and depth,
// transparency by the options, with the rounding and the oddities of Pillow 13.0.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/palette.h"
#include "codec/png_chunks.h"
#include "mmcpp/image.h"

namespace mmcpp::codec {

class PngRows {
 public:
  /// For rows of at most header.width pixels. kCorruptInput where Pillow's conversion fails: a
  /// palette of more than 256 colours, transparency that does not fit the picture.
  static Result<PngRows> Create(const PngHeader& header, const DecodeOptions& options);

  size_t bits_per_pixel() const { return bits_per_pixel_; }
  /// Whether the file's own pixels are RGB8, or RGBA8, and are kept as they are.
  bool IsPlain() const {
    return channels_ == 4 ? kind_ == Kind::kRgba8 : kind_ == Kind::kRgb8 && !has_transparent_;
  }
  /// Of the pixels that are written: 4 where alpha is kept, which a picture of mode RGB has none
  /// of.
  size_t channels() const { return channels_; }
  static size_t Channels(const PngHeader& header, const DecodeOptions& options);

  /// Writes `count` pixels; a null `row` stands for pixels that no data came for.
  void Convert(const uint8_t* row, size_t count, uint8_t* out);

 private:
  enum class Kind : uint8_t { kIndexed, kGray16, kGrayAlpha8, kRgb8, kRgb16, kRgba8, kWithAlpha16 };

  Status SetPalette(const PngHeader& header, const DecodeOptions& options);
  Status SetGray(const PngHeader& header, const DecodeOptions& options);
  void ThroughPalette(const uint8_t* indices, size_t count, uint8_t* out) const;
  void WithAlphaToRgb(const uint8_t* row, size_t count, uint8_t* rgb);

  Kind kind_ = Kind::kIndexed;
  size_t bits_per_pixel_ = 8;
  size_t channels_ = 3;
  int depth_ = 8;
  bool gray_ = false;  // of the kinds with alpha
  Palette palette_;    // kIndexed, kGray16
  bool has_transparent_ = false;
  uint8_t transparent_[3] = {}, replacement_[3] = {};  // kRgb8, kRgb16
  DecodeOptions options_;
  std::vector<uint8_t> scratch_;  // one row: indices or RGBA
  std::vector<uint8_t> zeros_;    // one row of no data
};

}  // namespace mmcpp::codec
