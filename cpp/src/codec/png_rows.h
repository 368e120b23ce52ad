// From a PNG's unfiltered rows to RGB8: every colour type and depth, transparency by the options,
// with the rounding and the oddities of Pillow 13.0.0.
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
  /// Whether the file's own pixels are RGB8 and are kept as they are.
  bool IsPlainRgb() const { return kind_ == Kind::kRgb8 && !has_transparent_; }

  /// Writes `count` RGB pixels; a null `row` stands for pixels that no data came for.
  void ToRgb(const uint8_t* row, size_t count, uint8_t* rgb);

 private:
  enum class Kind : uint8_t { kIndexed, kGray16, kGrayAlpha8, kRgb8, kRgb16, kRgba8, kWithAlpha16 };

  Status SetPalette(const PngHeader& header, const DecodeOptions& options);
  Status SetGray(const PngHeader& header, const DecodeOptions& options);
  void WithAlphaToRgb(const uint8_t* row, size_t count, uint8_t* rgb);

  Kind kind_ = Kind::kIndexed;
  size_t bits_per_pixel_ = 8;
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
