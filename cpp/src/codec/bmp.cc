// BMP and DIB: header and pixels, as Pillow 13.0.0 opens them and converts them to RGB.
#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/row_source.h"
#include "codec/bmp_header.h"
#include "codec/color.h"
#include "codec/formats.h"
#include "codec/palette.h"

namespace mmcpp::codec {
namespace {

Status CheckSize(const BmpHeader& header) {
  if (header.height > INT_MAX || header.width > INT_MAX) {
    return LimitExceeded("bmp: " + std::to_string(header.height) + "x" +
                         std::to_string(header.width) + " (height x width) is too large");
  }
  return Ok{};
}

Result<Palette> ColorsOf(const BmpHeader& header) {
  Palette colors;
  if (header.pixel == BmpPixel::kGray1) {
    // RLE has a byte per pixel, and every one but 0 is white.
    for (size_t i = 1; i < 256; ++i) colors.Set(i, 255, 255, 255);
    return colors;
  }
  if (header.pixel == BmpPixel::kGray8) {
    for (size_t i = 0; i < 256; ++i) {
      const uint8_t gray = static_cast<uint8_t>(i);
      colors.Set(i, gray, gray, gray);
    }
    return colors;
  }
  const size_t stride = header.palette_stride;
  const size_t count = header.palette.size() / stride;
  if (count > 256) return CorruptInput("bmp: a palette of " + std::to_string(count) + " colours");
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* bgr = header.palette.data() + i * stride;
    colors.Set(i, bgr[2], bgr[1], bgr[0]);
  }
  return colors;
}

/// A picture's indices, given in the order of the file. They stand in the last third of the pixels'
/// memory, which rows of pixels written in order reach only when they have been read.
class IndexWriter {
 public:
  IndexWriter(Image* image, bool top_down)
      : height_(static_cast<size_t>(image->height())),
        width_(static_cast<size_t>(image->width())),
        top_down_(top_down),
        indices_(image->data() + 2 * height_ * width_) {}

  size_t count() const { return count_; }
  size_t total() const { return height_ * width_; }
  size_t x() const { return count_ % width_; }

  /// What goes beyond the picture is dropped.
  void Repeat(uint8_t index, size_t count) {
    for (count = std::min(count, total() - count_); count > 0;) {
      const size_t run = std::min(count, width_ - x());
      std::memset(Here(), index, run);
      count_ += run;
      count -= run;
    }
  }
  void Add(uint8_t index) {
    if (count_ == total()) return;
    *Here() = index;
    ++count_;
  }
  const uint8_t* row(size_t y) const { return indices_ + y * width_; }

 private:
  uint8_t* Here() const {
    const size_t y = count_ / width_;
    return indices_ + (top_down_ ? y : height_ - 1 - y) * width_ + x();
  }

  size_t height_, width_;
  bool top_down_;
  uint8_t* indices_;
  size_t count_ = 0;
};

/// Decodes RLE as Pillow's BmpRleDecoder does. Its column is kept apart from the pixels written,
/// and cuts runs of one colour only; what a file leaves out at the end makes it refuse.
void DecodeRle(Bytes file, const BmpHeader& header, IndexWriter* out) {
  const size_t width = header.width;
  size_t at = static_cast<size_t>(std::min<uint64_t>(header.data, file.size()));
  const auto left = [&] { return file.size() - at; };
  size_t x = 0;
  while (out->count() < out->total() && left() >= 2) {
    size_t run = file[at];
    const uint8_t value = file[at + 1];
    at += 2;
    if (run > 0) {
      if (x + run > width) run = width - std::min(x, width);
      if (header.rle4) {
        for (size_t i = 0; i < run; ++i) out->Add(i % 2 == 0 ? value >> 4 : value & 15);
      } else {
        out->Repeat(value, run);
      }
      x += run;
    } else if (value == 0) {  // the row ends
      if (out->x() != 0) out->Repeat(0, width - out->x());
      x = 0;
    } else if (value == 1) {  // the picture ends
      return;
    } else if (value == 2) {  // go right and up
      if (left() < 2) return;
      out->Repeat(0, file[at] + size_t{file[at + 1]} * width);
      at += 2;
      x = out->x();
    } else {  // pixels as they are
      const size_t count = std::min<size_t>(value, out->total() - out->count());
      const size_t bytes = header.rle4 ? (count + 1) / 2 : count;
      if (left() < bytes) return;
      for (size_t i = 0; i < count; ++i) {
        const uint8_t byte = file[at + (header.rle4 ? i / 2 : i)];
        out->Add(!header.rle4 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15);
      }
      at += bytes;
      x += value;
      if (at % 2 != 0) at = std::min(at + 1, file.size());  // counted from the start of the file
    }
  }
}

Result<Image> ReadRle(Bytes file, const BmpHeader& header) {
  if (header.bits > 8) {
    return CorruptInput("bmp: RLE of " + std::to_string(header.bits) + " bits per pixel");
  }
  MMCPP_ASSIGN(const Palette colors, ColorsOf(header));
  MMCPP_ASSIGN(Image image,
               Image::Allocate(static_cast<int>(header.height), static_cast<int>(header.width)));
  IndexWriter indices(&image, header.top_down);
  DecodeRle(file, header, &indices);
  if (indices.count() < indices.total()) {
    return CorruptInput("bmp: RLE data end at pixel " + std::to_string(indices.count()) + " of " +
                        std::to_string(indices.total()));
  }
  for (int y = 0; y < image.height(); ++y) {
    colors.ToRgb(indices.row(static_cast<size_t>(y)), header.width, image.row(y));
  }
  return image;
}

/// The rows of uncompressed pixels.
class BmpRows final : public RowSource {
 public:
  BmpRows(Bytes file, const BmpHeader& header, const DecodeOptions& options)
      : RowSource(static_cast<int>(header.height), static_cast<int>(header.width),
                  header.has_alpha ? ChannelsOf(options) : 3),
        header_(header),
        options_(options),
        pixels_(file.data() + header.data) {}

  Status Begin() {
    if (header_.pixel == BmpPixel::kGray1 || header_.pixel == BmpPixel::kGray8 ||
        header_.pixel == BmpPixel::kIndexed) {
      MMCPP_ASSIGN(colors_, ColorsOf(header_));
    }
    return Ok{};
  }

  Status Read(int rows, uint8_t* dst, size_t row_bytes) override {
    MMCPP_ENSURE(rows <= height() - y_);
    for (const int end = y_ + rows; y_ < end; ++y_, dst += row_bytes) {
      const int stored = header_.top_down ? y_ : height() - 1 - y_;
      ToRgb(pixels_ + static_cast<uint64_t>(stored) * header_.row_bytes, dst);
    }
    return Ok{};
  }

 private:
  void ToRgb(const uint8_t* row, uint8_t* rgb) {
    const size_t width = header_.width;
    switch (header_.pixel) {
      case BmpPixel::kGray1:
      case BmpPixel::kGray8:
      case BmpPixel::kIndexed:
        if (header_.stored_bits < 8) {
          scratch_.resize(width);
          UnpackBits(row, static_cast<int>(header_.stored_bits), width, scratch_.data());
          row = scratch_.data();
        }
        colors_.ToRgb(row, width, rgb);
        return;
      case BmpPixel::kRgb555:
      case BmpPixel::kRgb565:
        return From16Bits(row, rgb);
      case BmpPixel::kChannels:
        return FromChannels(row, rgb);
    }
  }

  void From16Bits(const uint8_t* row, uint8_t* rgb) const {
    const bool wide_green = header_.pixel == BmpPixel::kRgb565;
    const unsigned green_levels = wide_green ? 63 : 31;
    const int red_shift = wide_green ? 11 : 10;
    for (size_t i = 0; i < header_.width; ++i, row += 2, rgb += 3) {
      const unsigned value = row[0] | unsigned{row[1]} << 8;
      rgb[0] = static_cast<uint8_t>((value >> red_shift & 31) * 255 / 31);
      rgb[1] = static_cast<uint8_t>((value >> 5 & green_levels) * 255 / green_levels);
      rgb[2] = static_cast<uint8_t>((value & 31) * 255 / 31);
    }
  }

  void FromChannels(const uint8_t* row, uint8_t* rgb) {
    const auto [red, green, blue, alpha] = header_.channels;
    const size_t step = header_.bits / 8;
    if (!header_.has_alpha || options_.alpha == AlphaMode::kDrop) {
      for (size_t i = 0; i < header_.width; ++i, row += step, rgb += 3) {
        rgb[0] = row[red];
        rgb[1] = row[green];
        rgb[2] = row[blue];
      }
      return;
    }
    scratch_.resize(size_t{header_.width} * 4);
    for (size_t i = 0; i < header_.width; ++i, row += step) {
      uint8_t* rgba = scratch_.data() + 4 * i;
      rgba[0] = row[red];
      rgba[1] = row[green];
      rgba[2] = row[blue];
      rgba[3] = row[alpha];
    }
    RgbaRowToRgb(scratch_.data(), header_.width, options_, rgb);
  }

  const BmpHeader header_;
  const DecodeOptions options_;
  const uint8_t* pixels_;
  int y_ = 0;
  Palette colors_;
  std::vector<uint8_t> scratch_;
};

Result<std::unique_ptr<RowSource>> OpenRaw(Bytes file, const BmpHeader& header,
                                           const DecodeOptions& options) {
  const uint64_t used = (uint64_t{header.width} * header.stored_bits + 7) / 8;
  if (used > header.row_bytes) {
    return CorruptInput("bmp: rows of " + std::to_string(header.row_bytes) +
                        " bytes are too short for " + std::to_string(header.width) + " pixels");
  }
  // The last row need not be padded.
  const uint64_t size = (uint64_t{header.height} - 1) * header.row_bytes + used;
  if (header.data > file.size() || size > file.size() - header.data) {
    return CorruptInput("bmp: " + std::to_string(size) + " bytes of pixels at byte " +
                        std::to_string(header.data) + " of " + std::to_string(file.size()));
  }
  auto rows = std::make_unique<BmpRows>(file, header, options);
  MMCPP_TRY(rows->Begin());
  return std::unique_ptr<RowSource>(std::move(rows));
}

Result<BmpHeader> ReadHeader(Bytes encoded) {
  MMCPP_ASSIGN(const BmpHeader header, ReadBmpHeader(encoded));
  MMCPP_TRY(CheckSize(header));
  if (header.width > INT_MAX / 32 - 7) {  // where Pillow's arithmetic ends, too
    return LimitExceeded("bmp: rows of " + std::to_string(header.width) + " pixels");
  }
  return header;
}

}  // namespace

Result<ImageInfo> ReadBmpInfo(Bytes encoded) {
  MMCPP_ASSIGN(const BmpHeader header, ReadBmpHeader(encoded));
  MMCPP_TRY(CheckSize(header));
  ImageInfo info;
  info.format = ImageFormat::kBmp;
  info.height = static_cast<int>(header.height);
  info.width = static_cast<int>(header.width);
  info.mode = header.mode();
  info.bit_depth = header.bits == 16 ? 5 : static_cast<int>(std::min(header.bits, 8u));
  info.has_alpha = header.has_alpha;
  return info;
}

Result<std::unique_ptr<RowSource>> OpenBmp(Bytes encoded, const DecodeOptions& options) {
  MMCPP_ASSIGN(const BmpHeader header, ReadHeader(encoded));
  if (!header.rle) return OpenRaw(encoded, header, options);
  MMCPP_ASSIGN(Image image, ReadRle(encoded, header));
  return std::unique_ptr<RowSource>(std::make_unique<WholeRows>(std::move(image)));
}

Result<Image> DecodeBmp(Bytes encoded, const DecodeOptions& options) {
  MMCPP_ASSIGN(const BmpHeader header, ReadHeader(encoded));
  if (header.rle) return ReadRle(encoded, header);
  MMCPP_ASSIGN(const auto rows, OpenRaw(encoded, header, options));
  return ReadAll(rows.get());
}

}  // namespace mmcpp::codec
