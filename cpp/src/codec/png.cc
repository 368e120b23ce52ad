// PNG: header and pixels, as Pillow 13.0.0 opens it and converts it to RGB.
//
// All chunks are read first, since what follows the pixels tells whether and how the picture
// counts. Then the pixel stream is inflated piece by piece, and what came is unfiltered and brought
// to RGB8, or RGBA8, while it is in the cache. If anything turns out to be odd, it is all done
// again, as Pillow does. Who takes rows gets them from a stream that is inflated as a whole, so
// that no row comes of a picture that does not count.
#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/row_source.h"
#include "codec/exif.h"
#include "codec/formats.h"
#include "codec/inflate.h"
#include "codec/png_chunks.h"
#include "codec/png_inflate.h"
#include "codec/png_layout.h"
#include "codec/png_pixels.h"
#include "codec/png_rows.h"
#include "simd/dispatch.h"

namespace mmcpp::codec {
namespace {

constexpr size_t kReadBytes = 65536;  // what Pillow hands to zlib at a time
// What is inflated before its rows are converted: fits the second cache together with the pixels.
constexpr size_t kInflateBytes = 65536;

Status CheckSize(const PngHeader& header) {
  if (header.height > INT_MAX || header.width > INT_MAX) {
    return LimitExceeded("png: " + std::to_string(header.height) + "x" +
                         std::to_string(header.width) + " (height x width) is too large");
  }
  return Ok{};
}

/// The hexadecimal bytes after the three lines that head an ImageMagick profile; empty if that is
/// not what the text is.
std::vector<uint8_t> FromHexProfile(const std::string& text) {
  size_t at = 0;
  for (int line = 0; line < 3; ++line) {
    at = text.find('\n', at);
    if (at == std::string::npos) return {};
    ++at;
  }
  std::vector<uint8_t> bytes;
  int high = -1;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n' || (high < 0 && std::strchr(" \t\r\f\v", c) != nullptr && c != 0)) continue;
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return {};
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<uint8_t>(high << 4 | digit));
      high = -1;
    }
  }
  if (high >= 0) bytes.clear();
  return bytes;
}

int Orientation(const PngHeader& header) {
  std::vector<uint8_t> profile;
  Bytes exif;
  if (header.exif) {
    exif = *header.exif;
  } else if (!header.exif_text.empty()) {
    profile = FromHexProfile(header.exif_text);
    exif = profile;
  }
  return ReadOrientation(exif,
                         {reinterpret_cast<const uint8_t*>(header.xmp.data()), header.xmp.size()});
}

bool CanBeTransparent(const PngHeader& header) {
  return header.color == PngColor::kGrayAlpha || header.color == PngColor::kRgba ||
         header.transparency.kind != PngTransparency::Kind::kNone;
}

/// Inflates as Pillow does, row by row from pieces of at most 64 KiB: what it makes of a stream
/// that is damaged, short or too long depends on that. Gives the size of the rows that there are; a
/// stream may end early after a whole row.
Result<size_t> InflateByRow(PngChunks* chunks, const std::vector<PngPass>& passes, const Stop& stop,
                            uint8_t* out) {
  MMCPP_ASSIGN(StreamInflater inflater, StreamInflater::Create());
  Bytes input;
  size_t done = 0;
  for (const PngPass& pass : passes) {
    const size_t row_size = pass.row_bytes + 1;
    for (size_t y = 0; y < pass.height; ++y) {
      bool ended = false;
      for (size_t filled = 0; filled < row_size;) {
        if (input.empty()) {
          MMCPP_TRY(stop.Check("decode"));
          MMCPP_ASSIGN(input, chunks->ReadData(kReadBytes));
          if (input.empty()) {
            return CorruptInput("png: pixel data ends in row " + std::to_string(y) + " of " +
                                std::to_string(pass.height));
          }
        }
        const auto progress = inflater.Inflate(input, out + done + filled, row_size - filled);
        if (progress.damaged) {
          return CorruptInput("png: pixel data is damaged in row " + std::to_string(y) + " of " +
                              std::to_string(pass.height));
        }
        filled += progress.produced;
        ended = progress.ended;
        // What an unfinished row leaves over is never looked at again.
        input = filled < row_size
                    ? Bytes()
                    : input.subspan(progress.consumed, input.size() - progress.consumed);
      }
      done += row_size;
      if (ended) return done;
    }
  }
  return done;
}

/// A file that is open up to its pixels.
struct OpenFile {
  PngChunks chunks;
  PngHeader header;
  std::vector<PngPass> passes;

  bool IsInOrder() const { return passes.size() == 1 && passes[0].dx == 1 && !IsInPart(header); }
};

Result<OpenFile> Open(Bytes encoded, const DecodeOptions& options) {
  OpenFile file{PngChunks(encoded), {}, {}};
  MMCPP_TRY(file.chunks.ReadHeader());
  const PngHeader& header = file.header = file.chunks.header();
  MMCPP_TRY(CheckSize(header));
  if (header.depth == 16 && options.deep == DeepMode::kRefuse) {
    return Unsupported("png: 16 bits per channel, which these options refuse");
  }
  if (header.width > INT_MAX / PngBitsPerPixel(header) - 7) {
    return LimitExceeded("png: rows of " + std::to_string(header.width) + " pixels");
  }
  if (!file.chunks.has_data()) return CorruptInput("png: no pixels");
  if (header.region_is_text ||
      (header.region && (header.region->height == 0 || header.region->width == 0))) {
    return CorruptInput("png: an animation whose first frame is empty");
  }
  file.passes = PngPasses(header);
  return file;
}

/// What is known when all chunks were read.
struct Conversion {
  PngRows rows;
  const simd::Kernels* kernels = nullptr;
};

/// Reads the chunks after the pixels, where the file stands.
Result<Conversion> ReadConversion(OpenFile* file, const DecodeOptions& options) {
  MMCPP_TRY(file->chunks.ReadTrailer());
  // Nothing else counts after the pixels.
  file->header.transparency = file->chunks.header().transparency;
  Conversion conversion;
  MMCPP_ASSIGN(conversion.rows, PngRows::Create(file->header, options));
  MMCPP_ASSIGN(conversion.kernels, simd::ActiveKernels());
  return conversion;
}

/// The rows of a picture, inflated as a whole, for who takes them in order.
struct Inflated {
  PngMemory memory;
  const uint8_t* end = nullptr;  // of the stream, in `memory`
  Conversion conversion;
};

/// Inflates piece by piece, and `write`s after each. False unless all of the file is sound, or when
/// it is to stop.
template <class Write>
bool InflateSound(const std::vector<Bytes>& data, const PngMemory& memory, const Stop& stop,
                  const Write& write) {
  Inflater inflater(data, memory.stream, memory.stream_size);
  for (bool whole = false; !whole;) {
    const size_t target = inflater.produced() + kInflateBytes;
    if (stop.IsDue() || !inflater.InflateTo(target)) return false;
    whole = target >= memory.stream_size;
    if (!write(memory.stream + inflater.produced(), whole)) return false;
  }
  return true;
}

/// The picture, if nothing of the file is odd in any way and it is not to stop. `pixels` may lie in
/// the memory of the stream.
bool DecodeSound(OpenFile* file, const DecodeOptions& options, const Stop& stop,
                 const PngMemory& memory, uint8_t* pixels) {
  const std::optional<std::vector<Bytes>> data = file->chunks.AllData();
  if (!data) return false;
  file->chunks.SkipData();
  Result<Conversion> conversion = ReadConversion(file, options);
  if (!conversion.ok()) return false;
  PngPixelWriter writer(file->header, file->passes, memory.stream, conversion->kernels,
                        &conversion->rows, pixels);
  return InflateSound(*data, memory, stop, [&](const uint8_t* end, bool whole) {
    if (whole) return writer.WriteRest(end).ok();
    if (!memory.shared) return writer.WriteUpTo(end, SIZE_MAX).ok();
    // What the next pieces may refer to must stay.
    const size_t before = static_cast<size_t>(end - pixels);
    return before < Inflater::kWindow || writer.WriteUpTo(end, before - Inflater::kWindow).ok();
  });
}

/// Any file's stream, from the start. `file` is only just open.
Result<Inflated> InflateAny(OpenFile* file, const DecodeOptions& options, const Stop& stop,
                            PngMemory memory) {
  Inflated inflated;
  MMCPP_ASSIGN(const size_t size, InflateByRow(&file->chunks, file->passes, stop, memory.stream));
  inflated.end = memory.stream + size;
  inflated.memory = std::move(memory);
  MMCPP_ASSIGN(inflated.conversion, ReadConversion(file, options));
  return inflated;
}

/// The rows of a picture that is neither interlaced nor a part of its canvas.
class InOrderRows final : public RowSource {
 public:
  InOrderRows(const OpenFile& file, Inflated png)
      : RowSource(static_cast<int>(file.header.height), static_cast<int>(file.header.width),
                  static_cast<int>(png.conversion.rows.channels())),
        png_(std::move(png)),
        reader_(png_.memory.stream, file.passes[0], png_.conversion.kernels,
                &png_.conversion.rows) {}

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    std::array<uint8_t*, simd::kPngRows> group;
    while (rows > 0) {
      const int count = std::min<int>(simd::kPngRows, rows);
      for (int i = 0; i < count; ++i, dst += row_bytes) group[static_cast<size_t>(i)] = dst;
      MMCPP_TRY(reader_.Read(static_cast<size_t>(count), png_.end, group.data()));
      rows -= count;
    }
    return Ok{};
  }

 private:
  Inflated png_;
  PngPassReader reader_;
};

}  // namespace

Result<ImageInfo> ReadPngInfo(Bytes encoded) {
  PngChunks chunks(encoded);
  MMCPP_TRY(chunks.ReadHeader());
  const PngHeader& header = chunks.header();
  MMCPP_TRY(CheckSize(header));
  ImageInfo info;
  info.format = ImageFormat::kPng;
  info.height = static_cast<int>(header.height);
  info.width = static_cast<int>(header.width);
  info.mode = PngMode(header);
  info.bit_depth = header.depth;
  info.has_alpha = CanBeTransparent(header);
  info.frames = static_cast<int>(std::min<uint64_t>(header.frames, INT_MAX));
  // EXIF may stand behind the pixels. What is wrong there does not matter to a header.
  chunks.SkipData();
  (void)chunks.ReadTrailer();
  info.orientation = Orientation(header);
  return info;
}

bool HasPngTransparency(Bytes encoded) {
  PngChunks chunks(encoded);
  if (!chunks.ReadHeader().ok()) return false;
  chunks.SkipData();
  (void)chunks.ReadTrailer();  // of damage the decoder tells
  return CanBeTransparent(chunks.header());
}

Result<Image> DecodePng(Bytes encoded, const DecodeOptions& options, const Stop& stop) {
  MMCPP_ASSIGN(OpenFile file, Open(encoded, options));
  const size_t channels = PngRows::Channels(file.header, options);
  MMCPP_ASSIGN(PngMemory memory, PngMemory::Allocate(file.header, file.passes, channels, true));
  const int height = static_cast<int>(file.header.height);
  const int width = static_cast<int>(file.header.width);
  Image image;
  uint8_t* pixels = memory.buffer.data();
  if (!memory.shared) {
    MMCPP_ASSIGN(image, Image::Allocate(height, width, static_cast<int>(channels)));
    pixels = image.data();
  }
  if (!DecodeSound(&file, options, stop, memory, pixels)) {
    MMCPP_ASSIGN(file, Open(encoded, options));
    MMCPP_ASSIGN(Inflated png, InflateAny(&file, options, stop, std::move(memory)));
    PngPixelWriter writer(file.header, file.passes, png.memory.stream, png.conversion.kernels,
                          &png.conversion.rows, pixels);
    MMCPP_TRY(writer.WriteRest(png.end));
    memory = std::move(png.memory);
  }
  if (!memory.shared) return image;
  return Image::Adopt(std::move(memory.buffer), height, width, static_cast<int>(channels));
}

Result<std::unique_ptr<RowSource>> OpenPng(Bytes encoded, const DecodeOptions& options,
                                           const Stop& stop) {
  MMCPP_ASSIGN(OpenFile file, Open(encoded, options));
  if (!file.IsInOrder()) {
    MMCPP_ASSIGN(Image image, DecodePng(encoded, options, stop));
    return std::unique_ptr<RowSource>(std::make_unique<WholeRows>(std::move(image)));
  }
  MMCPP_ASSIGN(PngMemory memory,
               PngMemory::Allocate(file.header, file.passes,
                                   PngRows::Channels(file.header, options), false));
  const std::optional<std::vector<Bytes>> data = file.chunks.AllData();
  Inflated png;
  if (data && InflateSound(*data, memory, stop, [](const uint8_t*, bool) { return true; })) {
    file.chunks.SkipData();
    png.end = memory.stream + memory.stream_size;
    png.memory = std::move(memory);
    MMCPP_ASSIGN(png.conversion, ReadConversion(&file, options));
  } else {
    MMCPP_ASSIGN(png, InflateAny(&file, options, stop, std::move(memory)));
  }
  return std::unique_ptr<RowSource>(std::make_unique<InOrderRows>(file, std::move(png)));
}

}  // namespace mmcpp::codec
