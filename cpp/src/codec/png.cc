// PNG: header and pixels, as Pillow 13.0.0 opens it and converts it to RGB.
//
// The pixel stream is inflated as a whole, since only what follows it tells whether the picture
// counts; then each row is unfiltered and brought to RGB8 while it is in the cache, for a picture
// or for who takes rows.
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
#include "codec/png_chunks.h"
#include "codec/png_inflate.h"
#include "codec/png_layout.h"
#include "codec/png_rows.h"
#include "simd/dispatch.h"

namespace mmcpp::codec {
namespace {

constexpr size_t kReadBytes = 65536;  // what Pillow hands to zlib at a time

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
Result<size_t> InflateByRow(PngChunks* chunks, const std::vector<PngPass>& passes, uint8_t* out) {
  MMCPP_ASSIGN(StreamInflater inflater, StreamInflater::Create());
  Bytes input;
  size_t done = 0;
  for (const PngPass& pass : passes) {
    const size_t row_size = pass.row_bytes + 1;
    for (size_t y = 0; y < pass.height; ++y) {
      bool ended = false;
      for (size_t filled = 0; filled < row_size;) {
        if (input.empty()) {
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

/// The rows of one pass of the inflated stream, in order, as RGB.
class PassReader {
 public:
  PassReader(Bytes stream, const PngPass& pass, const simd::Kernels* kernels, PngRows* rows)
      : stream_(stream),
        pass_(pass),
        kernels_(kernels),
        rows_(rows),
        spare_(pass.row_bytes * (rows->IsPlainRgb() ? 1 : simd::kPngRows + 1)) {}

  /// Writes the next `count` rows, at most simd::kPngRows. Rows that the stream ends before are
  /// made of no data. They may overwrite the stream up to the first row after them.
  Status Read(size_t count, uint8_t* const* rgb) {
    const size_t row_size = pass_.row_bytes + 1;
    const size_t present = std::min(count, stream_.size() / row_size);
    const size_t pixel_bytes = std::max<size_t>(rows_->bits_per_pixel() / 8, 1);
    // Rows that are RGB8 already are unfiltered where they belong, others in spare ones.
    const bool direct = rows_->IsPlainRgb();
    uint8_t* above = spare_.data();
    std::array<const uint8_t*, simd::kPngRows> filtered;
    std::array<uint8_t*, simd::kPngRows> rows;
    for (size_t i = 0; i < present; ++i) {
      filtered[i] = stream_.data() + i * row_size;
      rows[i] = direct ? rgb[i] : spare_.data() + (i + 1) * pass_.row_bytes;
      if (filtered[i][0] > 4) {
        return CorruptInput("png: row " + std::to_string(y_ + i) + " of " +
                            std::to_string(pass_.height) + " has filter " +
                            std::to_string(filtered[i][0]));
      }
    }
    if (present > 0) {
      kernels_->png_unfilter(present, pass_.row_bytes, pixel_bytes, filtered.data(), above,
                             rows.data());
      std::memcpy(above, rows[present - 1], pass_.row_bytes);
    }
    if (!direct) {
      for (size_t i = 0; i < present; ++i) rows_->ToRgb(rows[i], pass_.width, rgb[i]);
    }
    for (size_t i = present; i < count; ++i) rows_->ToRgb(nullptr, pass_.width, rgb[i]);
    stream_ = stream_.subspan(present * row_size, stream_.size() - present * row_size);
    y_ += count;
    return Ok{};
  }

 private:
  Bytes stream_;  // from the next row on
  const PngPass pass_;
  const simd::Kernels* kernels_;
  PngRows* rows_;
  std::vector<uint8_t> spare_;  // the row above a group of rows, and the group
  size_t y_ = 0;
};

bool IsInPart(const PngHeader& header) {
  return header.region &&
         (header.region->height < header.height || header.region->width < header.width);
}

/// Turns the inflated stream into a whole picture. `stream` may lie in the memory of the pixels;
/// see Memory.
Status WritePixels(const PngHeader& header, const std::vector<PngPass>& passes, Bytes stream,
                   const simd::Kernels* kernels, PngRows* rows, uint8_t* pixels) {
  const auto at = [&](size_t y, size_t x) { return pixels + (y * header.width + x) * 3; };
  if (IsInPart(header)) {
    for (size_t y = 0; y < header.height; ++y) rows->ToRgb(nullptr, header.width, at(y, 0));
  }
  std::vector<uint8_t> apart;  // rows whose pixels stand apart in the picture
  std::array<uint8_t*, simd::kPngRows> rgb;
  for (const PngPass& pass : passes) {
    const size_t size = std::min(stream.size(), pass.height * (pass.row_bytes + 1));
    PassReader reader(stream.subspan(0, size), pass, kernels, rows);
    stream = stream.subspan(size, stream.size() - size);
    if (pass.dx > 1) apart.resize(pass.width * 3 * simd::kPngRows);
    for (size_t y = 0; y < pass.height; y += simd::kPngRows) {
      const size_t count = std::min<size_t>(simd::kPngRows, pass.height - y);
      for (size_t i = 0; i < count; ++i) {
        rgb[i] = pass.dx > 1 ? apart.data() + i * pass.width * 3
                             : at(pass.y0 + (y + i) * pass.dy, pass.x0);
      }
      MMCPP_TRY(reader.Read(count, rgb.data()));
      if (pass.dx == 1) continue;
      for (size_t i = 0; i < count; ++i) {
        uint8_t* out = at(pass.y0 + (y + i) * pass.dy, pass.x0);
        for (size_t x = 0; x < pass.width; ++x, out += pass.dx * 3) {
          std::memcpy(out, rgb[i] + 3 * x, 3);
        }
      }
    }
  }
  return Ok{};
}

/// Where the inflated stream and the pixels lie.
struct Memory {
  Buffer buffer;  // of the stream, and of the pixels too if `shared`
  uint8_t* stream = nullptr;
  size_t stream_size = 0;
  bool shared = false;

  /// Shared memory starts with the pixels and ends with the stream. Pixels are written in order, a
  /// group of rows after the group was read, and never reach a row of the stream before its turn:
  /// where rows of the stream are the shorter ones, because both end together; where they are the
  /// longer ones, because the stream starts a group later.
  static Result<Memory> Allocate(const PngHeader& header, const std::vector<PngPass>& passes,
                                 bool may_share) {
    Memory memory;
    size_t stream_size = 0;
    for (const PngPass& pass : passes) stream_size += pass.height * (pass.row_bytes + 1);
    const size_t rgb_bytes = size_t{header.width} * 3;
    const size_t pixel_size = rgb_bytes * header.height;
    const PngPass& first = passes.front();
    const bool in_order =
        first.dx == 1 && first.height == header.height && first.width == header.width;
    const size_t lead = first.row_bytes + 1 > rgb_bytes
                            ? rgb_bytes * std::min<size_t>(first.height, simd::kPngRows)
                            : 0;
    // Much longer streams would stay with the picture as waste.
    memory.shared = may_share && in_order && stream_size + lead <= pixel_size * 2;
    const size_t size = memory.shared ? std::max(stream_size + lead, pixel_size) : stream_size;
    MMCPP_ASSIGN(memory.buffer, Buffer::Allocate(size));
    memory.stream = memory.buffer.data() + (size - stream_size);
    memory.stream_size = stream_size;
    return memory;
  }
};

/// A picture whose stream is inflated and whose every chunk is read.
struct InflatedPng {
  PngHeader header;
  std::vector<PngPass> passes;
  Memory memory;
  Bytes stream;  // the rows that there are, in `memory`
  PngRows rows;
  const simd::Kernels* kernels = nullptr;

  bool IsInterlaced() const { return passes.size() != 1 || passes[0].dx != 1; }

  Result<Image> ToImage() && {
    const int height = static_cast<int>(header.height), width = static_cast<int>(header.width);
    Image image;
    uint8_t* pixels = memory.buffer.data();
    if (!memory.shared) {
      MMCPP_ASSIGN(image, Image::Allocate(height, width));
      pixels = image.data();
    }
    MMCPP_TRY(WritePixels(header, passes, stream, kernels, &rows, pixels));
    if (!memory.shared) return image;
    return Image::Adopt(std::move(memory.buffer), height, width);
  }
};

/// `shared`: the pixels may lie in the memory of the stream.
Result<InflatedPng> Inflate(Bytes encoded, const DecodeOptions& options, bool shared) {
  PngChunks chunks(encoded);
  MMCPP_TRY(chunks.ReadHeader());
  InflatedPng png;
  PngHeader& header = png.header;
  header = chunks.header();
  MMCPP_TRY(CheckSize(header));
  if (header.depth == 16 && options.deep == DeepMode::kRefuse) {
    return Unsupported("png: 16 bits per channel, which these options refuse");
  }
  if (header.width > INT_MAX / PngBitsPerPixel(header) - 7) {
    return LimitExceeded("png: rows of " + std::to_string(header.width) + " pixels");
  }
  if (!chunks.has_data()) return CorruptInput("png: no pixels");
  if (header.region_is_text ||
      (header.region && (header.region->height == 0 || header.region->width == 0))) {
    return CorruptInput("png: an animation whose first frame is empty");
  }
  png.passes = PngPasses(header);
  MMCPP_ASSIGN(png.memory, Memory::Allocate(header, png.passes, shared));
  uint8_t* stream = png.memory.stream;
  size_t present = png.memory.stream_size;
  bool sound = false;
  {
    Buffer joined;
    const std::optional<Bytes> data = chunks.AllData(&joined);
    sound = data && InflateExactly(*data, stream, present);
  }
  if (sound) {
    chunks.SkipData();
  } else {
    MMCPP_ASSIGN(present, InflateByRow(&chunks, png.passes, stream));
  }
  png.stream = {stream, present};
  MMCPP_TRY(chunks.ReadTrailer());
  header.transparency = chunks.header().transparency;  // nothing else counts after the pixels

  MMCPP_ASSIGN(png.rows, PngRows::Create(header, options));
  MMCPP_ASSIGN(png.kernels, simd::ActiveKernels());
  return png;
}

/// The rows of a picture that is neither interlaced nor a part of its canvas.
class InOrderRows final : public RowSource {
 public:
  explicit InOrderRows(InflatedPng png)
      : RowSource(static_cast<int>(png.header.height), static_cast<int>(png.header.width)),
        png_(std::move(png)),
        reader_(png_.stream, png_.passes[0], png_.kernels, &png_.rows) {}

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    std::array<uint8_t*, simd::kPngRows> group;
    while (rows > 0) {
      const int count = std::min<int>(simd::kPngRows, rows);
      for (int i = 0; i < count; ++i, dst += row_bytes) group[static_cast<size_t>(i)] = dst;
      MMCPP_TRY(reader_.Read(static_cast<size_t>(count), group.data()));
      rows -= count;
    }
    return Ok{};
  }

 private:
  InflatedPng png_;
  PassReader reader_;
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

Result<Image> DecodePng(Bytes encoded, const DecodeOptions& options) {
  MMCPP_ASSIGN(InflatedPng png, Inflate(encoded, options, true));
  return std::move(png).ToImage();
}

Result<std::unique_ptr<RowSource>> OpenPng(Bytes encoded, const DecodeOptions& options) {
  MMCPP_ASSIGN(InflatedPng png, Inflate(encoded, options, false));
  if (!png.IsInterlaced() && !IsInPart(png.header)) {
    return std::unique_ptr<RowSource>(std::make_unique<InOrderRows>(std::move(png)));
  }
  MMCPP_ASSIGN(Image image, std::move(png).ToImage());
  return std::unique_ptr<RowSource>(std::make_unique<WholeRows>(std::move(image)));
}

}  // namespace mmcpp::codec
