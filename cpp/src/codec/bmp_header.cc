// BMP and DIB headers.
#include "codec/bmp_header.h"

#include <algorithm>
#include <string>

#include "base/ensure.h"

namespace mmcpp::codec {
namespace {

constexpr size_t kFileHeaderBytes = 14;
enum Compression : uint32_t { kRaw = 0, kRle8 = 1, kRle4 = 2, kBitfields = 3 };

/// Little-endian numbers; the caller has checked the bounds.
uint32_t Word(const uint8_t* p) { return p[0] | uint32_t{p[1]} << 8; }
uint32_t Long(const uint8_t* p) { return Word(p) | Word(p + 2) << 16; }

struct Reader {
  Bytes file;
  size_t at = 0;

  Bytes Read(uint64_t size) {  // short at the end of the file
    const size_t available = file.size() - std::min(at, file.size());
    const size_t count = static_cast<size_t>(std::min<uint64_t>(size, available));
    at += count;
    return file.subspan(at - count, count);
  }
};

Error CutShort(size_t size) {
  return CorruptInput("bmp: ends in its header, after " + std::to_string(size) + " bytes");
}

/// What the info header says, beyond what goes into BmpHeader.
struct Info {
  uint32_t size = 0;
  uint32_t compression = kRaw;
  uint64_t colors = 0;
  std::array<uint32_t, 4> masks = {};  // red, green, blue, alpha
};

Status ReadInfo(Reader* reader, BmpHeader* header, Info* info) {
  const Bytes size = reader->Read(4);
  if (size.size() < 4) return CutShort(reader->file.size());
  info->size = Long(size.data());
  const std::array<uint32_t, 7> known = {12, 40, 52, 56, 64, 108, 124};
  if (std::find(known.begin(), known.end(), info->size) == known.end()) {
    return Unsupported("bmp: a header of " + std::to_string(info->size) + " bytes");
  }
  const Bytes data = reader->Read(info->size - 4);
  if (data.size() < info->size - 4) return CutShort(reader->file.size());
  if (info->size == 12) {  // OS/2 1.x; width first
    header->width = Word(data.data());
    header->height = Word(data.data() + 2);
    header->bits = Word(data.data() + 6);
    header->palette_stride = 3;
  } else {
    header->width = Long(data.data());  // width first
    header->height = Long(data.data() + 4);
    header->top_down = data[7] == 0xff;  // a negative height, if not a very large one
    if (header->top_down) header->height = 0u - header->height;
    header->bits = Word(data.data() + 10);
    info->compression = Long(data.data() + 12);
    info->colors = Long(data.data() + 28);
    if (info->compression == kBitfields) {
      // Masks are part of larger headers, and follow the one of 40 bytes without alpha.
      const bool inside = info->size >= 52;
      const size_t count = info->size >= 56 ? 4 : 3;
      const Bytes masks = inside ? data.subspan(36, count * 4) : reader->Read(12);
      if (masks.size() < 12) return CutShort(reader->file.size());
      for (size_t i = 0; i < masks.size() / 4; ++i) info->masks[i] = Long(masks.data() + 4 * i);
    }
  }
  if (info->colors == 0 && header->bits < 32) info->colors = uint64_t{1} << header->bits;
  return Ok{};
}

Status SetChannels(BmpHeader* header, std::array<uint8_t, 3> rgb, int alpha) {
  header->pixel = BmpPixel::kChannels;
  std::copy(rgb.begin(), rgb.end(), header->channels.begin());
  header->has_alpha = alpha >= 0;
  header->channels[3] = static_cast<uint8_t>(std::max(alpha, 0));
  return Ok{};
}

/// The layouts of bit masks that Pillow knows.
Status SetMasked(const Info& info, BmpHeader* header) {
  const auto is = [&](uint32_t red, uint32_t green, uint32_t blue) {
    return info.masks[0] == red && info.masks[1] == green && info.masks[2] == blue;
  };
  const uint32_t alpha = info.masks[3];
  if (header->bits == 16 && is(0xf800, 0x7e0, 0x1f)) {
    header->pixel = BmpPixel::kRgb565;
    return Ok{};
  }
  if (header->bits == 16 && is(0x7c00, 0x3e0, 0x1f)) {
    header->pixel = BmpPixel::kRgb555;
    return Ok{};
  }
  if (header->bits == 24 && is(0xff0000, 0xff00, 0xff)) return SetChannels(header, {2, 1, 0}, -1);
  if (header->bits == 32) {
    if (is(0xff0000, 0xff00, 0xff)) {
      if (alpha == 0) return SetChannels(header, {2, 1, 0}, -1);
      if (alpha == 0xff000000) return SetChannels(header, {2, 1, 0}, 3);
    }
    if (is(0xff000000, 0xff0000, 0xff00)) {
      if (alpha == 0) return SetChannels(header, {3, 2, 1}, -1);
      if (alpha == 0xff) return SetChannels(header, {3, 2, 1}, 0);
    }
    if (is(0xff000000, 0xff00, 0xff)) {
      if (alpha == 0) return SetChannels(header, {3, 1, 0}, -1);
      if (alpha == 0xff0000) return SetChannels(header, {3, 1, 0}, 2);
    }
    if (is(0xff, 0xff00, 0xff0000) && alpha == 0xff000000) {
      return SetChannels(header, {0, 1, 2}, 3);
    }
    if (is(0, 0, 0) && alpha == 0) return SetChannels(header, {2, 1, 0}, 3);
  }
  return Unsupported("bmp: bit masks of an unknown layout, " + std::to_string(header->bits) +
                     " bits per pixel");
}

Status SetLayout(const Info& info, BmpHeader* header) {
  header->stored_bits = header->bits;
  switch (header->bits) {
    case 1:
    case 4:
    case 8:
      header->pixel = BmpPixel::kIndexed;
      break;
    case 16:
      header->pixel = BmpPixel::kRgb555;
      break;
    case 24:
    case 32:
      MMCPP_TRY(SetChannels(header, {2, 1, 0}, -1));
      break;
    default:
      return Unsupported("bmp: " + std::to_string(header->bits) + " bits per pixel");
  }
  switch (info.compression) {
    case kRaw:
      return Ok{};
    case kRle8:
    case kRle4:
      header->rle = true;
      header->rle4 = info.compression == kRle4;
      return Ok{};
    case kBitfields:
      return SetMasked(info, header);
    default:
      return Unsupported("bmp: compression " + std::to_string(info.compression));
  }
}

/// Reads the palette. One that only counts up through the grays makes the picture gray, and then
/// its pixels are taken for bits or bytes whatever the header says.
Status ReadPalette(Reader* reader, const Info& info, BmpHeader* header) {
  if (info.colors == 0 || info.colors > 65536) {
    return CorruptInput("bmp: a palette of " + std::to_string(info.colors) + " colours");
  }
  const size_t stride = header->palette_stride;
  header->palette = reader->Read(stride * info.colors);
  for (size_t i = 0; i < info.colors; ++i) {
    const uint8_t gray = static_cast<uint8_t>(info.colors == 2 ? i * 255 : i);
    for (size_t c = 0; c < 3; ++c) {
      const size_t at = i * stride + c;
      if (at >= header->palette.size() || header->palette[at] != gray) return Ok{};
    }
  }
  header->pixel = info.colors <= 2 ? BmpPixel::kGray1 : BmpPixel::kGray8;
  header->stored_bits = info.colors <= 2 ? 1 : 8;
  return Ok{};
}

}  // namespace

const char* BmpHeader::mode() const {
  switch (pixel) {
    case BmpPixel::kGray1:
      return "1";
    case BmpPixel::kGray8:
      return "L";
    case BmpPixel::kIndexed:
      return "P";
    default:
      return has_alpha ? "RGBA" : "RGB";
  }
}

Result<BmpHeader> ReadBmpHeader(Bytes file) {
  BmpHeader header;
  Info info;
  Reader reader{file};
  uint64_t offset = 0;
  if (file.size() >= 2 && file[0] == 'B' && file[1] == 'M') {
    const Bytes start = reader.Read(kFileHeaderBytes);
    if (start.size() < kFileHeaderBytes) return CutShort(file.size());
    offset = Long(start.data() + 10);
  }
  MMCPP_TRY(ReadInfo(&reader, &header, &info));
  // Some writers give the offset of the palette instead.
  if (offset == kFileHeaderBytes + info.size && header.bits <= 8) {
    offset += header.palette_stride * info.colors;
  }
  MMCPP_TRY(SetLayout(info, &header));
  if (header.pixel == BmpPixel::kIndexed) MMCPP_TRY(ReadPalette(&reader, info, &header));
  header.data = offset != 0 ? offset : reader.at;
  header.row_bytes = (uint64_t{header.width} * header.bits + 31) / 32 * 4;
  if (header.height == 0 || header.width == 0) {
    return CorruptInput("bmp: a size of " + std::to_string(header.height) + "x" +
                        std::to_string(header.width) + " pixels (height x width)");
  }
  return header;
}

}  // namespace mmcpp::codec
