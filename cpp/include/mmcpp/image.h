// Pictures: decoding from bytes to RGB8, what a header says, and the carriers of pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mmcpp/export.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"
#include "mmcpp/tensor.h"

namespace mmcpp {

/// Borrowed RGB8 pixels, interleaved; row y starts at data + y * row_bytes. With four channels,
/// RGBA8, which is for families that keep alpha: Family::KeepsAlpha.
struct ImageView {
  const uint8_t* data = nullptr;
  int height = 0;
  int width = 0;
  size_t row_bytes = 0;  ///< at least width * channels
  int channels = 3;      ///< 3 or 4

  const uint8_t* row(int y) const { return data + static_cast<size_t>(y) * row_bytes; }
};

/// Owned RGB8 pixels, or RGBA8 with four channels, without row padding; move-only.
class MMCPP_EXPORT Image {
 public:
  Image() = default;

  /// Uninitialised pixels. kInvalidArgument unless both sides are positive and channels are 3 or 4;
  /// kOutOfMemory.
  static Result<Image> Allocate(int height, int width, int channels = 3);

  /// Takes over pixels that stand at the head of `buffer`; what is behind them is given up.
  /// kInvalidArgument as Allocate, and unless the buffer holds height * width * channels bytes.
  static Result<Image> Adopt(Buffer buffer, int height, int width, int channels = 3);

  int height() const noexcept { return height_; }
  int width() const noexcept { return width_; }
  int channels() const noexcept { return channels_; }
  size_t row_bytes() const noexcept {
    return static_cast<size_t>(width_) * static_cast<size_t>(channels_);
  }
  uint8_t* data() noexcept { return buffer_.data(); }
  const uint8_t* data() const noexcept { return buffer_.data(); }
  uint8_t* row(int y) noexcept { return data() + static_cast<size_t>(y) * row_bytes(); }
  const uint8_t* row(int y) const noexcept { return data() + static_cast<size_t>(y) * row_bytes(); }

  operator ImageView() const noexcept {  // NOLINT(google-explicit-constructor)
    return {data(), height_, width_, row_bytes(), channels_};
  }

  /// Gives up the bytes (height * width * channels), for a hand-over without a copy.
  Buffer Release() && { return std::move(buffer_); }

 private:
  int height_ = 0;
  int width_ = 0;
  int channels_ = 3;
  Buffer buffer_;
};

/// The caller's memory for RGB8 pixels, interleaved; row y is written at data + y * row_bytes.
struct ImageSpan {
  uint8_t* data = nullptr;
  int height = 0;
  int width = 0;
  size_t row_bytes = 0;  ///< at least width * 3

  uint8_t* row(int y) const { return data + static_cast<size_t>(y) * row_bytes; }
};

/// A picture's RGB8 rows, or RGBA8 with four channels, from top to bottom, each given once, so that
/// no whole picture need exist.
class MMCPP_EXPORT RowSource {
 public:
  virtual ~RowSource();
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  int height() const noexcept { return height_; }
  int width() const noexcept { return width_; }
  int channels() const noexcept { return channels_; }
  size_t dense_row_bytes() const noexcept {
    return static_cast<size_t>(width_) * static_cast<size_t>(channels_);
  }

  /// All pixels, if they are in memory anyway; else null. Then any of them may be read in place of
  /// Read.
  virtual const ImageView* whole() const noexcept { return nullptr; }

  /// Writes the next `rows` rows, row r to dst + r * row_bytes; no more than are left may be asked
  /// for. What is wrong behind the last row is an error of reading that row. After an error nothing
  /// more may be read.
  virtual Status Read(int rows, uint8_t* dst, size_t row_bytes) = 0;

  /// An error once the picture is no longer wanted, as Read gives it then: for long work on rows
  /// that have been read, or are in memory anyway. Any thread may ask. By default they are wanted.
  virtual Status StillWanted() const;

 protected:
  RowSource(int height, int width, int channels = 3)
      : height_(height), width_(width), channels_(channels) {}

 private:
  int height_, width_, channels_;
};

enum class ImageFormat : uint8_t { kJpeg, kPng, kWebp, kGif, kBmp };

/// "jpeg", "png", "webp", "gif", "bmp".
MMCPP_EXPORT const char* ImageFormatName(ImageFormat format) noexcept;

/// What a decode may cost. Checked from the header, before memory is taken.
struct DecodeLimits {
  size_t max_encoded_bytes = size_t{64} << 20;
  int max_side = 65'535;
  uint64_t max_pixels = 178'956'970;  ///< where Pillow 13 raises DecompressionBombError
};

/// What becomes of transparency on the way to RGB.
enum class AlphaMode : uint8_t {
  kDrop,       ///< as Pillow 13's convert("RGB"): colours stay, alpha goes
  kComposite,  ///< as Pillow 13's Image.alpha_composite over an opaque background, then RGB
               ///< (Hugging Face)
  kPaste,      ///< as Pillow 13's paste(image, mask=alpha) on a background (vLLM)
  kKeep,  ///< four channels, as Pillow 13's convert("RGBA"), where the loaded file is not of mode
          ///< RGB and has alpha or a transparent colour; three, as kDrop, of all other files
};

/// What becomes of more than 8 bits per channel.
enum class DeepMode : uint8_t {
  kPillow,  ///< as Pillow 13 converts: 16-bit gray clips at 255, 16-bit colour keeps the high byte
  kRefuse,  ///< kUnsupported
};

struct DecodeOptions {
  AlphaMode alpha = AlphaMode::kDrop;
  std::array<uint8_t, 3> background = {255, 255, 255};
  DeepMode deep = DeepMode::kPillow;
  bool apply_orientation = false;  ///< turn the picture as its EXIF orientation says
  DecodeLimits limits;
};

/// The options of a named stack: "pillow", "hf", "vllm" or "sglang"; kInvalidArgument for another
/// name.
MMCPP_EXPORT Result<DecodeOptions> DecodeProfile(const std::string& name);

/// What a file's header says; no pixel is decoded.
struct ImageInfo {
  ImageFormat format = ImageFormat::kJpeg;
  int height = 0;  ///< as stored, before any EXIF orientation
  int width = 0;
  std::string mode;   ///< Pillow 13's mode of the opened file: "RGB", "RGBA", "L", "P", "CMYK", ...
  int bit_depth = 8;  ///< bits per channel as stored
  bool has_alpha = false;  ///< an alpha channel or a transparent colour
  int orientation = 1;     ///< EXIF orientation 1..8; 1 when absent or invalid
  int frames = 1;          ///< animation frames, as far as the header tells
};

/// Reads the header of a JPEG, PNG, WebP, GIF or BMP, told apart by content.
/// Errors: kInvalidArgument (no bytes), kUnsupported (another format, named if known),
/// kCorruptInput, kLimitExceeded (a side that no int holds, 100,000 chunks). DecodeLimits are not
/// applied. Thread-safe.
MMCPP_EXPORT Result<ImageInfo> ReadImageInfo(Bytes encoded);

/// Decodes a JPEG, PNG, WebP, GIF (first frame) or BMP, told apart by content, to RGB8.
/// With default options the bytes equal Pillow 13's Image.open(f).convert("RGB"). With
/// AlphaMode::kKeep the picture may have four channels.
/// Errors: as ReadImageInfo, plus kLimitExceeded and kOutOfMemory. Thread-safe.
MMCPP_EXPORT Result<Image> DecodeImage(Bytes encoded, const DecodeOptions& options = {});

/// DecodeImage into the caller's memory, which has the picture's size (after orientation, if that
/// is applied). After an error its contents are unspecified. Errors: as DecodeImage, and
/// kInvalidArgument for memory that does not fit, and for AlphaMode::kKeep. Thread-safe.
MMCPP_EXPORT Status DecodeImageInto(Bytes encoded, const DecodeOptions& options,
                                    const ImageSpan& out);

}  // namespace mmcpp
