// The chunks of a PNG, read with the checks of Pillow 13.0.0 (PngImagePlugin): the same files are
// refused, and the same chunks decide about the picture.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/png_inflate.h"
#include "mmcpp/span.h"
#include "mmcpp/status.h"

namespace mmcpp::codec {

/// PNG's colour types.
enum class PngColor : uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

/// What is transparent, before it is known whether it fits the picture.
struct PngTransparency {
  enum class Kind : uint8_t {
    kNone,
    kValue,   ///< value[0]: a palette index, or a gray value
    kColor,   ///< value: red, green, blue
    kAlphas,  ///< one alpha per palette entry
    kText,    ///< a text chunk of that name took the place, as happens in Pillow
  };
  Kind kind = Kind::kNone;
  std::array<uint32_t, 3> value = {};
  Bytes alphas;
};

/// A rectangle of the picture in pixels; inside it.
struct PngRegion {
  uint32_t y = 0, x = 0, height = 0, width = 0;
};

struct PngHeader {
  uint32_t height = 0, width = 0;
  int depth = 0;  ///< bits per sample; 0 while no IHDR with a valid colour type has been read
  PngColor color = PngColor::kGray;
  bool interlaced = false;
  /// Where the pixels go: all of the picture, unless it is the first frame of an animation.
  std::optional<PngRegion> region;
  bool region_is_text = false;   ///< a text chunk of that name took the place
  std::optional<Bytes> palette;  ///< RGB
  PngTransparency transparency;
  uint64_t frames = 1;
  std::optional<Bytes> exif;  ///< TIFF data, perhaps after "Exif\0\0"
  std::string exif_text;      ///< of "Raw profile type exif", as ImageMagick writes it
  std::string xmp;            ///< of "XML:com.adobe.xmp"
};

/// Pillow 13's mode of such a picture.
const char* PngMode(const PngHeader& header);

/// Reads chunk by chunk. Borrows the file.
class PngChunks {
 public:
  explicit PngChunks(Bytes file) : file_(file) {}

  /// Reads up to the pixels, or to the end of a picture without any.
  Status ReadHeader();
  const PngHeader& header() const { return header_; }
  bool has_data() const { return has_data_; }

  /// The next piece of pixel data, at most `limit` bytes and none across chunks; empty at the end.
  Result<Bytes> ReadData(size_t limit);

  /// All pixel data from here on, chunk by chunk, without moving on. Nothing if a chunk is cut
  /// short or out of order, or if there are so many that listing them would cost memory.
  std::optional<std::vector<Bytes>> AllData();
  /// Moves past the pixel data, which AllData found to be complete.
  void SkipData();

  /// Reads what comes after the pixels: it may still make Pillow refuse, or set transparency.
  Status ReadTrailer();

 private:
  struct Chunk {
    uint32_t name = 0;  // four characters, big-endian
    uint32_t length = 0;
    size_t begin = 0;  // of the contents
  };
  /// kStop: pixel data, not read, or the end of the picture.
  enum class Handled : uint8_t { kRead, kStop };

  Result<Chunk> Next();
  Result<Handled> Handle(const Chunk& chunk);
  Result<Bytes> Take(const Chunk& chunk, size_t length);
  Status CheckCrc(const Chunk& chunk);

  Status ReadIhdr(const Chunk& chunk, Bytes data);
  Status ReadTransparency(const Chunk& chunk, Bytes data);
  Status ReadIccProfile(const Chunk& chunk, Bytes data);
  Status ReadText(const Chunk& chunk, Bytes data);
  Status ReadCompressedText(const Chunk& chunk, Bytes data);
  Status ReadInternationalText(const Chunk& chunk, Bytes data);
  Status ReadAnimation(const Chunk& chunk, Bytes data);
  Status ReadFrame(const Chunk& chunk, Bytes data);
  Status ReadSequence(const Chunk& chunk);

  Result<size_t> Inflate(const Chunk& chunk, Bytes key, Bytes stream, std::string* text);
  Status KeepText(const Chunk& chunk, Bytes key, size_t size, std::string text);
  Error Broken(const Chunk& chunk, const std::string& what) const;

  /// What moves while pixels are read.
  struct Cursor {
    size_t position = 0;
    size_t data_left = 0;              // of the current data chunk
    std::optional<Chunk> pushed;       // read while looking for pixel data
    std::optional<uint32_t> sequence;  // of the last fcTL or fdAT
  };

  Bytes file_;
  Cursor at_;
  PngHeader header_;
  bool has_data_ = false;
  bool animated_ = false;
  std::optional<uint32_t> frame_count_;  // of acTL
  std::optional<StreamInflater> texts_;  // once there is a compressed one
  uint64_t text_bytes_ = 0;
  uint64_t inflated_bytes_ = 0;
};

}  // namespace mmcpp::codec
